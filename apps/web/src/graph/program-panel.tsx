import type { Graph } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { ConfirmButton } from '../keeping/confirm-button.tsx';
import { programPath } from '../routing/route.ts';
import { navigate } from '../routing/use-location.ts';
import { CodeBlock } from '../text/code-block.tsx';
import { graphProgram } from './graph-program.ts';

/** The graph as a program, and the way to run it: as one of the programs that the server offers. */
export function ProgramPanel({ graph }: { readonly graph: Graph }): ReactNode {
  const { value } = useFetched((signal) => client.programs({ signal }), { key: 'programs' });
  const [picked, setPicked] = useState<string>();
  const [task, setTask] = useState('');
  const [problem, setProblem] = useState<string>();
  const programs = value?.programs ?? [];
  const program = programs.find(({ name }) => name === picked) ?? programs[0];
  const code = graphProgram(graph);
  const run = async (name: string): Promise<void> => {
    setProblem(undefined);
    try {
      const { files, entry } = await client.program(name);
      const version = files.find(({ path }) => path === entry)?.version ?? '';
      await client.putProgramFile(name, { path: entry, version, text: code });
      const { id } = await client.start({ program: name, ...(task.trim() === '' ? {} : { prompt: task.trim() }) });
      navigate(`${programPath(name)}?run=${encodeURIComponent(id)}`);
    } catch (cause) {
      setProblem(failureOf(cause).text);
    }
  };
  return (
    <section className="graph-fields" aria-label="Program">
      <CodeBlock code={code} language="concerto" />
      {program === undefined ? (
        <p className="muted">
          To run it here, <code>[programs.NAME] entry = "graph.conc"</code> in Concerto.toml names a program for it.
        </p>
      ) : (
        <>
          <label className="field">
            <span className="field-label">Run it as</span>
            <select value={program.name} onChange={(event) => setPicked(event.target.value)}>
              {programs.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label className="field">
            <span className="field-label">Task</span>
            <input value={task} onChange={(event) => setTask(event.target.value)} />
          </label>
          <ConfirmButton
            label="Save and run"
            question={`Replace ${program.entry}?`}
            title={`Writes ${program.entry}, and starts the program`}
            onMeant={() => void run(program.name)}
          />
        </>
      )}
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
