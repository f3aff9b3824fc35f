import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const bytesMax = 30_000;

/** As a page would take it: bundled, minified, gzipped. */
async function bundledBytes(contents: string): Promise<number> {
  const bundle = await build({
    stdin: { contents, resolveDir: here },
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['@concerto/source'],
    write: false,
  });
  return gzipSync(bundle.outputFiles[0]?.contents ?? '').length;
}

test('19.1 all of the client takes at most 30 kB of a page', async () => {
  const bytes = await bundledBytes("export * from '@concerto/client'");
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(bytesMax);
});

test('and says in English what is wrong with an answer', async () => {
  const { concertoClient } = await import('@concerto/client');
  const client = concertoClient({
    url: 'http://127.0.0.1:1',
    fetch: async () => Response.json({ active: 'two', max: 3, waiting: 0 }),
  });
  await expect(client.pool()).rejects.toThrow('expected number, received string');
});
