import { Blobs, type EventLog, LogError, memoryEventLog } from '@concerto/log';
import { expect, test } from 'vitest';
import { systemClock } from '../ports.ts';
import { Tenure } from '../session/tenure.ts';
import { keepLargeFiles } from './keep-parts.ts';

test('a large file that is shown while the store is away for a moment is kept, once', async () => {
  const real = memoryEventLog({ now: Date.now });
  let failures = 2;
  const putDocument: EventLog['putDocument'] = async (write) => {
    if (failures-- > 0) throw new LogError('unavailable', 'the store is away');
    await real.putDocument(write);
  };
  const log = { ...real, putDocument };
  const fence = { lease: 'l', epoch: 1 };
  const tenure = new Tenure({ session: 's1', runner: 'r', fence, clock: systemClock, report: () => {} });
  const blobs = new Blobs(log, Date.now);
  const data = Buffer.alloc(2 * 1024 * 1024, 'x').toString('base64');
  const content = { parts: [{ inlineData: { mimeType: 'image/png', data } }] };
  const [kept] = await keepLargeFiles([{ type: 'content', content }], { session: 's1', log, blobs, tenure });
  expect(kept).toMatchObject({ content: { parts: [{ storedData: { mimeType: 'image/png' } }] } });
  expect(await blobs.usedBy('s1')).toHaveLength(1);
});

test('a large picture in the result of a call is kept beside the session', async () => {
  const log = memoryEventLog({ now: Date.now });
  const fence = { lease: 'l', epoch: 1 };
  const tenure = new Tenure({ session: 's1', runner: 'r', fence, clock: systemClock, report: () => {} });
  const blobs = new Blobs(log, Date.now);
  const data = Buffer.alloc(2 * 1024 * 1024, 'x').toString('base64');
  const parts = [{ text: 'seen' }, { inlineData: { mimeType: 'image/png', data } }];
  const content = {
    role: 'user',
    parts: [{ functionResponse: { name: 'look', response: { result: 'seen' }, parts } }],
  };
  const [kept] = await keepLargeFiles([{ type: 'functionResult', callId: 'c1', content, outcome: 'ok' }], {
    session: 's1',
    log,
    blobs,
    tenure,
  });
  const within = [{ text: 'seen' }, { storedData: { mimeType: 'image/png' } }];
  expect(kept).toMatchObject({ content: { parts: [{ functionResponse: { name: 'look', parts: within } }] } });
  expect(await blobs.usedBy('s1')).toHaveLength(1);
});
