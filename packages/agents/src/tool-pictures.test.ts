import { expect, test } from 'vitest';
import { contentOf } from './acp/acp-content.ts';
import { claudeOutcome } from './claude/claude-tools.ts';
import { itemCompleted } from './codex/codex-items.ts';

const seen = { type: 'text', text: 'seen' };
const picture = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
const parts = [{ text: 'seen' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }];

test('a result with a picture has its words beside it, in their order; one of words alone has no parts', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  const result = { type: 'tool_result', content: [seen, { type: 'image', source }] };
  expect(claudeOutcome(result, undefined, undefined)).toMatchObject({ text: 'seen\n[picture]', parts });
  expect(claudeOutcome({ ...result, content: [seen] }, undefined, undefined)).not.toHaveProperty('parts');

  const content = (blocks: readonly (typeof seen | typeof picture)[]) =>
    contentOf({ content: blocks.map((block) => ({ type: 'content', content: block })) });
  expect(content([seen, picture])).toMatchObject({ text: 'seen\n[image]', parts });
  expect(content([seen])).toMatchObject({ text: 'seen', parts: [] });

  const item = { type: 'mcpToolCall', id: 'c1', server: 's', tool: 't', status: 'completed' };
  const response = { name: 's.t', response: { result: 'seen\n[image]' }, parts };
  expect(itemCompleted({ ...item, result: { content: [seen, picture] } }).shown).toMatchObject([
    { content: { parts: [{ functionResponse: response }] } },
  ]);
});
