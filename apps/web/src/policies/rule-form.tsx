import type { StoredRule } from '@concerto/protocol';
import { type ReactNode, useId, useState } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { emptyFields, fieldsOf, type PatternName, type RuleFields, ruleOf } from './rule-draft.ts';

type Props = {
  /** Undefined: a new one. */
  readonly rule: StoredRule | undefined;
  readonly onDone: (rule: StoredRule) => void;
  readonly onLeave: () => void;
};

type Write = (part: Partial<RuleFields>) => void;

const risks = ['low', 'medium', 'high'] as const;

/** One rule: what it is about, and what is answered then. */
export function RuleForm({ rule, onDone, onLeave }: Props): ReactNode {
  const [fields, setFields] = useState(rule === undefined ? emptyFields : fieldsOf(rule));
  const write: Write = (part) => setFields((now) => ({ ...now, ...part }));
  return (
    <form
      className="rule-form"
      aria-label={rule === undefined ? 'New rule' : 'Rule'}
      onSubmit={(event) => {
        event.preventDefault();
        onDone(ruleOf(fields, rule));
      }}
    >
      <Whose fields={fields} onWrite={write} />
      <Patterns name="tool" label="Tool" hint="Bash" fields={fields} onWrite={write} />
      <Patterns name="command" label="Command" hint="npm test *" fields={fields} onWrite={write} />
      <Patterns name="path" label="Path" hint="docs/**" fields={fields} onWrite={write} />
      <Decision fields={fields} onWrite={write} />
      <details className="rule-more">
        <summary>More</summary>
        <fieldset>
          <legend className="field-label">Risk</legend>
          {risks.map((level) => (
            <label key={level} className="check">
              <input
                type="checkbox"
                checked={fields.risk.includes(level)}
                onChange={({ target }) =>
                  write({
                    risk: target.checked ? [...fields.risk, level] : fields.risk.filter((one) => one !== level),
                  })
                }
              />
              {level}
            </label>
          ))}
        </fieldset>
        <Patterns name="kind" label="Kind" hint="edit" fields={fields} onWrite={write} />
        <Patterns name="server" label="MCP server" hint="github" fields={fields} onWrite={write} />
        <Patterns name="text" label="Words of the question" hint="*migration*" fields={fields} onWrite={write} />
        <Patterns name="template" label="Template" hint="review" fields={fields} onWrite={write} />
      </details>
      <div className="rule-form-end">
        <button type="submit" className="button primary small">
          {rule === undefined ? 'Add to the draft' : 'Change in the draft'}
        </button>
        <button type="button" className="button small" onClick={onLeave}>
          Leave it
        </button>
      </div>
    </form>
  );
}

type FieldProps = { readonly fields: RuleFields; readonly onWrite: Write };

function Whose({ fields, onWrite }: FieldProps): ReactNode {
  const { value } = useFetched((signal) => client.agents({ signal }), { key: 'agents' });
  const names = (value?.agents ?? []).flatMap(({ kind, name }) => (kind === 'program' ? [] : [name]));
  const isOther = fields.agent !== '' && !names.includes(fields.agent);
  return (
    <label className="field">
      <span className="field-label">For</span>
      <select value={fields.agent} onChange={(event) => onWrite({ agent: event.target.value })}>
        <option value="">every agent</option>
        {isOther && <option value={fields.agent}>{fields.agent.replaceAll('\n', ' or ')}</option>}
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

type PatternProps = FieldProps & { readonly name: PatternName; readonly label: string; readonly hint: string };

function Patterns({ name, label, hint, fields, onWrite }: PatternProps): ReactNode {
  const text = fields[name];
  return (
    <label className="field">
      <span className="field-label">
        {label} <span className="muted">one a line, any if empty</span>
      </span>
      <textarea
        rows={Math.max(1, text.split('\n').length)}
        value={text}
        placeholder={hint}
        spellCheck={false}
        onChange={(event) => onWrite({ [name]: event.target.value })}
      />
    </label>
  );
}

function Decision({ fields, onWrite }: FieldProps): ReactNode {
  const reason = useId();
  const { decide, value } = fields;
  return (
    <>
      <fieldset className="rule-decision">
        <legend className="field-label">Then</legend>
        <select
          aria-label="What is answered"
          value={decide}
          onChange={(event) =>
            onWrite({ decide: decisions.find(([name]) => name === event.target.value)?.[0] ?? 'ask' })
          }
        >
          {decisions.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
        {(decide === 'model' || decide === 'answer') && (
          <input
            aria-label={decide === 'model' ? 'Assistant' : 'Answer'}
            required
            value={value}
            onChange={(event) => onWrite({ value: event.target.value })}
          />
        )}
      </fieldset>
      <div className="field">
        <label className="field-label" htmlFor={reason}>
          Reason, which the agent is told
        </label>
        <input id={reason} value={fields.reason} onChange={(event) => onWrite({ reason: event.target.value })} />
      </div>
    </>
  );
}

const decisions = [
  ['allow', 'allow it'],
  ['deny', 'deny it'],
  ['ask', 'ask a person'],
  ['model', 'ask the model of an assistant'],
  ['answer', 'answer so'],
] as const;
