import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute or more, and those of rooms that take a third of one, however short they are; what begins last should not be one of them. */
const long = [
  'e2e/chaos-redis',
  'e2e/chaos-sqlite',
  'e2e/outlive-server',
  'e2e/recovery',
  'e2e/web-states',
  'e2e/packages',
  'e2e/contract-cli',
  'e2e/program-recovery',
  'e2e/two-runners',
  'e2e/contract-lifecycle',
  'runtime/test/program-rest',
  'cli/test/doctor-agents',
  'runtime/test/hosted-programs',
  'runtime/test/program-journal',
  'runtime/test/session-faults',
  'simulation/simulation',
  'simulation/program-crashes',
  'agents/test/tool-rules',
  'models/test/mcp',
  'server/test/durable-streams',
];

/** Whole stories wait for other processes most of the time: they begin first, the long ones before the others, and what only computes fills the rest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const at = long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return (project.name === 'whole' ? 0 : long.length + 1) + (at < 0 ? long.length : at);
}
