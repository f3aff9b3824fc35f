import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { Loading } from '../shell/loading.tsx';
import { Doctor } from './doctor.tsx';

/** What sessions can be started with, and what each said that it can. */
export function AgentSettings({ mayChange }: { readonly mayChange: boolean }): ReactNode {
  const { value } = useFetched((signal) => client.agents({ signal }), { key: 'agents' });
  return (
    <section aria-labelledby="agents-title">
      <h2 id="agents-title">Agents, assistants, programs</h2>
      {value === undefined && <Loading />}
      <ul className="plain-list">
        {value?.agents.map(({ kind, name, protocol, command, description, capabilities }) => (
          <li key={`${kind} ${name}`}>
            <strong>{name}</strong>{' '}
            <span className="muted">
              {kind}
              {protocol !== undefined && ` · ${protocol}`}
            </span>
            {command !== undefined && (
              <>
                {' '}
                <code>{command}</code>
              </>
            )}
            {description !== undefined && <p className="muted">{description}</p>}
            <p className="muted">
              {capabilities.length > 0
                ? `Capabilities: ${capabilities.join(', ')}`
                : 'Its capabilities are known once it has run.'}
            </p>
          </li>
        ))}
      </ul>
      <p className="muted">They are declared in the server's Concerto.toml.</p>
      {mayChange && <Doctor />}
    </section>
  );
}
