import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scriptedCommand } from './concerto-command.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const kit = join(root, 'tests/vectors/lang/_kit/agents');
const odd = join(root, 'packages/agents/test/agents');

/** Small agents, one for each behaviour; the name is the file's. */
const programs: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['echo', 'ask', 'approve', 'progress', 'exits', 'fails', 'silent', 'chatty', 'plain', 'turns', 'unknown'].map(
      (name) => [name, join(kit, `${name}.mjs`)],
    ),
  ),
  ...Object.fromEntries(
    ['floods-stdout', 'garbage', 'long-lines', 'exits-at-once', 'forks-a-grandchild', 'ignores-sigterm'].map((name) => [
      name,
      join(odd, `${name}.mjs`),
    ]),
  ),
};

/** Writes a manifest with all of them, and whatever else the test wants. */
export async function writeManifest(folder: string, more = ''): Promise<void> {
  const agents = Object.entries(programs).map(
    ([name, file]) =>
      `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(file)}]\n`,
  );
  const scripted = (name: string): string =>
    `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([...scriptedCommand, name])}\n`;
  const missing = '[agents.missing]\ncommand = "no-such-program-anywhere"\n';
  await writeFile(
    join(folder, 'Concerto.toml'),
    [...agents, scripted('slow'), scripted('demo'), missing, more].join('\n'),
  );
}
