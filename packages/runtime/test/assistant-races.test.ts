import { memoryEventLog } from '@concerto/log';
import type { ScriptTurn } from '@concerto/models/testing';
import { expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage } from './assistant-stage.ts';

const user = { actor: 'user', key: undefined };

/** A small generator: the same seed gives the same wishes; how they fall into the turns is the machine's doing. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What the model heard: the user's words each, its own words and its calls' results as wholes. */
function heardIn(stage: AssistantStage): { users: string[]; model: string; results: number } {
  const messages = stage.model.requests.at(-1)?.body.messages;
  const list = Array.isArray(messages) ? messages.map((message) => Object(message)) : [];
  const textsOf = (role: string): string[] =>
    list.flatMap((one) => (one.role === role ? [String(one.content ?? '')] : []));
  return { users: textsOf('user').toSorted(), model: textsOf('assistant').join(''), results: textsOf('tool').length };
}

function turnOf(pick: (below: number) => number, index: number): ScriptTurn {
  const words = { text: `Words of answer ${index}. `.repeat(1 + pick(4)), pieces: 1 + pick(3) };
  const calls = Array.from({ length: pick(4) }, () => ({ tool: 'current_time', arguments: {} }));
  return index > 200 ? [words] : [words, ...calls];
}

async function wish(stage: AssistantStage, id: string, what: number, content: string): Promise<void> {
  const { sessions } = stage;
  switch (what) {
    case 0:
    case 1:
      await sessions.send(id, { content, priority: 'queued' }, user);
      return;
    case 2:
    case 3:
      await sessions.send(id, { content, priority: 'immediate' }, user);
      return;
    case 4:
    case 5:
      await sessions.control(id, 'interrupt', user);
      return;
    case 6:
      await sessions.control(id, 'pause', user);
      return;
    default:
      await sessions.control(id, 'resume', user);
  }
}

/** Lets it work through whatever is left. */
async function settled(stage: AssistantStage, id: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const session = await stage.sessions.get(id);
        if (session?.status === 'paused' || session?.status === 'interrupted')
          await stage.sessions.control(id, 'resume', user);
        return `${session?.status} ${session?.pending}`;
      },
      { timeout: 20_000, interval: 20 },
    )
    .toMatch(/^(idle|interrupted) 0$/);
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'wishes at any moment: no word is lost or heard twice, live or after a restart (%i)',
  async (seed) => {
    const pick = chance(seed);
    const log = memoryEventLog({ now: Date.now });
    const options = { functions: ['current_time'] as const, log: { ...log, close: async () => {} } };
    let stage = await openAssistantStage((_request, index) => turnOf(pick, index), options);
    try {
      const id = await stage.begin('word 0');
      for (let index = 1; index <= 25; index++) {
        await wish(stage, id, pick(10), `word ${index}`);
        for (let wait = pick(40); wait > 0; wait--) await new Promise((resolve) => setImmediate(resolve));
      }
      await settled(stage, id);
      await stage.say(id, 'the last word');
      await settled(stage, id);
      const list = await stage.sessions.messages(id, { history: { after: 0, limit: 10_000 } });
      const delivered = (list?.history ?? [])
        .filter(({ status }) => status === 'delivered')
        .map(({ content }) => content);
      const live = heardIn(stage);
      expect(live.users).toEqual(delivered.toSorted());
      const open = (await stage.events(id)).filter(({ type }) => type === 'functionCall').length;
      const closed = (await stage.events(id)).filter(({ type }) => type === 'functionResult').length;
      expect(open).toBeGreaterThanOrEqual(closed);
      await stage.close();

      stage = await openAssistantStage(() => 'Hello again.', options);
      await stage.say(id, 'after the restart');
      await settled(stage, id);
      const again = heardIn(stage);
      expect(again.users).toEqual([...delivered, 'after the restart'].toSorted());
      expect(again.model.startsWith(live.model)).toBe(true);
      expect(again.results).toBeLessThanOrEqual(live.results);
    } finally {
      await stage.close();
      await log.close();
    }
  },
);
