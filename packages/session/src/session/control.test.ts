import { SessionStatus } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { everything, Story, storyIn } from '../../test/story.ts';
import { messageOf } from './view.ts';

const live = SessionStatus.options.filter((status) => !['completed', 'failed', 'cancelled'].includes(status));

describe('an agent that cannot be asked', () => {
  test.each([
    ['interrupt', 'signalled'],
    ['pause', 'end of the turn'],
    ['cancel', 'ended'],
  ] as const)('2.9 %s: the status says what is done instead', (verb, instead) => {
    const able = new Story().running().control(verb);
    expect(able.events.at(-1)).not.toHaveProperty('reason');
    const unable = new Story().running({ capabilities: [] }).control(verb);
    expect(unable.events.at(-1)).toMatchObject({ type: 'status', reason: expect.stringContaining(instead) });
  });

  test('4.3 a message that cannot be steered says that it waits, until it no longer does', () => {
    const story = new Story().running({ capabilities: [] }).send('i', 'immediate');
    expect(messageOf(story.state, 'i')).toMatchObject({
      status: 'pending',
      reason: expect.stringContaining('next one'),
    });
    story.result();
    expect(messageOf(story.state, 'i')).not.toHaveProperty('reason');
    story.delivered();
    expect(messageOf(story.state, 'i')).toMatchObject({ how: 'prompt' });
    expect(messageOf(new Story().running().send('i', 'immediate').state, 'i')).not.toHaveProperty('reason');
  });
});

