import { Blobs, memoryEventLog } from '@concerto/log';
import type { LlmContent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { takeContent } from './take-content.ts';

const picture = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const text = { kind: 'agent', name: 'demo', accepts: [] } as const;

async function taken(part: LlmContent['parts'][number]) {
  const log = memoryEventLog({ now: () => 0 });
  try {
    return await takeContent({ parts: [part] }, text, new Blobs(log, () => 0));
  } finally {
    await log.close();
  }
}

test('a part is of one kind: what stands beside a text is neither dropped nor smuggled past what is taken', async () => {
  expect(await taken({ text: 'a', inlineData: picture })).toMatchObject({
    ok: false,
    error: {
      code: 'invalid_content',
      message: '`parts.0`: is `text` and `inlineData`: a part is of one kind, so make several of it',
      details: { part: 0 },
    },
  });
  expect(await taken({ json: 1, text: 'a' })).toMatchObject({ ok: false, error: { code: 'invalid_content' } });
  expect(await taken({ fileData: { fileUri: 'x', mimeType: 'text/plain' }, storedData: null } as never)).toMatchObject({
    ok: false,
  });
  expect(await taken({ text: 'a', thought: true, title: 'mine' })).toMatchObject({ ok: true, value: { text: 'a' } });
  expect(await taken({ inlineData: picture })).toMatchObject({ ok: false, error: { code: 'part_not_taken' } });
});
