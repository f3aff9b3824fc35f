import { Blobs, memoryEventLog } from '@concerto/log';
import type { LlmContent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { takeContent } from './take-content.ts';

const picture = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const text = { kind: 'agent', name: 'demo', accepts: [] } as const;

async function taken(part: LlmContent['parts'][number], accepts: readonly string[] = []) {
  const log = memoryEventLog({ now: () => 0 });
  try {
    return await takeContent({ parts: [part] }, { ...text, accepts }, new Blobs(log, () => 0));
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

test('a type is compared in any case and without its parameters, and told plain', async () => {
  const named = { inlineData: { mimeType: 'Image/PNG; name="a.png"', data: picture.data, title: 'a.png' } };
  expect(await taken(named, ['image/png'])).toMatchObject({
    ok: true,
    value: { objective: { parts: [{ inlineData: { ...picture, title: 'a.png' } }] } },
  });
  expect(await taken({ inlineData: { mimeType: 'Application/JSON; charset=utf-8', data: 'MQ==' } })).toMatchObject({
    ok: true,
  });
  expect(await taken({ fileData: { fileUri: 'x', mimeType: 'TEXT/plain' } })).toMatchObject({
    value: { objective: { parts: [{ fileData: { fileUri: 'x', mimeType: 'text/plain' } }] } },
  });
});

test('a picture is what its type says, also where it was kept before', async () => {
  const log = memoryEventLog({ now: () => 0 });
  const blobs = new Blobs(log, () => 0);
  const bytes = Buffer.from(picture.data, 'base64');
  const take = async (mimeType: string) => {
    const { handle } = await blobs.put(mimeType, [bytes]);
    return await takeContent(
      { parts: [{ storedData: { handle, mimeType } }] },
      { ...text, accepts: ['image/*'] },
      blobs,
    );
  };
  expect(await take('image/png')).toMatchObject({ ok: true });
  const message = '`parts.0`: says that it is image/jpeg and is image/png';
  expect(await take('image/jpeg')).toMatchObject({ ok: false, error: { code: 'invalid_content', message } });
  await log.close();
});
