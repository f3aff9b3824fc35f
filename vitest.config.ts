import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const source = ['@concerto/source'];

// Rooms are tested from source: no build has to happen before a unit test.
export default defineConfig({
  resolve: { conditions: [...source, 'module', 'node', 'import', 'default'] },
  ssr: { resolve: { conditions: [...source, 'module', 'node', 'import', 'default'], externalConditions: source } },
  test: {
    include: ['{packages,apps,middleware,tools,examples}/**/*.test.{ts,tsx}', 'tests/**/*.test.ts'],
    // Tests with the real agent programs are `npm run test:agents`, which installs these.
    exclude: ['**/node_modules/**', '**/dist/**', ...(process.env.CONCERTO_TEST_CLAUDE ? [] : ['tests/agents/**'])],
    // Tokens and trust of tests are not those of whoever runs them.
    env: { XDG_STATE_HOME: mkdtempSync(join(tmpdir(), 'concerto-state-')) },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
