import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { Link } from '../routing/link.tsx';
import { programPath } from '../routing/route.ts';
import { Loading } from '../shell/loading.tsx';
import { usePageTitle } from '../shell/use-page-title.ts';

/** The programs that this server offers. */
export function ProgramListPage(): ReactNode {
  const { value, error } = useFetched((signal) => client.programs({ signal }), { key: 'programs' });
  usePageTitle('Programs');
  return (
    <main className="plain-page" tabIndex={-1}>
      <h1>Programs</h1>
      {error !== undefined && <p className="inline-problem">{failureOf(error).text}</p>}
      {value === undefined && error === undefined && <Loading />}
      {value?.programs.length === 0 && (
        <p className="empty">
          This server offers no program. <code>[programs.NAME] entry = "src/main.conc"</code> in its Concerto.toml adds
          one; <code>concerto new</code> makes a whole project.
        </p>
      )}
      <ul className="plain-list">
        {value?.programs.map(({ name, entry, description }) => (
          <li key={name}>
            <Link href={programPath(name)} className="plain-link">
              {name}
            </Link>
            <code>{entry}</code>
            {description !== undefined && <p className="muted">{description}</p>}
          </li>
        ))}
      </ul>
    </main>
  );
}
