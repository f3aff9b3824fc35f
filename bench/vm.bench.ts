import { buildProgram } from '@concerto/language';
import { createVm, run as runVm, snapshot } from '@concerto/vm';
import { compare, type Row } from './row.ts';
import { walk } from './tree-walker.ts';
import { pushes, WORKLOADS } from './vm-workloads.ts';

export const name = 'VM: milliseconds for a program, against the same in plain JavaScript and a tree walker';

/** Short work is repeated until it can be measured. */
const LEAST_MS = 20;

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name: work, target, program, javascript, tree } of WORKLOADS) {
    const execute = compiled(program);
    const ours = (): number => milliseconds(execute);
    expectSame(work, execute(), javascript());
    const row = { name: work, unit: 'ms', target: `<= ${target}` };
    rows.push(await compare(row, { ours, reference: () => milliseconds(javascript) }));
    if (tree === undefined) continue;
    expectSame(work, execute(), walk(tree));
    const walked = { name: `${work}, against a tree walker`, unit: 'ms', target: '<= 1' };
    rows.push(await compare(walked, { ours, reference: () => milliseconds(() => walk(tree)) }));
  }
  rows.push(await growth());
  return rows;
}

/** Four times the pushes, four times the time: copy-on-write must not copy. */
async function growth(): Promise<Row> {
  const [large, small] = [compiled(pushes(800_000)), compiled(pushes(200_000))];
  const row = { name: 'push in a loop, 800k against 200k, each', unit: 'ns', target: '<= 1.5' };
  return compare(row, {
    ours: () => (milliseconds(large) / 800_000) * 1e6,
    reference: () => (milliseconds(small) / 200_000) * 1e6,
  });
}

function compiled(program: string): () => unknown {
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => program });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return () => {
    const vm = createVm(module, { entry: 'main' });
    for (;;) {
      const result = runVm(vm);
      if (result.status === 'done') return result.value;
      if (result.status !== 'running')
        throw new Error(`the program is ${result.status}: ${JSON.stringify(snapshot(vm)).slice(0, 200)}`);
    }
  };
}

/** By processor time: others who use the machine at the same time should not count. */
function milliseconds(work: () => unknown): number {
  const start = process.cpuUsage();
  let times = 0;
  for (;;) {
    work();
    times++;
    const { user, system } = process.cpuUsage(start);
    const spent = (user + system) / 1000;
    if (spent >= LEAST_MS) return spent / times;
  }
}

function expectSame(work: string, ours: unknown, theirs: unknown): void {
  if (ours !== theirs) throw new Error(`${work}: ${String(ours)} is not ${String(theirs)}`);
}
