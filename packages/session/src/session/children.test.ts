import { describe, expect, test } from 'vitest';
import { Story } from '../../test/story.ts';
import { GrownSet } from '../grown-set.ts';
import { couldNotStart } from './status.ts';
import { messageOf, promptProgress, runningPrompt, sessionView, waitingOf } from './view.ts';

describe('children', () => {
  test('10.1 a session knows those that it opened, each once; its view counts them', () => {
    const story = new Story().running({ kind: 'program' });
    story.report({ type: 'child-opened', child: 'c1' }).report({ type: 'child-opened', child: 'c1' });
    expect(story.recordTypes().filter((type) => type === 'child-opened')).toHaveLength(1);
    expect(sessionView(story.state, 0).children).toBe(1);
  });

  test('10.1 what is decided upon an older state does not see what was opened since', () => {
    const none = GrownSet.empty();
    const one = none.with('a');
    const two = one.with('b');
    const other = one.with('c');
    expect([none, one, two, other, two.with('a'), other.with('b')].map((set) => [...set].join(''))).toEqual([
      '',
      'a',
      'ab',
      'ac',
      'ab',
      'acb',
    ]);
    expect([one.has('b'), two.has('b'), two.has('c'), other.has('c'), one.size]).toEqual([false, true, false, true, 1]);
  });

  test('10.2 one that is not needed any more ends as its last turn did; one at work is cancelled', () => {
    const idle = new Story().running().result();
    expect(idle.wish({ type: 'finish' }).status).toBe('completed');
    expect(new Story().running().wish({ type: 'finish' }).status).toBe('cancelled');
    expect(idle.wish({ type: 'finish' }).status).toBe('completed');
    const cancelling = new Story().running().wish({ type: 'control', kind: 'cancel', requestId: 'x1' });
    expect(cancelling.wish({ type: 'finish' }).status).toBe('cancelling');
  });

  test('10.2 one that somebody interrupted was not completed, nor one whose agent was lost', () => {
    const interrupted = new Story().running().control('interrupt', 'i').ack('i');
    interrupted.wish({ type: 'finish' });
    expect(interrupted.events.slice(-3)).toMatchObject([
      { type: 'status', status: 'cancelled', previous: 'interrupted', reason: 'interrupted' },
      { type: 'error', message: 'cancelled' },
      { type: 'finish' },
    ]);
    const goesOn = new Story()
      .running()
      .control('interrupt', 'i')
      .ack('i')
      .wish({ type: 'control', kind: 'resume', requestId: 'r' });
    expect(goesOn.wish({ type: 'finish' }).status).toBe('completed');
    const lost = new Story().running().report({ type: 'claimed', epoch: 2, runner: 'other' });
    expect(lost.wish({ type: 'finish' }).status).toBe('failed');
  });

  test('10.2 one that is being cancelled ends cancelled, whatever its agent said to the withdrawn question', () => {
    const story = new Story().running().question('q1').control('cancel', 'c').result('then without');
    expect(story.wish({ type: 'finish' }).status).toBe('cancelling');
    expect(story.ack('c').status).toBe('cancelled');
    expect(story.events.slice(-3)).toMatchObject([
      { type: 'status', status: 'cancelled' },
      { type: 'error', message: 'cancelled' },
      { type: 'finish' },
    ]);
  });

  test('10.3 a reply to what was no request is on record before the agent has it, and none goes to one that is gone', () => {
    const story = new Story().running().wish({ type: 'respond', line: '{"type":"response"}' });
    expect(story.commands.at(-1)).toMatchObject({ type: 'respond', line: '{"type":"response"}' });
    expect(story.recordTypes().at(-1)).toBe('responded');
    story.report({ type: 'process-exited', error: { code: 'exited', message: 'gone' } });
    const commands = story.commands.length;
    story.wish({ type: 'respond', line: '{}' });
    expect(story.commands).toHaveLength(commands);
  });

  test('10.4 an answer as its giver wrote it reaches the agent so, and says where it was decided', () => {
    const story = new Story().running().question('q1');
    const because = { session: 'parent', seq: 7 };
    story.wish({ type: 'answer', requestId: 'q1', response: 1, line: '{"value":1.0}', because });
    story.attend();
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', line: '{"value":1.0}' });
    expect(story.events.find((event) => event.type === 'requestSettled')).toMatchObject({ because });
  });
});

