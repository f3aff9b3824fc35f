import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../..');

/** It needs what is built: many processes from source would measure the loader. */
export const campaignsRun = process.env.CONCERTO_TEST_BUILT === '1';

export const campaignTimeoutMs = 600_000;

/** What a campaign of `tools/` says in the end; all of it is printed where it found something, since a second try would hide that. */
export async function runCampaign(tool: 'chaos' | 'kills', words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [`tools/${tool}.mjs`, '--built', ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (!said.includes('no violation')) process.stderr.write(said);
  return said;
}
