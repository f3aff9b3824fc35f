import { expect, onTestFinished, test } from 'vitest';
import { openStage } from './session-stage.ts';

/** Confirms that it was interrupted, and begins something all the same. */
const agent = `
const say = (line) => console.log(JSON.stringify(line));
say({ type: 'init_ack', capabilities: ['interrupt'] });
process.stdin.on('data', (data) => {
  for (const line of data.toString().trim().split('\\n').map((text) => JSON.parse(text))) {
    if (line.type === 'prompt') say({ type: 'progress', message: 'at it' });
    if (line.type !== 'interrupt') continue;
    say({ type: 'ack', in_reply_to: 'interrupt', in_reply_to_id: line.id });
    setTimeout(() => say({ type: 'tool_call', id: 't1', name: 'Bash', args: {} }), 20);
  }
}).on('end', () => process.exit());
`;

const agents = [{ name: 'goes-on', command: process.execPath, args: ['-e', agent] }];
const caller = { actor: 'user', key: undefined };
const isCall = ({ type, callId }: Record<string, unknown>): boolean => type === 'functionCall' && callId === 't1';
const isItsEnd = ({ type, callId }: Record<string, unknown>): boolean => type === 'functionResult' && callId === 't1';

test('a call that an agent makes after its turn is closed with the agent, whoever ends it', async () => {
  const stage = openStage({ agents });
  onTestFinished(() => stage.close());
  const begin = async (): Promise<string> => {
    const started = await stage.start({ agent: 'goes-on', prompt: 'go' });
    const id = started.ok ? started.value.id : '';
    await stage.until(id, ({ type }) => type === 'functionCallUpdate');
    await stage.sessions.control(id, 'interrupt', caller);
    await stage.until(id, isCall);
    return id;
  };
  const [first, second] = [await begin(), await begin()];
  // One gives way, as to a server elsewhere that needs its place.
  await stage.store.execute(first, { type: 'make-room', for: second, at: Date.now(), actor: 'pool' });
  expect(await stage.until(first, isItsEnd)).toMatchObject({ outcome: 'failed' });
  // The other goes with its server.
  await stage.stop();
  expect(await stage.until(second, isItsEnd)).toMatchObject({ outcome: 'failed' });
});
