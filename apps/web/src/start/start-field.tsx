import { type InputHTMLAttributes, type ReactNode, useId } from 'react';
import type { Fault } from './start-request.ts';

type Common = {
  readonly label: string;
  readonly name: string;
  readonly fault: Fault | undefined;
};

type Props = Common &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'name' | 'onChange'> & {
    readonly suggestions?: readonly { readonly id: string; readonly name?: string | undefined }[];
    readonly onWrite: (name: string, value: string) => void;
  };

/** A line to fill in, with what may stand there and what is wrong with it. */
export function StartField({ label, name, fault, suggestions = [], onWrite, ...rest }: Props): ReactNode {
  const id = useId();
  const isWrong = fault?.field === name;
  return (
    <label className="field">
      <span className="field-label">{label}</span>
      <input
        {...rest}
        autoComplete="off"
        spellCheck={false}
        {...(suggestions.length === 0 ? {} : { list: `${id}-list` })}
        {...(isWrong ? { 'aria-invalid': true, 'aria-describedby': `${id}-fault` } : {})}
        onChange={(event) => onWrite(name, event.target.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </datalist>
      )}
      {isWrong && <FaultText id={`${id}-fault`} fault={fault} />}
    </label>
  );
}

export function FaultText({ id, fault }: { readonly id: string; readonly fault: Fault }): ReactNode {
  return (
    <span id={id} className="field-fault" role="alert">
      {fault.text}
    </span>
  );
}

type LinesProps = Common & {
  readonly value: string;
  readonly placeholder: string;
  readonly onWrite: (name: string, value: string) => void;
};

/** Several lines, one thing each. */
export function StartLines({ label, name, fault, value, placeholder, onWrite }: LinesProps): ReactNode {
  const id = useId();
  const isWrong = fault?.field === name;
  return (
    <label className="field">
      <span className="field-label">{label}</span>
      <textarea
        rows={2}
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        {...(isWrong ? { 'aria-invalid': true, 'aria-describedby': id } : {})}
        onChange={(event) => onWrite(name, event.target.value)}
      />
      {isWrong && <FaultText id={id} fault={fault} />}
    </label>
  );
}
