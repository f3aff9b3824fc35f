import type { ProgramSource } from '@concerto/protocol';
import { type ReactNode, useMemo, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { useMay } from '../people/may.ts';
import { SupervisePanel } from '../policies/supervise-panel.tsx';
import { Link } from '../routing/link.tsx';
import { useLocation } from '../routing/use-location.ts';
import { Icon } from '../shell/icon.tsx';
import { Loading } from '../shell/loading.tsx';
import { post } from '../shell/notice-board.ts';
import { usePageTitle } from '../shell/use-page-title.ts';
import { CheckedProgram } from './checked-program.ts';
import { CodeEditor } from './code-editor.tsx';
import { Complaints } from './complaints.tsx';
import { ProgramRuns } from './program-runs.tsx';
import { type Place, TestPanel } from './test-panel.tsx';
import { useRunPlaces } from './use-run-places.ts';

/** A program: its source with what the checker says, its runs, and where the one that is watched stands. */
export function ProgramPage({ name }: { readonly name: string }): ReactNode {
  const { value, error, reload } = useFetched((signal) => client.program(name, { signal }), { key: name });
  usePageTitle(name);
  if (error !== undefined && value === undefined) {
    return (
      <main className="stop-page" tabIndex={-1}>
        <h1>The program cannot be shown</h1>
        <p role="alert">{failureOf(error).text}</p>
        <Link href="/programs" className="button primary">
          All programs
        </Link>
      </main>
    );
  }
  if (value === undefined) {
    return (
      <main className="program-page" tabIndex={-1} aria-busy="true">
        <Loading />
      </main>
    );
  }
  return <Program key={value.files.map(({ version }) => version).join()} source={value} onSaved={reload} />;
}

type ProgramProps = { readonly source: ProgramSource; readonly onSaved: () => void };

function Program({ source, onSaved }: ProgramProps): ReactNode {
  const { name, files, entry, mayWrite } = source;
  const [texts, setTexts] = useState(() => new Map(files.map(({ path, text }) => [path, text])));
  const [file, setFile] = useState(entry);
  const [at, setAt] = useState<Place>();
  const mayTry = useMay('member');
  const open = (place: Place): void => {
    setFile(place.file);
    setAt({ ...place });
  };
  const checked = useMemo(() => new CheckedProgram(source, texts), [source, texts]);
  const run = useLocation().query.get('run') ?? undefined;
  const places = useRunPlaces(run);
  const changed = files.filter(({ path, text }) => texts.get(path) !== text);
  const save = async (): Promise<void> => {
    try {
      for (const { path, version } of changed) {
        await client.putProgramFile(name, { path, version, text: texts.get(path) ?? '' });
      }
      onSaved();
      post('info', 'Saved. Runs that are under way go on with the code they began with.');
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
  };
  return (
    <main className="program-page" tabIndex={-1}>
      <ProgramHead
        source={source}
        file={file}
        changed={changed.map(({ path }) => path)}
        onOpen={setFile}
        onSave={() => void save()}
      />
      <div className="program-columns">
        <section className="program-source" aria-label="Source of the program">
          <CodeEditor
            file={file}
            text={texts.get(file) ?? ''}
            checked={checked}
            isReadOnly={!mayWrite}
            here={places.filter(({ path }) => isSameFile(path, file)).map(({ line }) => line)}
            at={at}
            onText={(text) => setTexts((before) => new Map(before).set(file, text))}
            onSave={() => void save()}
          />
          <Complaints diagnostics={checked.diagnostics} texts={texts} onOpen={open} />
        </section>
        <ProgramRuns name={name} watched={run} isChanged={changed.length > 0}>
          {mayTry && <TestPanel name={name} isChanged={changed.length > 0} onOpen={open} />}
          {mayTry && [...texts.values()].some((text) => text.includes('@supervisor')) && (
            <SupervisePanel program={name} isChanged={changed.length > 0} />
          )}
        </ProgramRuns>
      </div>
    </main>
  );
}

type HeadProps = {
  readonly source: ProgramSource;
  readonly file: string;
  readonly changed: readonly string[];
  readonly onOpen: (file: string) => void;
  readonly onSave: () => void;
};

function ProgramHead({ source: { name, files, mayWrite }, file, changed, onOpen, onSave }: HeadProps): ReactNode {
  return (
    <header className="program-head">
      <h1>{name}</h1>
      <fieldset className="program-files filter" aria-label="Files">
        {files.map(({ path }) => (
          <button
            key={path}
            type="button"
            className="filter-button"
            aria-pressed={path === file}
            onClick={() => onOpen(path)}
          >
            {path}
            {changed.includes(path) && <span title="not saved"> ●</span>}
          </button>
        ))}
      </fieldset>
      {mayWrite ? (
        <button type="button" className="button small" disabled={changed.length === 0} onClick={onSave}>
          <Icon name="check" />
          Save
        </button>
      ) : (
        <span className="muted">read only</span>
      )}
    </header>
  );
}

/** A run names its files as the compiler found them, we from the manifest's folder. */
function isSameFile(path: string, file: string): boolean {
  return path === file || path.endsWith(`/${file}`);
}
