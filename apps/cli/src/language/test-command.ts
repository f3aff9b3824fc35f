import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { IrTest } from '@concerto/ir';
import { runTest, type TestResult } from '@concerto/runtime/program';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import type { TestAgents } from '../run/open-test-agents.ts';
import { tell } from '../terminal/print.ts';
import { type CompiledTarget, compileTarget, compileWithServers } from './compile-target.ts';
import { findSources } from './find-sources.ts';
import { checkTarget, findManifest, resolveTarget } from './project.ts';
import { TestReport } from './test-report.ts';
import { EXIT_INTERRUPTED, untilInterrupted } from './until-interrupted.ts';

export const spec = defineCommand({
  name: 'test',
  summary: 'Run the functions with @test.',
  usage: '[PATH...]',
  options: {
    filter: { type: 'string', short: 'f', value: 'TEXT', help: 'only tests whose description contains TEXT' },
    json: { type: 'boolean', help: 'one JSON object a line for each test, and one for the sum' },
    mcp: {
      type: 'boolean',
      help: 'first ask the MCP servers it declares which tools they have, and check against them',
    },
    mock: { type: 'boolean', help: 'models that a test does not mock answer with the offline mock' },
    debug: { type: 'boolean', help: 'show what tests emit and print' },
  },
  details: 'A PATH is a program or a directory; without one it is the project here. Exit code 1 when a test fails.',
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const report = new TestReport({ json: values.json });
  const interruption = untilInterrupted();
  try {
    for (const path of testPaths(positionals)) {
      const target = await (values.mcp ? compileWithServers : compileTarget)(path);
      if (target === undefined) {
        report.addBroken(path);
        continue;
      }
      const chosen = chooseTests(target, values.filter, report);
      report.begin(target.entry, chosen.length);
      for (const index of chosen) {
        const result = await runOne(target, index, { ...values, signal: interruption.signal });
        if (interruption.signal.aborted) return EXIT_INTERRUPTED;
        report.add(result, target);
      }
    }
  } finally {
    interruption.release();
  }
  report.end(values.filter);
  return report.broken > 0 || report.failed > 0 ? 1 : 0;
}

interface TestFlags {
  readonly mock: boolean;
  readonly debug: boolean;
  readonly signal: AbortSignal;
}

async function runOne(target: CompiledTarget, index: number, { mock, debug, signal }: TestFlags): Promise<TestResult> {
  let agents: Promise<TestAgents> | undefined;
  try {
    return await runTest(target.module, index, {
      environment: process.env,
      directory: process.cwd(),
      projectDirectory: target.projectDirectory,
      mockModels: mock,
      signal,
      // Most tests start none; to load what drives one takes longer than they run.
      startAgent: async (agent, options) => {
        agents ??= openAgents(target, { mock, debug });
        return await (await agents).start(agent, options);
      },
      ...(debug ? { show: tell } : {}),
    });
  } finally {
    await (await agents?.catch(() => undefined))?.close();
  }
}

async function openAgents(target: CompiledTarget, { mock, debug }: Omit<TestFlags, 'signal'>): Promise<TestAgents> {
  const { openTestAgents } = await import('../run/open-test-agents.ts');
  const log = (level: string, text: string): void => (debug ? tell(`[${level.toUpperCase()}] ${text}\n`) : undefined);
  return await openTestAgents(target, { mock, log });
}

/** Modules that two programs share are tested once. */
function chooseTests(target: CompiledTarget, filter: string | undefined, report: TestReport): number[] {
  const { tests, files } = target.module;
  const onLine = new Map<string, number>();
  return tests.flatMap((test: IrTest, index) => {
    if (filter !== undefined && !test.description.includes(filter)) return [];
    const line = `${test.file === undefined ? target.entry : files[test.file]}:${test.line ?? index}`;
    const before = onLine.get(line) ?? 0;
    onLine.set(line, before + 1);
    return report.isNew(`${line}:${before}`) ? [index] : [];
  });
}

/** A directory stands for the project in it, and for every other program below it. */
function testPaths(given: readonly string[]): string[] {
  const paths: string[] = [];
  for (const path of given.length === 0 ? ['.'] : given) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw new UsageError(`no such file or directory: ${path}`);
    if (!stat.isDirectory()) {
      paths.push(path);
      continue;
    }
    const manifest = findManifest(resolve(path));
    const entry = manifest?.directory === resolve(path) ? resolveTarget(path).entry : undefined;
    const sources = findSources([path]).filter((source) => source !== entry);
    paths.push(...(entry === undefined || entry === '' ? [] : [entry]), ...withoutModules(sources, entry));
  }
  return [...new Set(paths)];
}

/** A file in the directory of a module is reached through it. */
function withoutModules(sources: readonly string[], entry: string | undefined): string[] {
  if (entry === undefined) return [...sources];
  const reached = reachedFiles(entry);
  return sources.filter((source) => !reached.has(source));
}

function reachedFiles(entry: string): Set<string> {
  return new Set(checkTarget(resolveTarget(entry)).program.files.keys());
}
