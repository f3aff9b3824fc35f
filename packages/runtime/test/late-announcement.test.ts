import { afterEach, expect, test } from 'vitest';
import { openStage, type Stage } from './session-stage.ts';

/** Says what it can do a while after its prompt, twice, and tells what it was asked. */
const script = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (message) => console.log(JSON.stringify(message));
const announce = (more) => say({ type: 'init_ack', capabilities: ['pause', 'resume', 'interrupt', 'cancel', ...more] });
lines.on('line', (line) => {
  const message = JSON.parse(line.startsWith('{') ? line : JSON.stringify({ type: 'prompt' }));
  if (message.type === 'prompt') {
    setTimeout(announce, 400, []);
    setTimeout(announce, 500, ['steer']);
  }
  if (message.type === 'pause' || message.type === 'interrupt' || message.type === 'cancel') {
    say({ type: 'log', message: 'asked to ' + message.type });
    setTimeout(() => say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id }), 300);
  }
});
`;

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
});

test.each([
  ['pause', 'paused'],
  ['interrupt', 'interrupted'],
  ['cancel', 'cancelled'],
] as const)(
  'a %s before the agent says what it can do is asked of it then, and commanded once',
  async (verb, status) => {
    const spec = { name: 'late', command: process.execPath, args: ['-e', script] };
    const here = openStage({ agents: [spec] });
    stage = here;
    const started = await here.start({ agent: 'late', prompt: 'go' });
    const id = started.ok ? started.value.id : '';
    await here.until(id, (event) => event.type === 'start');
    const asked = await here.sessions.control(id, verb, { actor: 'user', key: undefined });
    expect(asked.ok).toBe(true);
    await here.until(id, (event) => event.type === 'subagentAddJson' && event.title === 'log');
    expect(await here.until(id, (event) => event.type === 'status' && event.status === status)).not.toMatchObject({
      reason: 'forced',
    });
    const { entries } = await here.log.read({ session: id, stream: 'commands', after: 0, limit: 100 });
    expect(entries.filter(({ type }) => type === verb)).toHaveLength(1);
  },
);
