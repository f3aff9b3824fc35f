import { expect, onTestFinished, test } from 'vitest';
import { openStage } from './session-stage.ts';

const lines = [
  { type: 'partial', text: 'a\ud83d' },
  { type: 'partial', text: '\ude00' },
  { type: 'tool_call', id: '1', name: 'ls', args: { of: '\ud83d' } },
  { type: 'tool_output', id: '1', text: 'x\ud83d' },
  { type: 'tool_output', id: '1', text: '\ude00y' },
  { type: 'result', text: 'r\ud83d' },
];

const agent = `
process.stdin.once('data', () => {
  for (const line of ${JSON.stringify(lines)}) console.log(JSON.stringify(line));
});
`;

test('an agent that splits a character over two messages is heard with the character, and no event has half of one', async () => {
  const stage = openStage({ agents: [{ name: 'splits', command: process.execPath, args: ['-e', agent] }] });
  onTestFinished(() => stage.close());
  const started = await stage.start({ agent: 'splits', prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  await stage.until(id, ({ type }) => type === 'turnComplete');
  const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
  const texts = entries.flatMap(({ data }) => {
    const { type, content, text, args } = JSON.parse(data);
    if (type === 'functionCall' && args.of !== undefined) return [args.of];
    if (type === 'toolOutput') return [text];
    return type === 'content' ? [content.parts[0].text] : [];
  });
  expect(texts).toEqual(['a', '😀', '\ufffd', 'x', '😀y', 'r\ufffd']);
  expect(entries.filter(({ data }) => data.includes('\\ud'))).toEqual([]);
  // Nor has what is read of it elsewhere.
  expect((await stage.sessions.get(id))?.result).toEqual({ text: 'r\ufffd' });
  expect(JSON.stringify(await stage.sessions.audit(id, { after: 0, limit: 100 }))).not.toContain('\\ud');
});