test('10.8 one whose start failed says so, and not before', () => {
  const story = new Story().start().claim();
  expect(couldNotStart(story.state)).toBe(false);
  story.report({ type: 'start-failed', error: { code: 'spawn-failed', message: 'no such program' } });
  expect(couldNotStart(story.state)).toBe(true);
  expect(waitingOf(story.state)?.detail).toBe(
    '1 message is held until a message is sent or the session resumed: no such program',
  );
  story
    .send('again')
    .report({ type: 'agent-ready', capabilities: [], incarnation: 2 })
    .control('interrupt', 'i')
    .ack('i');
  expect(waitingOf(story.state)?.detail).not.toContain('no such program');
});

describe('programs', () => {
  test('10.5 a program at work goes on with the next owner: its turn runs, its questions stay open', () => {
    const story = new Story().running({ kind: 'program' }).question('q1').claim(2);
    expect(story.status).toBe('waitingForInput');
    expect(story.commands.at(-1)).toMatchObject({ type: 'start', epoch: 2 });
    expect(runningPrompt(story.state)?.content).toBe(messageOf(story.state, 'first')?.content);
    expect(story.eventTypes()).not.toContain('requestSettled');
  });

  test('10.6 what it asks again is asked once; what was answered meanwhile it hears', () => {
    const story = new Story().running({ kind: 'program' }).question('q1').claim(2);
    const opened = story.events.length;
    story.answer('q1').ready();
    story.question('q1');
    expect(story.events.slice(opened).map((event) => event.type)).not.toContain('waitForInput');
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', response: 'yes' });
  });

  test('10.6 an answer that it was given as its owner left has its whole time with the next, however long that took', () => {
    const story = new Story().running({ kind: 'program' }).question('q1').answer('q1');
    story.report({ type: 'released', reason: 'the server is stopping' }).pass(600_000).claim(2).pass(1_000);
    expect(story.status).toBe('running');
    story.ready().question('q1');
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', response: 'yes' });
    expect(story.pass(60_000).records).toContainEqual(expect.objectContaining({ type: 'process-lost' }));
  });

  test('10.5 what a turn was begun with is known once the agent has it, and found by its name', () => {
    const story = new Story().running().result().send('second');
    expect(runningPrompt(story.state)).toBeUndefined();
    story.delivered().send('steered', 'immediate').delivered();
    const { state } = story;
    const unreachable = () => expect.unreachable('the messages before it were looked through');
    Object.assign(state.queue.entries.closed, { values: unreachable });
    expect(runningPrompt(state)?.id).toBe('second');
    story.result().question('its own turn');
    expect(story.state.turn.active).toBe(true);
    expect(runningPrompt(story.state)).toBeUndefined();
  });

  test('10.5 one that nobody works on just now can be interrupted: its turn and its questions are over', () => {
    const story = new Story().running({ kind: 'program' }).question('q1');
    story.report({ type: 'released', reason: 'it rests', rests: {} }).control('interrupt');
    expect(story.status).toBe('interrupted');
    expect(story.state.turn.active).toBe(false);
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 1 }).code).toBe('withdrawn');
  });

  test('10.7 a message tells how far the turn has come that it began', () => {
    const story = new Story().running();
    expect(promptProgress(story.state, 'first')).toBe('running');
    expect(promptProgress(story.state, 'never')).toBe('waiting');
    story.report({ type: 'process-exited', error: { code: 'exited', message: 'gone' } });
    expect(promptProgress(story.state, 'first')).toBe('over');
  });
});

