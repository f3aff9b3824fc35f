import { expect, test } from 'vitest';
import { ProseFold } from './prose.ts';

const at = '2026-01-01T00:00:00.000Z';

test('what is no text is told in words: data as it is, a file as what it is', () => {
  const fold = new ProseFold();
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA', title: 'a.png' } };
  const objective = { role: 'user', parts: [{ text: 'Look' }, picture] };
  expect(fold.take({ type: 'start', objective, at, seq: 1 })).toBe('\n## User\n\nLook\n[picture, 3 B, a.png]\n');
  const content = { role: 'model', parts: [{ json: { files: 3 } }] };
  expect(fold.take({ type: 'content', content, messageId: 'm', at, seq: 2 })).toBe('\n## Agent\n\n{"files":3}\n');
});

test('no result is cut in the middle of a character', () => {
  const fold = new ProseFold();
  fold.take({ type: 'functionCall', callId: 'c', name: 'read', args: {}, at, seq: 1 });
  const response = { result: `${'x'.repeat(1_999)}😀${'y'.repeat(9)}` };
  const content = { parts: [{ functionResponse: { name: 'read', response } }] };
  const told = fold.take({ type: 'functionResult', callId: 'c', content, outcome: 'ok', at, seq: 2 });
  expect(told).toContain('x … (11 characters more)');
});
