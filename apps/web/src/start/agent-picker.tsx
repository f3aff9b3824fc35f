import type { ReactNode } from 'react';
import type { Target } from './targets.ts';

type Props = {
  readonly targets: readonly Target[];
  readonly value: string;
  readonly onChange: (key: string) => void;
};

/** Whom to start a session with. */
export function AgentPicker({ targets, value, onChange }: Props): ReactNode {
  return (
    <fieldset className="agent-picker">
      <legend>Agent</legend>
      <div className="agent-options">
        {targets.map(({ key, name, kind, description }) => (
          <label key={key} className="agent-option">
            <input type="radio" name="agent" value={key} checked={key === value} onChange={() => onChange(key)} />
            <span className="agent-option-name">
              {name}
              {kind !== 'agent' && <span className="muted"> {kind}</span>}
            </span>
            {description !== undefined && <span className="agent-option-text">{description}</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
