import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tools/longest-first.ts';
import { SecondTries } from './tools/second-tries.ts';

const source = ['@concerto/source'];

/** Rooms, and what puts them together within one process: nothing is left behind in it. */
const inRooms = ['{packages,apps,middleware,tools,examples}/**/*.test.{ts,tsx}', 'tests/{fuzz,simulation}/*.test.ts'];

type Project = { include: string[]; retry?: number; isolate?: boolean };

function project(name: string, test: Project) {
  // Tests with the real agent programs are `npm run test:agents`, which installs these.
  const exclude = [
    '**/node_modules/**',
    '**/dist/**',
    ...(process.env.CONCERTO_TEST_CLAUDE ? [] : ['tests/agents/**']),
  ];
  return { extends: true as const, test: { name, exclude, ...test } };
}

// Rooms are tested from source: no build has to happen before a unit test.
export default defineConfig({
  resolve: { conditions: [...source, 'module', 'node', 'import', 'default'] },
  ssr: { resolve: { conditions: [...source, 'module', 'node', 'import', 'default'], externalConditions: source } },
  test: {
    projects: [
      // Files share a process, which loads each module once.
      project('rooms', { include: inRooms, isolate: false }),
      // Several processes on a busy machine: a second try is allowed, told of, and counted (`second-tries.ts`).
      project('whole', { include: ['tests/{agents,e2e}/*.test.ts'], retry: 1 }),
    ],
    reporters: ['default', new SecondTries()],
    // Tokens and trust of tests are not those of whoever runs them.
    env: { XDG_STATE_HOME: mkdtempSync(join(tmpdir(), 'concerto-state-')) },
    unstubEnvs: true,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two more than the cores that we count on: whole stories wait for others most of the time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
});
