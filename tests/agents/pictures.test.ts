import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../packages/models/src/testing/scripted-model-server.ts';
import { drive } from './driven.ts';
import { openClaudeAcp, openCode, openGemini, openOpenCode } from './real-acp.ts';
import { claude, openPlace, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 120_000;

/** Red, 64 by 64: programs look at what they pass on, and shrink or refuse what is none. */
const data =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC';
const png = { inlineData: { mimeType: 'image/png', data, title: 'red.png' } };

type Opened = Pick<Place, 'model' | 'workDir' | 'env' | 'close'> & {
  readonly command: string;
  readonly args?: readonly string[];
};

const agents = [
  {
    name: 'Claude Code',
    protocol: 'claude',
    open: async (script: Script): Promise<Opened> => ({ ...(await openPlace(script)), command: claude }),
  },
  {
    name: 'Codex',
    protocol: 'codex',
    open: async (script: Script): Promise<Opened> => ({ ...(await openCodexPlace(script)), command: codex }),
  },
  { name: 'Gemini CLI', protocol: 'acp', open: openGemini },
  { name: 'Claude over ACP', protocol: 'acp', open: openClaudeAcp },
  ...(openCode === '' ? [] : [{ name: 'OpenCode', protocol: 'acp', open: openOpenCode } as const]),
] as const;

let place: Opened;

afterEach(async () => {
  await place.close();
});

describe.each(agents)('a picture to the model of the real $name', ({ protocol, open }) => {
  test('is seen by it', { timeout }, async () => {
    place = await open(['Red.']);
    const { command, args = [], env, workDir } = place;
    const agent = await drive({ name: 'it', protocol, command, args, env, workingDir: workDir });
    try {
      expect([...agent.agent.capabilities]).toContain('images');
      await agent.agent.prompt({ text: 'Which colour?', parts: [{ text: 'Which colour?' }, png] });
      expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'Red.' });
      const told = JSON.stringify(place.model.requests.map(({ body }) => body));
      // Some make it anew, smaller: what is left of it is a picture all the same.
      expect(told).toMatch(/iVBORw0KGgo|\/9j\/|UklGR/);
      expect(told).toContain('Which colour?');
    } finally {
      await agent.agent.end();
    }
  });
});