describe('assistants', () => {
  const assistant = { kind: 'assistant' } as const;

  test('10.5 one that has asked somebody goes on with the next owner; what was answered meanwhile it hears', () => {
    for (const lose of [
      (story: Story) => story,
      (story: Story) => story.report({ type: 'released', reason: 'the server is stopping' }),
    ]) {
      const story = lose(new Story().running(assistant).question('q1'));
      expect(story.status).toBe('waitingForInput');
      story.claim(2);
      expect(story.state.slot.kind).toBe('held');
      expect(story.commands.at(-1)).toMatchObject({ type: 'start', epoch: 2 });
      story.answer('q1').ready();
      story.question('q1');
      expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', response: 'yes' });
      expect(story.eventTypes().filter((type) => type === 'waitForInput')).toHaveLength(1);
      story.report({ type: 'answer-delivered', requestId: 'q1' }).result();
      expect([story.status, story.state.turn.number]).toEqual(['idle', 1]);
    }
  });

  test('10.5 one that is not asking anybody is lost with its owner, and so is one that is to end', () => {
    expect(new Story().running(assistant).claim(2).status).toBe('interrupted');
    const answered = new Story().running(assistant).question('q1').answer('q1');
    answered.report({ type: 'answer-delivered', requestId: 'q1' });
    expect(answered.claim(2).status).toBe('interrupted');
    expect(new Story().running(assistant).question('q1').control('interrupt').claim(2).status).toBe('interrupted');
    expect(new Story().running(assistant).question('q1').control('cancel').claim(2).status).toBe('cancelled');
  });

  test('2.16 one that nobody runs is cancelled after those that it opened', () => {
    const story = new Story().running({ kind: 'program' }).report({ type: 'child-opened', child: 'c1' }).question('q1');
    story.control('pause', 'p').claim(2);
    expect([story.status, story.state.agentProcess.kind]).toEqual(['paused', 'none']);
    story.control('cancel', 'c');
    expect(story.status).toBe('cancelling');
    expect(story.state.requests.live.size).toBe(0);
    // Whoever takes it over, and its slot, change nothing.
    expect(story.claim(3).status).toBe('cancelling');
    expect(story.wish({ type: 'children-over' }).status).toBe('cancelled');
    expect(story.acks.at(-1)).toMatchObject({ type: 'stop_ack', requestId: 'c' });
    expect(story.wish({ type: 'children-over' }).recordTypes().at(-1)).toBe('ended');
    for (const running of [new Story().running({ kind: 'program' }), new Story().running({ kind: 'agent' })]) {
      running.report({ type: 'child-opened', child: 'c1' });
      expect(running.wish({ type: 'children-over' }).status).toBe('running');
    }
  });

  test('2.16 one that lost its owner while it was cancelled too; one of which nothing goes on below ends at once', () => {
    const lost = new Story().running({ kind: 'program' }).report({ type: 'child-opened', child: 'c1' });
    expect(lost.control('cancel', 'c').claim(2).status).toBe('cancelling');
    expect(lost.wish({ type: 'children-over' }).status).toBe('cancelled');
    const alone = new Story().running({ kind: 'program' }).report({ type: 'child-opened', child: 'c1' });
    alone.control('pause', 'p').claim(2);
    alone.wish({ type: 'control', kind: 'cancel', requestId: 'c', alone: true });
    expect(alone.status).toBe('cancelled');
  });

  test('2.16 3.1 it is ended by force when those below must have ended', () => {
    const story = new Story().running({ kind: 'program' }).report({ type: 'child-opened', child: 'c1' });
    story.control('pause', 'p').claim(2).control('cancel', 'c');
    expect(story.pass(16_000).status).toBe('cancelling');
    expect(story.pass(1_500).status).toBe('cancelled');
    expect(story.state.end?.reason).toBe('forced');
  });

  test('10.5 one that is paused waits on, takes the answer, and goes on with the resume', () => {
    const story = new Story().running(assistant).question('q1').control('pause', 'p').claim(2);
    expect(story.status).toBe('paused');
    expect(story.state.agentProcess.kind).toBe('none');
    story.answer('q1').control('resume', 'r');
    expect(story.commands.at(-1)).toMatchObject({ type: 'start', epoch: 2 });
    story.ready();
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', response: 'yes' });
  });

  test('10.5 one whose question ran out while nobody was there is started all the same', () => {
    const story = new Story().running(assistant).question('q1').claim(2);
    story.report({ type: 'request-withdrawn', requestId: 'q1', reason: 'nobody answered', incarnation: 2 });
    expect(story.state.agentProcess.kind).toBe('starting');
    story.report({ type: 'start-failed', error: { code: 'spawn-failed', message: 'no key' } });
    expect(story.status).toBe('interrupted');
    expect(story.state.slot.kind).toBe('none');
  });
});
