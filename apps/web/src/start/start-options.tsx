import { budgetUnits, type Offers } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { RulesNote } from './rules-note.tsx';
import { StartField, StartLines } from './start-field.tsx';
import { type Fault, nobody, type StartFields } from './start-request.ts';
import type { Target } from './targets.ts';

export type OptionProps = {
  readonly target: Target;
  readonly programs: readonly string[];
  readonly fields: StartFields;
  readonly fault: Fault | undefined;
  readonly onWrite: (name: string, value: string) => void;
};

const unitLabels = { usd: 'Dollars', tokens: 'Tokens', turns: 'Turns', minutes: 'Minutes' } as const;
/** Those stand outside, or have a field of another kind. */
const placedElsewhere: readonly string[] = ['working_dir', 'worktree', 'extra_dirs', 'env'];
const always: readonly string[] = ['title', 'supervisor', ...budgetUnits.map((unit) => `budget.${unit}`)];

/** What few starts need: folded, with what was chosen in a line, and open where something is wrong in it. */
export function StartOptions(props: OptionProps): ReactNode {
  const { target, fields, fault } = props;
  const [isOpen, setOpen] = useState(false);
  const may = target.worker?.perSession ?? [];
  const names = [...may.filter((name) => name !== 'working_dir' && name !== 'worktree'), ...always];
  const isWrong = fault?.field !== undefined && names.includes(fault.field);
  const chosen = names.flatMap((name) => summaryOf(name, fields[name]?.trim() ?? ''));
  return (
    <details className="start-options" open={isOpen || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Options {chosen.length > 0 && <span className="muted">{chosen.join(' · ')}</span>}</summary>
      {(isOpen || isWrong) && (
        <div className="start-options-body">
          <Params {...props} />
          <Supervisor {...props} />
          <BudgetFields {...props} />
          <StartField
            label="Title"
            name="title"
            maxLength={200}
            value={fields.title ?? ''}
            placeholder="The prompt's first line"
            fault={fault}
            onWrite={props.onWrite}
          />
          <RulesNote worker={target.worker} />
        </div>
      )}
    </details>
  );
}

function summaryOf(name: string, value: string): readonly string[] {
  if (value === '') return [];
  if (name === 'budget.usd') return [`$${value}`];
  if (name.startsWith('budget.')) return [`${value} ${name.slice('budget.'.length)}`];
  if (name === 'extra_dirs' || name === 'env') return [name];
  if (name === 'title') return [];
  return [value === nobody ? 'no supervisor' : value.slice(0, 24)];
}

/** What the agent's entry lets a session choose. */
function Params({ target, fields, fault, onWrite }: OptionProps): ReactNode {
  const may = target.worker?.perSession ?? [];
  const offers = target.worker?.offers;
  return (
    <>
      {may
        .filter((name) => !placedElsewhere.includes(name))
        .map((name) => (
          <StartField
            key={name}
            label={labelOf(name)}
            name={name}
            value={fields[name] ?? ''}
            placeholder={usualOf(name, offers)}
            suggestions={offeredOf(name, offers)}
            fault={fault}
            onWrite={onWrite}
          />
        ))}
      {may.includes('extra_dirs') && (
        <StartLines
          label="Further folders, a line each"
          name="extra_dirs"
          value={fields.extra_dirs ?? ''}
          placeholder="../shared"
          fault={fault}
          onWrite={onWrite}
        />
      )}
      {may.includes('env') && (
        <StartLines
          label="Variables of the server for it, a line each"
          name="env"
          value={fields.env ?? ''}
          placeholder="GITHUB_TOKEN=MY_TOKEN"
          fault={fault}
          onWrite={onWrite}
        />
      )}
    </>
  );
}

function Supervisor({ target, programs, fields, fault, onWrite }: OptionProps): ReactNode {
  const usual = target.supervisor;
  if (programs.length === 0 && usual === undefined) return null;
  const isWrong = fault?.field === 'supervisor';
  return (
    <label className="field">
      <span className="field-label">Supervisor: who answers before a person</span>
      <select value={fields.supervisor ?? ''} onChange={(event) => onWrite('supervisor', event.target.value)}>
        <option value="">{usual === undefined ? 'Nobody' : `${usual}, as configured`}</option>
        {usual !== undefined && <option value={nobody}>Nobody</option>}
        {programs
          .filter((name) => name !== usual)
          .map((name) => (
            <option key={name}>{name}</option>
          ))}
      </select>
      {isWrong && (
        <span className="field-fault" role="alert">
          {fault.text}
        </span>
      )}
    </label>
  );
}

function BudgetFields({ target, fields, fault, onWrite }: OptionProps): ReactNode {
  return (
    <fieldset className="start-budget">
      <legend className="field-label">Budget: at its end it pauses and asks</legend>
      {budgetUnits.map((unit) => (
        <StartField
          key={unit}
          label={unitLabels[unit]}
          name={`budget.${unit}`}
          inputMode="decimal"
          value={fields[`budget.${unit}`] ?? ''}
          placeholder={target.worker?.budget?.[unit]?.toLocaleString() ?? 'no end'}
          fault={fault}
          onWrite={onWrite}
        />
      ))}
    </fieldset>
  );
}

function labelOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}

function usualOf(name: string, offers: Offers | undefined): string {
  const usual: unknown = offers?.[name];
  return typeof usual === 'string' && usual !== '' ? `${usual}, last time` : 'As configured';
}

function offeredOf(name: string, offers: Offers | undefined) {
  if (name === 'model') return offers?.models ?? [];
  if (name === 'mode') return offers?.modes ?? [];
  return name === 'effort' ? (offers?.efforts ?? []) : [];
}
