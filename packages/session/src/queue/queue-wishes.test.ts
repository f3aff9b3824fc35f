import { describe, expect, test } from 'vitest';
import { everything, Story } from '../../test/story.ts';
import { messageHistory } from '../session/audit.ts';
import type { Wish } from '../session/session-command.ts';
import { messageListView, messageOf } from '../session/view.ts';

const wish = {
  edit: { type: 'edit', messageId: 'a', content: 'changed' },
  promote: { type: 'promote', messageId: 'a' },
  cancel: { type: 'cancel-message', messageId: 'a' },
  resend: { type: 'resend', messageId: 'a' },
} as const satisfies Record<string, Wish>;

const listed = (story: Story) => messageListView(story.state).pending.map((message) => message.id);

describe('messages', () => {
  test('4.1 the list is in delivery order, whatever the clock says', () => {
    const story = new Story().running({ capabilities: [] });
    story.send('q1').send('q2').send('i1', 'immediate').tick(-5_000).send('i2', 'immediate').send('q3');
    expect(listed(story)).toEqual(['i1', 'i2', 'q1', 'q2', 'q3']);
    for (let turn = 0; turn < 5; turn++) story.result().delivered();
    expect(story.deliveries()).toEqual(['first', 'i1', 'i2', 'q1', 'q2', 'q3']);
  });

  test('4.1 what the system says waits behind what people say in the same lane, unless a person put it first', () => {
    const story = new Story().running({ capabilities: [] });
    const system = (messageId: string) =>
      story.wish({ type: 'enqueue', messageId, content: 'go on', priority: 'queued', source: 'system' });
    system('s1').send('q1');
    system('s2').send('q2').send('i1', 'immediate');
    expect(listed(story)).toEqual(['i1', 'q1', 'q2', 's1', 's2']);
    const { version } = story.state.queue;
    story.wish({ type: 'reorder', ids: ['q1', 's2', 's1', 'q2'], version });
    expect(listed(story)).toEqual(['i1', 'q1', 's2', 's1', 'q2']);
    expect(story.send('q3') && listed(story)).toEqual(['i1', 'q1', 's2', 's1', 'q2', 'q3']);
  });

  test('4.1 a reader of the events knows the order and the version that the next reorder must name', () => {
    const story = new Story().running({ capabilities: [] }).send('a').send('b').send('c');
    const { version } = story.state.queue;
    expect(story.events.at(-1)).toMatchObject({ type: 'message', message: { id: 'c' }, version });
    story.wish({ type: 'reorder', ids: ['c', 'a', 'b'], version });
    expect(story.events.at(-1)).toMatchObject({ type: 'message', order: ['c', 'a', 'b'], version: version + 1 });
    story.wish({ type: 'reorder', ids: ['a', 'b', 'c'], version: version + 1 });
    expect(listed(story)).toEqual(['a', 'b', 'c']);
  });

  test.each([
    ['edit', wish.edit, undefined],
    ['promote', wish.promote, 'already_immediate'],
    ['reorder', { type: 'reorder', ids: ['b', 'a'], version: 0 }, 'stale_order'],
    ['resend', wish.resend, 'not_uncertain'],
  ] as const)(
    '4.9 the same %s again, with the same cause, is granted again and changes nothing',
    (kind, repeated, otherwise) => {
      const story = new Story().running({ capabilities: [] });
      if (kind === 'resend') story.result().send('a').exit();
      else story.send('a').send('b');
      const asked = kind === 'reorder' ? { ...repeated, version: story.state.queue.version } : repeated;
      story.wish({ ...asked, cause: 'k1' });
      const records = story.records.length;
      story.wish({ ...asked, cause: 'k1' });
      expect(story.records).toHaveLength(records);
      expect(story.ask({ ...asked, cause: 'k2' })?.code).toBe(otherwise);
    },
  );

  test('4.9 after a day the cause is free for another wish', () => {
    const story = new Story().running({ capabilities: [] }).send('a');
    story.wish({ ...wish.edit, cause: 'k1' }).tick(24 * 60 * 60_000 + 1);
    story.wish({ ...wish.edit, content: 'again', cause: 'k1' });
    expect(messageOf(story.state, 'a')?.content).toBe('again');
  });

  test('4.1 an order is not stale because something was handed over meanwhile, but because somebody changed it', () => {
    const story = new Story().start().send('a').send('b').send('c');
    const { version } = story.state.queue;
    story.claim().ready().delivered();
    expect(story.state.queue.version).toBe(version + 2);
    expect(story.refusal({ type: 'reorder', ids: ['c', 'b', 'a'], version: version - 1 }).code).toBe('stale_order');
    expect(story.refusal({ type: 'reorder', ids: ['c', 'b', 'a'], version: version + 3 }).code).toBe('stale_order');
    story.wish({ type: 'reorder', ids: ['c', 'b', 'a'], version });
    expect(listed(story)).toEqual(['c', 'b', 'a']);
    expect(story.refusal({ type: 'reorder', ids: ['a', 'b', 'c'], version }).code).toBe('stale_order');
  });

  test('4.2 follow-ups wait for the end of the turn and go one a turn', () => {
    const story = new Story().running({ capabilities: everything }).send('a').send('b');
    expect(story.deliveries()).toEqual(['first']);
    story.result();
    expect(story.deliveries()).toEqual(['first', 'a']);
    story.delivered();
    expect(story.deliveries()).toEqual(['first', 'a']);
    expect(story.state.turn.number).toBe(2);
    story.result().delivered();
    expect(story.deliveries()).toEqual(['first', 'a', 'b']);
  });

  test('4.3 an Immediate is steered into the running turn, one at a time, and the ack says how', () => {
    const story = new Story()
      .running({ capabilities: ['steer'] })
      .send('a', 'immediate')
      .send('b', 'immediate');
    expect(story.commands.at(-1)).toMatchObject({ type: 'deliver', messageId: 'a', how: 'steer', turn: 1 });
    expect(story.deliveries()).toEqual(['first', 'a']);
    story.delivered();
    expect(story.deliveries()).toEqual(['first', 'a', 'b']);
    expect(story.acks.at(-1)).toEqual({
      type: 'message_ack',
      requestId: 'a',
      dispatchId: 'a.1',
      how: 'steer',
      epoch: 1,
    });
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'delivered', how: 'steer' });
    expect(story.status).toBe('running');
  });

  test('4.3 without steer an Immediate is first in the next turn', () => {
    const story = new Story().running({ capabilities: [] }).send('q').send('i', 'immediate');
    expect(story.deliveries()).toEqual(['first']);
    story.result();
    expect(story.commands.at(-1)).toMatchObject({ messageId: 'i', how: 'prompt', turn: 2 });
  });

  test('4.3 a steer that the agent refuses is first in the next turn instead', () => {
    const story = new Story().running({ capabilities: ['steer'] }).send('i', 'immediate');
    story.report({ type: 'delivery-refused', dispatchId: 'i.1', reason: 'no tool call left' });
    expect(story.deliveries()).toEqual(['first', 'i']);
    story.result();
    expect(story.commands.at(-1)).toMatchObject({ messageId: 'i', how: 'prompt', dispatchId: 'i.2' });
  });

  test('4.14 an agent that refuses a prompt is replaced, and after three that did the queue is held', () => {
    const story = new Story().idle().send('a');
    story.report({ type: 'delivery-refused', dispatchId: 'a.1', reason: 'broken pipe' });
    expect(story.commandTypes().slice(-2)).toEqual(['kill', 'start']);
    story.ready().report({ type: 'delivery-refused', dispatchId: 'a.2', reason: 'broken pipe' });
    const closing = [{ type: 'thought', text: 'gone' }] as const;
    story.ready().report({ type: 'delivery-refused', dispatchId: 'a.3', reason: 'broken pipe', closing });
    expect(story.status).toBe('interrupted');
    expect(story.eventTypes().filter((type) => type === 'thought')).toHaveLength(1);
    expect(story.events.at(-1)).toMatchObject({ status: 'interrupted', reason: 'broken pipe' });
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'pending' });
    expect(story.control('resume', 'r').ready().deliveries()).toEqual(['first', 'a', 'a', 'a', 'a']);
  });

  test('4.4 a message to an idle session calls the owner, who hands it over in one decision of its own', () => {
    const story = new Story().idle();
    story.attentive = false;
    story.send('a');
    expect(story.last?.records.map((record) => record.type)).toEqual(['message-enqueued']);
    expect(story.last?.commands.map((one) => one.type)).toEqual(['attend']);
    expect(story.status).toBe('running');
    story.attend();
    expect(story.last?.records.map((record) => record.type)).toEqual(['message-dispatched', 'turn-started']);
    expect(story.deliveries()).toEqual(['first', 'a']);
    story.attend();
    expect(story.last?.records).toEqual([]);
  });

  test('4.4 a wish decided in the place of its owner is handed over in the same commit, by the owner', () => {
    const story = new Story().idle();
    story.attentive = false;
    const send = { type: 'enqueue', messageId: 'a', content: 'a', priority: 'queued', source: 'user' } as const;
    story.wish({ ...send, attending: { epoch: 1, actor: 'runner:r1' } });
    expect(story.last?.records.map(({ type, actor }) => [type, actor])).toEqual([
      ['message-enqueued', 'user'],
      ['message-dispatched', 'runner:r1'],
      ['turn-started', 'runner:r1'],
    ]);
    expect(story.last?.commands.map((one) => one.type)).toEqual(['deliver']);
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('4.4 whoever no longer owns the session decides like anybody else', () => {
    const story = new Story().idle().claim(2).ready();
    story.attentive = false;
    const send = { type: 'enqueue', messageId: 'a', content: 'a', priority: 'queued', source: 'user' } as const;
    story.wish({ ...send, attending: { epoch: 1, actor: 'runner:r1' } });
    expect(story.last?.commands.map((one) => one.type)).toEqual(['attend']);
    expect(story.deliveries()).toEqual(['first']);
  });

  test('4.4 the owner is called only when it could do something', () => {
    const story = new Story().running({ capabilities: [] });
    story.send('a').send('b', 'immediate');
    expect(story.last?.commands).toEqual([]);
    const paused = new Story().idle().control('pause');
    paused.send('a');
    expect(paused.last?.commands).toEqual([]);
    paused.control('resume');
    expect(paused.deliveries()).toEqual(['first', 'a']);
  });

  test('4.16 a message sent after the owner died is pending, and the next owner hands it over', () => {
    const story = new Story().idle();
    story.attentive = false;
    story.send('a').attend(0);
    expect(story.last?.records).toEqual([]);
    story.claim(2).ready(everything).delivered();
    expect(story.recordTypes()).not.toContain('message-uncertain');
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('4.16 what waits for the owner can still be changed, held or cancelled', () => {
    const story = new Story().idle();
    story.attentive = false;
    story.send('a').send('b').wish({ type: 'edit', messageId: 'a', content: 'other' });
    story.wish({ type: 'cancel-message', messageId: 'b' }).control('interrupt');
    expect(story.status).toBe('interrupted');
    story.attend();
    expect(story.deliveries()).toEqual(['first']);
    story.control('resume').attend();
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('4.5 held while a question is open, and delivered after its answer', () => {
    const story = new Story()
      .running({ capabilities: ['steer'] })
      .question('q1')
      .send('i', 'immediate');
    expect(story.deliveries()).toEqual(['first']);
    expect(story.answer('q1').deliveries()).toEqual(['first', 'i']);
  });

  test.each([
    [0, 'user', 'invalid_content'],
    [1, 'user', undefined],
    [100_000, 'user', undefined],
    [100_001, 'user', 'invalid_content'],
    [0, 'program', undefined],
    [1_000_000, 'program', undefined],
  ] as const)('4.6 content of %i characters of a %s → %s', (length, source, code) => {
    const story = new Story().running();
    const refusal = story.ask({
      type: 'enqueue',
      messageId: 'a',
      content: 'x'.repeat(length),
      priority: 'queued',
      source,
    });
    expect(refusal?.code).toBe(code);
  });

  test('4.6 a character that takes two places of a text is one', () => {
    const story = new Story().running();
    const wish = { type: 'enqueue', priority: 'queued', source: 'user' } as const;
    expect(story.ask({ ...wish, messageId: 'a', content: '😀'.repeat(100_000) })).toBeUndefined();
    const over = story.ask({ ...wish, messageId: 'b', content: `${'😀'.repeat(100_000)}x` });
    expect(over?.code).toBe('invalid_content');
  });

  test('4.6 the 101st pending message is refused', () => {
    const story = new Story().running({ capabilities: [] });
    for (let index = 0; index < 100; index++) story.send(`m${index}`);
    const next = { type: 'enqueue', messageId: 'over', content: 'x', priority: 'immediate', source: 'user' } as const;
    expect(story.refusal(next)).toMatchObject({ code: 'queue_full', max: 100 });
    story.wish({ type: 'cancel-message', messageId: 'm5' }).wish(next);
  });

  test('4.7 the same message again is one message; the same id with other content is refused', () => {
    const story = new Story().running({ capabilities: [] }).send('a');
    const records = story.records.length;
    expect(story.send('a').records).toHaveLength(records);
    const other = { type: 'enqueue', messageId: 'a', content: 'other', priority: 'queued', source: 'user' } as const;
    expect(story.refusal(other).code).toBe('id_in_use');
    story.control('cancel', 'c').ack('c');
    expect(story.send('a').status).toBe('cancelled');
  });

  test('4.8 pending: edited, promoted and cancelled; a cancelled message never reaches the agent', () => {
    const story = new Story().running({ capabilities: [] }).send('a').send('b').wish(wish.edit).wish(wish.cancel);
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'cancelled', content: 'changed' });
    story.wish(wish.cancel).result();
    expect(story.deliveries()).toEqual(['first', 'b']);
    expect(story.refusal(wish.edit).code).toBe('cancelled');
    expect(story.refusal(wish.promote).code).toBe('cancelled');
  });

  test('4.8 an edited message is delivered as edited', () => {
    const story = new Story().running({ capabilities: [] }).send('a').wish(wish.edit).result();
    expect(story.commands.at(-1)).toMatchObject({ type: 'deliver', content: 'changed' });
  });

  test('4.8 in flight and delivered are too late, each with its code', () => {
    const story = new Story().idle().send('a');
    expect(story.refusal(wish.edit).code).toBe('in_flight');
    expect(story.refusal(wish.promote).code).toBe('in_flight');
    expect(story.refusal(wish.cancel).code).toBe('in_flight');
    story.delivered();
    expect(story.refusal(wish.edit).code).toBe('already_delivered');
    expect(story.refusal(wish.promote).code).toBe('already_delivered');
    expect(story.refusal(wish.cancel).code).toBe('already_delivered');
    expect(story.refusal({ type: 'cancel-message', messageId: 'unknown' }).code).toBe('no_such_message');
  });

  test('4.9 a promoted message goes to the tail of the Immediate lane, into the running turn', () => {
    const story = new Story().running({ capabilities: [] }).send('a').send('i1', 'immediate').send('i2', 'immediate');
    story.wish(wish.promote);
    expect(listed(story)).toEqual(['i1', 'i2', 'a']);
    expect(story.refusal(wish.promote).code).toBe('already_immediate');
    const steered = new Story()
      .running({ capabilities: ['steer'] })
      .send('a')
      .wish(wish.promote);
    expect(steered.commands.at(-1)).toMatchObject({ messageId: 'a', how: 'steer' });
  });

  test('4.10 reorder changes the order of delivery; an old version, a missing, foreign or doubled id is stale', () => {
    const story = new Story().running({ capabilities: [] }).send('a').send('b').send('c').send('i', 'immediate');
    const { version } = story.state.queue;
    const order = (ids: string[], at = version): Wish => ({ type: 'reorder', ids, version: at });
    for (const ids of [
      ['a', 'b'],
      ['a', 'b', 'c', 'x'],
      ['a', 'b', 'b'],
      ['a', 'a', 'b', 'c'],
    ]) {
      expect(story.refusal(order(ids))).toMatchObject({ code: 'stale_order', version });
    }
    story.wish(order(['c', 'a', 'b']));
    expect(listed(story)).toEqual(['i', 'c', 'a', 'b']);
    expect(story.refusal(order(['a', 'b', 'c'])).code).toBe('stale_order');
    story.wish(order(['i', 'b', 'c', 'a'], story.state.queue.version));
    expect(listed(story)).toEqual(['i', 'b', 'c', 'a']);
    for (let turn = 0; turn < 4; turn++) story.result().delivered();
    expect(story.deliveries()).toEqual(['first', 'i', 'b', 'c', 'a']);
  });

  test('4.11 in flight when the process is lost: uncertain, and only the user sends it again', () => {
    const story = new Story().idle().send('a').exit();
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'pending', uncertain: true });
    expect(messageListView(story.state).pending).toHaveLength(1);
    expect(story.refusal(wish.edit).code).toBe('uncertain');
    story.send('b').ready().delivered().result();
    expect(story.deliveries()).toEqual(['first', 'a', 'b']);
    story.wish(wish.resend);
    expect(story.deliveries()).toEqual(['first', 'a', 'b', 'a']);
    expect(story.inFlight().dispatchId).toBe('a.2');
    expect(story.refusal(wish.resend).code).toBe('not_uncertain');
  });

  test('4.11 or drops it', () => {
    const story = new Story().idle().send('a').exit().wish({ type: 'drop', messageId: 'a' });
    expect(messageOf(story.state, 'a')).toMatchObject({
      status: 'cancelled',
      reason: expect.stringContaining('may have received'),
    });
  });

  test('4.11 what was certainly never read goes back and is sent to the next process, but not for ever', () => {
    const story = new Story().idle().send('a');
    const lose = () => {
      const { dispatchId } = story.inFlight();
      story.report({ type: 'process-exited', error: { code: 'x', message: 'gone' }, undelivered: [dispatchId] });
    };
    lose();
    expect(story.status).toBe('starting');
    story.ready();
    lose();
    story.ready();
    lose();
    expect(story.status).toBe('interrupted');
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'pending' });
    expect(story.deliveries()).toEqual(['first', 'a', 'a', 'a']);
  });

  test('4.12 a second confirmation of a delivery, and one of another dispatch, are ignored', () => {
    const story = new Story().idle().send('a').delivered();
    story.report({ type: 'delivered', dispatchId: 'a.1', how: 'prompt' });
    story.report({ type: 'delivered', dispatchId: 'a.9', how: 'prompt' });
    expect(
      story.records.filter((record) => record.type === 'message-delivered' && record.messageId === 'a'),
    ).toHaveLength(1);
    expect(story.acks.filter((ack) => ack.type === 'message_ack' && ack.requestId === 'a')).toHaveLength(1);
  });

  test('4.15 an agent that ends the turn has read its prompt, even if nobody confirmed it', () => {
    const story = new Story().idle().send('a').result();
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'delivered' });
    expect(story.status).toBe('idle');
  });

  test('4.13 the history has the first prompt, as delivered, and what the end cancelled', () => {
    const story = new Story().running().send('a').control('cancel', 'c').ack('c');
    expect(messageListView(story.state, { after: 0, limit: 100 })).toMatchObject({
      pending: [],
      history: [
        { id: 'first', status: 'delivered', how: 'prompt' },
        { id: 'a', status: 'cancelled', reason: 'the session is cancelled' },
      ],
    });
  });

  test('4.13 in flight at the end: cancelled for the user, and marked as uncertain', () => {
    const story = new Story().idle().send('a').control('cancel', 'c').ack('c');
    expect(messageOf(story.state, 'a')).toMatchObject({
      status: 'cancelled',
      reason: 'the session is cancelled; the agent may have received it',
    });
  });

  test('4.13 uncertain before the end: event, list and audit agree that it is over', () => {
    const story = new Story().idle().send('a').exit();
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'pending', uncertain: true });
    story.control('cancel', 'c');
    expect(story.status).toBe('cancelled');
    const told = story.events.findLast((event) => event.type === 'message');
    const settled = { id: 'a', status: 'cancelled' };
    expect(told).toMatchObject({ message: settled });
    expect(messageListView(story.state, { after: 0, limit: 100 })).toMatchObject({
      pending: [],
      history: [{ id: 'first' }, settled],
    });
    expect(messageHistory(story.records, 'a').at(-1)).toMatchObject({ what: 'message-cancelled' });
    story.wish({ type: 'drop', messageId: 'a' });
    expect(story.last?.records).toEqual([]);
  });
});
