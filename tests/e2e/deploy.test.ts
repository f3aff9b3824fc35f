import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { parseArguments } from '../../apps/cli/src/arguments.ts';
import { spec as runnerSpec } from '../../apps/cli/src/serve/runner-command.ts';
import { spec as serveSpec } from '../../apps/cli/src/serve/serve-command.ts';
import { root } from '../support/built-concerto.ts';

// No container engine runs in the tests; that the image builds and serves is a job of the workflow.

const text = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Throws on a flag that the command does not have. */
function checkCommand([verb, ...argv]: readonly string[]): void {
  if (verb === 'serve') parseArguments(serveSpec, [...argv]);
  else if (verb === 'runner') parseArguments(runnerSpec, [...argv]);
  else throw new Error(`there is no concerto ${verb}`);
}

const words = z.array(z.string());
const Compose = z.looseObject({
  services: z.record(z.string(), z.looseObject({ command: words, healthcheck: z.looseObject({}).optional() })),
});
const Workflow = z.looseObject({
  jobs: z.record(z.string(), z.looseObject({ steps: z.array(z.looseObject({ run: z.string().optional() })) })),
});

test('19.2 the image starts a command that there is, as a user without rights, and says how it is', () => {
  const lines = text('deploy/Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const command = lines.findLast((line) => line.startsWith('CMD '))?.slice('CMD '.length) ?? '';
  expect(() => checkCommand(words.parse(JSON.parse(command)))).not.toThrow();
  expect(lines.filter((line) => /^(USER concerto|HEALTHCHECK .*readyz)/.test(line))).toHaveLength(2);
});

test('19.2 compose has a server, runners and a Redis that keeps what it acknowledged', () => {
  const { services } = Compose.parse(parse(text('deploy/compose.yaml'), { merge: true }));
  for (const name of ['server', 'runner']) expect(() => checkCommand(services[name]?.command ?? [])).not.toThrow();
  expect(services.redis?.command.join(' ')).toContain('--appendonly yes --appendfsync always');
  expect(services.redis?.healthcheck).toBeDefined();
});

test('19.2 the unit starts a command that there is, and a restart leaves agents to their keeper', () => {
  const unit = text('deploy/concerto.service');
  const started = /^ExecStart=\/usr\/bin\/env concerto (.*)$/m.exec(unit)?.[1] ?? '';
  expect(() => checkCommand(started.split(' '))).not.toThrow();
  expect(unit).toMatch(/^KillMode=process$/m);
});

test('19.2 workflows run scripts that there are, the tests on each Node that we name', () => {
  const scripts = z.record(z.string(), z.string()).parse(JSON.parse(text('package.json')).scripts);
  const { jobs } = Workflow.parse(parse(text('.github/workflows/test.yml')));
  const steps = Object.values(jobs).flatMap((job) => job.steps.flatMap(({ run }) => run ?? []));
  const named = steps.flatMap((step) => [...step.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name));
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  expect(steps).toContain('.ci/run');
  expect(jobs.test).toMatchObject({ strategy: { matrix: { node: ['20.19', '22', '24'] } } });
});