describe('lifecycle requests', () => {
  test('2.2 pause and resume: asked, confirmed by name, acknowledged with the epoch', () => {
    const story = new Story().running().control('pause', 'p1');
    expect(story.commands.at(-1)).toMatchObject({ type: 'pause', requestId: 'p1', incarnation: 1 });
    expect(story.status).toBe('pausing');
    expect(story.ack('p1').status).toBe('paused');
    story.control('resume', 'r1');
    expect(story.commands.at(-1)).toMatchObject({ type: 'resume', requestId: 'r1', frozen: false });
    expect(story.status).toBe('resuming');
    expect(story.ack('r1').status).toBe('running');
    expect(story.acks.slice(-2)).toEqual([
      { type: 'pause_ack', requestId: 'p1', epoch: 1 },
      { type: 'resume_ack', requestId: 'r1', epoch: 1 },
    ]);
  });

  test('2.3 an ack that is repeated, late or of another epoch is recorded and obeyed by nobody', () => {
    const story = new Story().running().control('pause', 'p1').ack('p1').ack('p1');
    story.control('resume', 'r1').ack('r1').control('pause', 'p2').ack('p1');
    expect(story.status).toBe('pausing');
    story.report({ type: 'control-acked', requestId: 'p2', epoch: 0 });
    story.report({ type: 'control-acked', requestId: 'p2', incarnation: 7 });
    expect(story.status).toBe('pausing');
    const ignored = story.records.flatMap((record) => (record.type === 'report-ignored' ? record.reason : []));
    expect(ignored).toEqual([
      'the request is already settled',
      'the request is already settled',
      'epoch 0 does not own the session (1 does)',
      'process 7 is over',
    ]);
    expect(story.acks.filter((ack) => ack.type === 'pause_ack')).toHaveLength(1);
    expect(story.ack('p2').status).toBe('paused');
  });

  test('2.4 a second request is told what is under way, and since when', () => {
    const story = new Story().running().control('pause', 'p1').tick(12_000);
    expect(story.refusal({ type: 'control', kind: 'interrupt', requestId: 'i' })).toMatchObject({
      code: 'lifecycle_request_in_progress',
      kind: 'pause',
      requestId: 'p1',
      since: '1970-01-01T00:16:40.000Z',
    });
    expect(story.commandTypes().filter((type) => type === 'pause')).toHaveLength(1);
  });

  test('2.4 cancel supersedes, and the late ack of what it superseded changes nothing', () => {
    const story = new Story().running().control('pause', 'p1').control('cancel', 'c1');
    expect(story.recordTypes()).toContain('control-superseded');
    expect(story.ack('p1').status).toBe('cancelling');
    expect(story.ack('c1').status).toBe('cancelled');
    expect(story.acks.at(-1)).toEqual({ type: 'stop_ack', requestId: 'c1', epoch: 1 });
  });

  test.each(live.flatMap((status) => [[status, 'acked'] as const, [status, 'silent'] as const]))(
    '2.5 cancel from %s, %s, ends in cancelled and leaves no process',
    (status, agent) => {
      const story = storyIn(status);
      if (status !== 'cancelling') story.control('cancel', 'c');
      if (agent === 'acked' && story.status === 'cancelling') story.ack(story.state.control?.requestId ?? '');
      story.pass(15_000);
      expect(story.status).toBe('cancelled');
      const started = story.commandTypes().filter((type) => type === 'start').length;
      expect(story.commandTypes().filter((type) => type === 'stop')).toHaveLength(started);
      expect(story.state.slot.kind).toBe('none');
    },
  );

  test('2.6 a session without a process is cancelled in one decision, and nobody is told to do anything', () => {
    const story = new Story().start({ slot: 'wanted' }).control('cancel', 'c');
    expect(story.recordTypes().slice(-3)).toEqual(['control-confirmed', 'message-cancelled', 'ended']);
    expect(story.commands).toEqual([]);
    expect(story.acks).toEqual([{ type: 'stop_ack', requestId: 'c', epoch: 0 }]);
  });

  test('2.7 interrupt withdraws the question, ends the turn and holds the queue', () => {
    const story = new Story().running().send('a').question('q1').control('interrupt', 'i1');
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 1 })).toMatchObject({
      code: 'withdrawn',
      reason: 'the turn was interrupted',
    });
    expect(story.commandTypes()).toContain('withdraw');
    story.ack('i1');
    expect(story.status).toBe('interrupted');
    expect(story.records).toContainEqual(expect.objectContaining({ type: 'turn-ended', outcome: 'interrupted' }));
    expect(story.pass(60_000).deliveries()).toEqual(['first']);
    story.send('b');
    expect(story.status).toBe('running');
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('2.7 resume from interrupted lets the queue go on; with nothing queued the session is idle', () => {
    const story = new Story().running().send('a').control('interrupt', 'i1').ack('i1').control('resume', 'r1');
    expect(story.deliveries()).toEqual(['first', 'a']);
    expect(new Story().running().control('interrupt', 'i').ack('i').control('resume', 'r').status).toBe('idle');
  });

  test('2.12 resume after a turn that was cut says `continue` first, once, where there is a conversation', () => {
    const cut = () =>
      new Story()
        .running()
        .question('q1')
        .send('a')
        .report({ type: 'claimed', epoch: 2, runner: 'r2', lost: 'the machine is gone' });
    const story = cut();
    expect(story.status).toBe('interrupted');
    expect(story.state.hold?.reason).toBe('the machine is gone; turn 1 was cut, its open request was withdrawn');
    const goOn = { type: 'control', kind: 'resume', requestId: 'r1', goOn: 'go-on' } as const;
    story.wish(goOn).wish(goOn);
    expect(story.state.queue.entries.live.get('go-on')).toMatchObject({ content: 'continue', source: 'system' });
    expect(
      cut()
        .control('resume', 'r1')
        .records.filter(({ type }) => type === 'message-enqueued'),
    ).toHaveLength(2);
    const unread = new Story().start().claim();
    for (let tries = 0; tries < 3; tries++) {
      unread.ready();
      const undelivered = [unread.inFlight().dispatchId];
      unread.report({ type: 'process-exited', error: { code: 'exited', message: 'gone' }, undelivered });
    }
    expect(unread.status).toBe('interrupted');
    expect(unread.wish(goOn).state.queue.entries.live.has('go-on')).toBe(false);
    const stopped = new Story().running().control('interrupt', 'i1').ack('i1').wish(goOn);
    expect(stopped.status).toBe('idle');
  });

  test('2.7 "stop, and do this instead": a message sent while interrupting goes as soon as it has stopped', () => {
    const story = new Story().running().control('interrupt', 'i1').send('instead', 'immediate');
    expect(story.deliveries()).toEqual(['first']);
    story.ack('i1');
    expect(story.status).toBe('running');
    expect(story.commands.at(-1)).toMatchObject({ type: 'deliver', messageId: 'instead', how: 'prompt' });
  });

  test('2.7 a late result of the interrupted turn does not end the next one when it names its turn', () => {
    const story = new Story().running().control('interrupt', 'i1').ack('i1').send('a').delivered();
    const late = { outcome: 'result', value: 'late', result: { success: true, href: '' } } as const;
    story.report({ type: 'turn-ended', ...late, turn: 1 });
    expect(story.status).toBe('running');
    story.report({ type: 'turn-ended', ...late, turn: 2 });
    expect(story.status).toBe('idle');
  });

  test('2.8 an answer while paused is kept, and handed over once on resume', () => {
    const story = new Story().running().question('q1').control('pause', 'p1').ack('p1');
    expect(story.status).toBe('paused');
    story.answer('q1');
    expect(story.commandTypes()).not.toContain('answer');
    story.control('resume', 'r1').ack('r1');
    expect(story.commands.filter((one) => one.type === 'answer')).toMatchObject([{ requestId: 'q1', response: 'yes' }]);
    expect(story.status).toBe('running');
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 2 }).code).toBe('already_answered');
  });

  test('2.8 an unanswered question is still open after resume', () => {
    const story = new Story()
      .running()
      .question('q1')
      .control('pause', 'p1')
      .ack('p1')
      .control('resume', 'r1')
      .ack('r1');
    expect(story.status).toBe('waitingForInput');
  });

  test('2.8 an agent that cannot pause is already held by its question', () => {
    const story = new Story().running({ capabilities: [] }).question('q1').control('pause', 'p1');
    expect(story.status).toBe('paused');
    story.answer('q1').control('resume', 'r1');
    expect(story.status).toBe('running');
    expect(story.commandTypes().slice(-1)).toEqual(['answer']);
  });

  test('2.9 pausing an idle session needs no agent and holds what comes', () => {
    const story = new Story().idle().control('pause', 'p1').send('a');
    expect(story.status).toBe('paused');
    expect(story.commandTypes()).not.toContain('pause');
    story.control('resume', 'r1');
    expect(story.status).toBe('running');
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('2.10 an agent without pause is held at the end of its turn', () => {
    const story = new Story().running({ capabilities: [] }).send('a').control('pause', 'p1');
    expect(story.status).toBe('pausing');
    story.result();
    expect(story.status).toBe('paused');
    expect(story.acks.at(-1)).toEqual({ type: 'pause_ack', requestId: 'p1', epoch: 1 });
    expect(story.deliveries()).toEqual(['first']);
  });

  test('2.11 a turn that ends while pausing starts nothing; the ack decides, and resume goes on', () => {
    const story = new Story().running({ capabilities: everything }).send('a').control('pause', 'p1').result();
    expect(story.status).toBe('pausing');
    expect(story.ack('p1').status).toBe('paused');
    story.control('resume', 'r1').ack('r1');
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('2.12 after resume everything Immediate goes before anything Queued', () => {
    const story = new Story()
      .running({ capabilities: ['pause'] })
      .control('pause', 'p')
      .ack('p');
    story.send('q1').send('q2').send('i1', 'immediate').send('i2', 'immediate');
    story.control('resume', 'r').ack('r').result();
    for (let turn = 0; turn < 4; turn++) story.delivered().result();
    expect(story.deliveries()).toEqual(['first', 'i1', 'i2', 'q1', 'q2']);
  });

  test('2.13 a refused pause is taken back with the reason; a refused cancel goes on by force', () => {
    const story = new Story().running().control('pause', 'p1');
    story.report({ type: 'control-refused', requestId: 'p1', reason: 'not now' });
    expect(story.events.at(-1)).toEqual({ type: 'status', status: 'running', previous: 'pausing', reason: 'not now' });
    story.control('cancel', 'c1').report({ type: 'control-refused', requestId: 'c1', reason: 'never' });
    expect(story.status).toBe('cancelling');
    expect(story.commandTypes().at(-1)).toBe('terminate');
    expect(story.pass(15_000).status).toBe('cancelled');
  });

  test('2.5 a result that arrives while cancelling is kept, and the end stays cancelled', () => {
    const story = new Story().running({ once: true }).control('cancel', 'c1').result();
    expect(story.status).toBe('cancelling');
    expect(story.exit().status).toBe('cancelled');
    expect(story.state.result).toEqual({ text: 'done' });
  });

  test('a once session whose result arrives while pausing is complete', () => {
    const story = new Story().running({ once: true }).control('pause', 'p1').result();
    expect(story.status).toBe('completed');
    expect(story.recordTypes()).toContain('control-superseded');
  });

  test('2.14 the same request again is the same request, under way and after it was settled', () => {
    const story = new Story().running().control('pause', 'p1').control('pause', 'p1');
    expect(story.last?.records).toEqual([]);
    story.ack('p1').control('resume', 'r1').ack('r1');
    story.control('pause', 'p1');
    expect(story.last?.records).toEqual([]);
    expect(story.status).toBe('running');
  });

  test('2.10 an agent that could be told to stop and not to go on is held at the end of its turn instead', () => {
    const story = new Story().running({ capabilities: ['pause'] }).control('pause', 'p1');
    expect(story.result().status).toBe('paused');
    expect(story.control('resume', 'r1').status).toBe('idle');
  });
});
