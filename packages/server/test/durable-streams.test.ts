import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const config = join(import.meta.dirname, 'durable-streams/suite.config.ts');

/** Of their suite what is about reading. The rest is about writing, which a session's log does itself. */
const reading = [
  'Read Operations',
  'Long-Poll',
  'Offset Validation and',
  'HEAD Metadata',
  'Caching and ETag',
  'SSE Mode',
  'HEAD with Stream Closure',
  'Read Closed Streams',
  'Long-poll with Stream Closure',
  'SSE with Stream Closure',
  'Read-Your-Writes',
  'Chunking',
];

/** And why these do not apply. */
const others = {
  'HEAD Metadata Edge Cases should return TTL metadata if configured': 'a session has no time to live',
  'Caching and ETag should allow If-None-Match in CORS preflight responses':
    'only origins that the manifest lists may call; for those the header is allowed',
};

type Report = {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

test('the reading part of the conformance suite of Durable Streams', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-streams-'));
  const file = join(folder, 'report.json');
  try {
    const args = ['run', '--config', config, '-t', reading.join('|'), '--reporter=json', `--outputFile=${file}`];
    const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], { stdio: 'ignore' });
    await new Promise((resolve) => child.once('exit', resolve));
    const { testResults }: Report = JSON.parse(await readFile(file, 'utf8'));
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = results.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    expect(failed.toSorted()).toEqual(Object.keys(others).toSorted());
    expect(results.filter(({ status }) => status === 'passed').length).toBeGreaterThanOrEqual(85);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
