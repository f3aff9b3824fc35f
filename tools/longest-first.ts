import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute or more; what begins last should not be one of them. */
const long = [
  'chaos-redis',
  'chaos-sqlite',
  'recovery',
  'web-states',
  'packages',
  'program-recovery',
  'two-runners',
  'contract-lifecycle',
];

/** Whole stories wait for other processes most of the time: they begin first, the long ones before the others, and what only computes fills the rest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const at = long.findIndex((name) => moduleId.endsWith(`/e2e/${name}.test.ts`));
  if (at >= 0) return at;
  const projects = ['whole', 'rooms'];
  return long.length + projects.indexOf(project.name);
}
