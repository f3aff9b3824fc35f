import { AuditEntry } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { Story } from '../../test/story.ts';
import { audit, messageHistory } from './audit.ts';

describe('audit', () => {
  test('9.1 both directions, who, and the time between a request and its confirmation', () => {
    const story = new Story().running().tick(100).control('pause', 'p1').tick(250).ack('p1');
    story.tick(50).control('resume', 'r1').tick(40).ack('r1').question('q1').tick(9_000).answer('q1');
    const entries = audit(story.records);
    expect(entries).toHaveLength(story.records.length);
    for (const entry of entries) AuditEntry.parse(entry);
    const about = (what: string) => entries.filter((entry) => entry.what === what);
    expect(about('control-requested')).toMatchObject([
      { direction: 'in', actor: 'user', requestId: 'p1', epoch: 1, detail: { kind: 'pause' } },
      { direction: 'in', actor: 'user', requestId: 'r1', epoch: 1, detail: { kind: 'resume' } },
    ]);
    expect(about('control-confirmed')).toMatchObject([
      { direction: 'out', actor: 'runner:r1', requestId: 'p1', latencyMs: 250, detail: { by: 'ack' } },
      { direction: 'out', actor: 'runner:r1', requestId: 'r1', latencyMs: 40 },
    ]);
    expect(about('request-answered')).toMatchObject([{ direction: 'in', actor: 'user', latencyMs: 9_000 }]);
  });

  test('9.1 an answer says when the agent had it, and nothing while it has not', () => {
    const story = new Story().running().question('q1').answer('q1').tick(70);
    const given = () => audit(story.records).find((entry) => entry.what === 'request-answered');
    expect(given()).not.toHaveProperty('deliveredAt');
    story.report({ type: 'answer-delivered', requestId: 'q1' });
    expect(given()).toMatchObject({ deliveredAt: new Date(1_000_070).toISOString() });
    expect(audit(story.records).at(-1)).toMatchObject({ what: 'answer-delivered', latencyMs: 70, epoch: 1 });
  });

  test('9.1 what caused a record is kept', () => {
    const story = new Story().running();
    story.ask({ type: 'control', kind: 'cancel', requestId: 'c', cause: 'http-7' } as never);
    expect(
      audit(story.records)
        .filter((entry) => entry.causedBy === 'http-7')
        .map((entry) => entry.what),
    ).toEqual(['control-requested']);
  });

  test('9.1 an ack that was ignored is there with the reason', () => {
    const story = new Story().running().ack('nobody-asked');
    expect(audit(story.records).at(-1)).toMatchObject({
      direction: 'out',
      what: 'report-ignored',
      requestId: 'nobody-asked',
      detail: { report: 'control-acked', reason: 'no such request' },
    });
  });

  test('9.2 one message’s whole history', () => {
    const story = new Story()
      .running({ capabilities: ['steer'] })
      .control('pause', 'p')
      .pass(20_000)
      .send('a')
      .send('b');
    story.wish({ type: 'reorder', ids: ['b', 'a'], version: story.state.queue.version });
    story.wish({ type: 'edit', messageId: 'a', content: 'better' }).wish({ type: 'promote', messageId: 'a' });
    story.control('resume', 'r').ack('r').tick(30).delivered();
    const history = messageHistory(story.records, 'a');
    expect(history.map((entry) => entry.what)).toEqual([
      'message-enqueued',
      'messages-reordered',
      'message-edited',
      'message-promoted',
      'message-dispatched',
      'message-delivered',
    ]);
    expect(history.at(-1)).toMatchObject({ latencyMs: 30, detail: { how: 'steer' } });
  });
});
