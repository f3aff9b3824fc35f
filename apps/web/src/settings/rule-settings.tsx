import type { RuleList, RuleRow, RulesTried, StoredRule } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { matchText } from './match-text.ts';
import { useChange } from './use-change.ts';

/** What is answered without a person: the rules of the manifest, and those that people let it remember. */
export function RuleSettings({ mayChange }: { readonly mayChange: boolean }): ReactNode {
  const { value, reload } = useFetched((signal) => client.rules({ signal }), { key: 'rules' });
  const { isBusy, change } = useChange(reload);
  if (value === undefined) return null;
  const revoke = ({ id }: RuleRow): void => {
    const rules = storedOf(value).filter((rule) => `rule:store.${rule.id}` !== id);
    void change(() => client.putRules({ rules, version: value.version }), 'The rule is gone: a person is asked again.');
  };
  return (
    <section aria-labelledby="rules-title">
      <h2 id="rules-title">Rules</h2>
      {value.rules.length === 0 && (
        <p className="muted">
          None: a person is asked everything. “Always” on an approval adds one, so does [[rules]].
        </p>
      )}
      <ol className="plain-list">
        {value.rules.map((rule) => (
          <li key={rule.id} className="rule-row">
            <div>
              <strong>{rule.decide}</strong> <code>{matchText(rule)}</code>
              {rule.reason !== undefined && <p className="muted">{rule.reason}</p>}
              {rule.warning !== undefined && <p className="inline-problem">{rule.warning}</p>}
              <p className="muted">
                {rule.id}
                {rule.addedBy !== undefined && ` · by ${rule.addedBy}`}
                {rule.from !== undefined && (
                  <>
                    {' · '}
                    <Link href={sessionPath(rule.from.session)}>where it was allowed</Link>
                  </>
                )}
              </p>
            </div>
            {mayChange && rule.source === 'store' && (
              <button type="button" className="button small" disabled={isBusy} onClick={() => revoke(rule)}>
                Revoke
              </button>
            )}
          </li>
        ))}
      </ol>
      <TryRules />
    </section>
  );
}

/** The rules of the store as they are put back; what the list adds to them stays here. */
function storedOf({ rules }: RuleList): readonly (StoredRule & { readonly id: string })[] {
  return rules
    .filter(({ source }) => source === 'store')
    .map(({ source: _source, warning: _warning, ...rule }) => ({ ...rule, id: rule.id.replace(/^rule:store\./, '') }));
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
