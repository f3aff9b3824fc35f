import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = ['@concerto/source', 'module', 'node', 'import', 'default'];

// biome-ignore lint/style/noDefaultExport: what vitest reads
export default defineConfig({
  root: dirname(fileURLToPath(import.meta.url)),
  resolve: { conditions: source },
  ssr: { resolve: { conditions: source, externalConditions: ['@concerto/source'] } },
  test: { include: ['suite.ts'], testTimeout: 40_000 },
});
