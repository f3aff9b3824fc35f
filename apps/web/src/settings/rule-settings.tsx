import type { RulesTried } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { RuleEditor } from '../policies/rule-editor.tsx';
import { RuleWords } from '../policies/rule-words.tsx';

/** What is answered without a person: the rules of the manifest, and those that are kept here. */
export function RuleSettings({ mayChange }: { readonly mayChange: boolean }): ReactNode {
  const { value, reload } = useFetched((signal) => client.rules({ signal }), { key: 'rules' });
  if (value === undefined) return null;
  const shown = mayChange ? value.rules.filter(({ source }) => source === 'manifest') : value.rules;
  return (
    <section aria-labelledby="rules-title">
      <h2 id="rules-title">Rules</h2>
      {value.rules.length === 0 && (
        <p className="muted">
          None: a person is asked everything. “Always” on an approval adds one, so does [[rules]] in the manifest.
        </p>
      )}
      <ol className="plain-list">
        {shown.map((rule) => (
          <li key={rule.id} className="rule-row">
            <RuleWords rule={rule} />
          </li>
        ))}
      </ol>
      {mayChange && (
        <>
          <h3>Added here</h3>
          <RuleEditor key={value.version} list={value} onPut={reload} />
        </>
      )}
      <h3>Which rule would decide?</h3>
      <TryRules />
    </section>
  );
}

function TryRules(): ReactNode {
  const [agent, setAgent] = useState('');
  const [tool, setTool] = useState('Bash');
  const [command, setCommand] = useState('');
  const [outcome, setOutcome] = useState<RulesTried | string>();
  const ask = async (): Promise<void> => {
    try {
      const request = { type: 'approval', tool, ...(command === '' ? {} : { command }) };
      setOutcome(await client.tryRules({ agent, request }));
    } catch (cause) {
      setOutcome(failureOf(cause).text);
    }
  };
  return (
    <form
      className="inline-form"
      aria-label="Try the rules"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <label className="field">
        <span className="field-label">Agent</span>
        <input value={agent} required onChange={(event) => setAgent(event.target.value)} />
      </label>
      <label className="field">
        <span className="field-label">Tool</span>
        <input value={tool} required onChange={(event) => setTool(event.target.value)} />
      </label>
      <label className="field wide-field">
        <span className="field-label">Command</span>
        <input value={command} onChange={(event) => setCommand(event.target.value)} />
      </label>
      <button type="submit" className="button">
        Try
      </button>
      {outcome !== undefined && <output className="tried">{outcomeText(outcome)}</output>}
    </form>
  );
}

function outcomeText(outcome: RulesTried | string): string {
  if (typeof outcome === 'string') return outcome;
  const { decision, rule, reason, risk } = outcome;
  const by = rule === undefined ? 'no rule decides, a person is asked' : `${decision} by ${rule}`;
  return `${by}; its risk is ${risk}${reason === undefined ? '' : `: ${reason}`}`;
}
