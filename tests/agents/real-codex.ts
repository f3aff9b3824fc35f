import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Script, startScriptedModelServer } from '../../packages/models/src/testing/scripted-model-server.ts';
import type { Place } from './real-claude.ts';

/** The real program, put there by `npm run test:agents`. */
export const codex = process.env.CONCERTO_TEST_CODEX ?? '';

/** As with everybody not in a temporary folder: there it keeps no helpers of its sandbox, and its commands fail. */
const homes = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  'node_modules',
  '.cache',
  'agents',
  'homes',
);

/** A model on loopback, a home that knows no other, and a folder to work in. Close it. */
export async function openCodexPlace(script: Script): Promise<Place> {
  const model = await startScriptedModelServer(script);
  await mkdir(homes, { recursive: true });
  const home = await mkdtemp(join(homes, 'codex-home-'));
  const workDir = await mkdtemp(join(tmpdir(), 'codex-work-'));
  // The checkout, and its home with it, may itself be in the temporary folder of this machine.
  const temporary = await mkdtemp(join(tmpdir(), 'codex-temporary-'));
  await mkdir(join(home, '.codex'));
  await writeFile(join(home, '.codex', 'config.toml'), settings(model.url));
  return {
    model,
    workDir,
    // Nothing is inherited but PATH: neither a login nor a setting of whoever runs the tests.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CODEX_HOME: join(home, '.codex'),
      SCRIPTED_KEY: 'scripted',
      TMPDIR: temporary,
    },
    close: async () => {
      await model.close();
      for (const folder of [home, workDir, temporary])
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The model's name has to be one that the program knows, and plugins would look for the network. */
function settings(url: string): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[features]
plugins = false
[analytics]
enabled = false
`;
}
