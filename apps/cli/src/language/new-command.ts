import { existsSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { MANIFEST_NAME } from '@concerto/language';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { makeFolder } from '../make-folder.ts';
import { noteFacts } from '../state/project-state.ts';
import { tell, write } from '../terminal/print.ts';
import { gitignore, mainProgram, manifestText, readme } from './new-project.ts';

export const spec = defineCommand({
  name: 'new',
  summary: 'Create a project that checks, tests and runs at once, offline.',
  usage: '[NAME]',
  options: {
    provider: {
      type: 'string',
      short: 'p',
      value: 'NAME',
      help: 'mock (the default), openai, anthropic, google or ollama',
    },
  },
  maxPositionals: 1,
  details: 'NAME is the directory to create. `.`, or no NAME, is the current directory.',
});

const PROVIDERS = ['mock', 'openai', 'anthropic', 'google', 'ollama'] as const;

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const provider = PROVIDERS.find((name) => name === (values.provider ?? 'mock'));
  if (provider === undefined) throw new UsageError(`unknown provider; known are ${PROVIDERS.join(', ')}`);
  const given = positionals[0] ?? '.';
  const directory = resolve(given);
  const name = projectName(directory);
  const files = [
    { path: MANIFEST_NAME, text: manifestText(name, provider) },
    { path: 'src/main.conc', text: mainProgram() },
    { path: '.gitignore', text: gitignore() },
    { path: 'README.md', text: readme(name, provider) },
  ];
  if (existsSync(join(directory, MANIFEST_NAME))) {
    tell(`error: ${join(given, MANIFEST_NAME)} already exists\n`);
    return 1;
  }
  makeFolder(join(directory, 'src'), { advice: 'take another place' });
  for (const file of files) {
    const path = join(directory, file.path);
    // What is already there is somebody's work.
    if (!existsSync(path)) writeFileSync(path, file.text);
  }
  trustOwn(directory);
  const enter = given === '.' ? [] : [`cd ${inShell(given)}`];
  // Who came by npx may have no `concerto` of their own.
  const concerto = process.env.npm_lifecycle_event === 'npx' ? 'npx concerto' : 'concerto';
  const next = [...enter, ...['check', 'test', 'run'].map((command) => `${concerto} ${command}`)].join(' && ');
  write(`created ${name}\n\n  ${next}\n`);
  return 0;
}

/** Whoever made it trusts it. Where that cannot be kept they are asked later. */
function trustOwn(directory: string): void {
  try {
    noteFacts(directory, { trusted: true });
  } catch {
    // No state folder here: nothing else of `new` needs one.
  }
}

function inShell(path: string): string {
  return /^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** A name that needs no quotes anywhere. */
function projectName(directory: string): string {
  const name = basename(directory).replaceAll(/[^A-Za-z0-9_-]+/g, '-');
  return name === '' || name === '-' ? 'project' : name;
}
