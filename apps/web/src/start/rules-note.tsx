import type { AgentInfo, RuleRow } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { matchText } from '../policies/match-text.ts';
import { Link } from '../routing/link.tsx';

/** What of it no person will be asked. */
export function RulesNote({ worker }: { readonly worker: AgentInfo | undefined }): ReactNode {
  const { value } = useFetched((signal) => client.rules({ signal }), { key: 'rules' });
  if (value === undefined || worker === undefined || worker.kind === 'program') return null;
  const rules = value.rules.filter((rule) => isFor(rule, worker.name));
  return (
    <section className="start-rules">
      <h3 className="field-label">Answered by rules</h3>
      {rules.length === 0 && <p className="muted">Nothing: a person is asked everything.</p>}
      <ul>
        {rules.map((rule) => (
          <li key={rule.id}>
            <strong>{rule.decide}</strong> <code>{matchText(rule)}</code>
          </li>
        ))}
      </ul>
      <Link href="/settings">Change the rules</Link>
    </section>
  );
}

function isFor({ id, agent }: RuleRow, name: string): boolean {
  if (agent !== undefined) return [agent].flat().some((one) => one === name || one.includes('*'));
  return !/^rule:(agents|assistants)\./.test(id) || id.split('.')[1] === name;
}
