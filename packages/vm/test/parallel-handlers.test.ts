import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import type { Answer, Effect, Request } from '../src/effects.ts';
import { failSession } from '../src/fail-session.ts';
import type { Vm } from '../src/machine.ts';
import { restore } from '../src/restore.ts';
import { snapshot } from '../src/snapshot.ts';
import { createVm, pendingRequests, type RunStatus, resume, run } from '../src/vm.ts';
import { ok, withModel } from './conversation.ts';
import type { FunctionBuilder } from './support.ts';

/** Waits for as long as the message says, then answers with its id, or raises when the message says so. */
function handle(f: FunctionBuilder): void {
  f.emit('GetField', 2, 0, f.name('ms'));
  f.builtin(1, 'std::time::sleep', 2, 1);
  f.emit('GetField', 1, 0, f.name('fails'));
  const fine = f.label();
  f.emit('JumpIfNot', 1, fine);
  f.string(1, 'no idea');
  f.emit('Raise', 1);
  f.place(fine);
  f.emit('GetField', 1, 0, f.name('id'));
  f.emit('Return', 1);
}

/** The program sleeps so long when its listen has ended: what is left of it then can be seen. */
const AFTERWARDS_MS = 77_777;

/** main listens to A: questions beside it, progress in order. */
function listening(): IrModule {
  const program = withModel();
  program.module.agents.push({ name: 'A', connector: 'a', config: {}, decorators: [] });
  const beside = program.fn('beside', { params: 1, registers: 8 }, handle);
  const inOrder = program.fn('inOrder', { params: 1, registers: 8 }, handle);
  program.module.listens.push({
    name: '$listen_0',
    method: 'execute',
    handlers: [
      { keys: ['question'], params: 1, parallel: true },
      { keys: ['progress'], params: 1 },
    ],
  });
  program.fn('main', {}, (f) => {
    f.constant(2, { kind: 'agent', name: 'A' });
    f.string(3, 'go');
    f.constant(4, { kind: 'function', index: beside });
    f.constant(5, { kind: 'function', index: inOrder });
    f.emit('ListenBegin', 0, 0, 2);
    f.emit('LoadInt', 2, AFTERWARDS_MS);
    f.builtin(1, 'std::time::sleep', 2, 1);
    f.emit('Return', 0);
  });
  return program.build();
}

/** A program whose agent says what the test wants when the test wants it; it moves to another VM whenever it waits. */
class Conversation {
  readonly module = listening();
  vm: Vm = createVm(this.module, { entry: 'main' });
  readonly effects: Effect[] = [];
  status: RunStatus = { status: 'running' };
  /** When the listen had ended. */
  leftBehind = { fibers: -1, requests: -1 };

  constructor() {
    this.#run();
    this.answer('agent_open', ok({ session: 's1' }));
  }

  says(message: Json): void {
    this.answer('agent_next', ok({ message }));
  }

  /** Answers the oldest request of a kind. */
  answer(kind: Request['kind'], answer: Answer, fits: (request: Request) => boolean = () => true): void {
    const asked = pendingRequests(this.vm).find((request) => request.kind === kind && fits(request));
    if (asked === undefined || !resume(this.vm, asked.id, answer)) throw new Error(`nobody waits for ${kind}`);
    this.#run();
  }

  /** The sleep of so many milliseconds is over. */
  wakes(ms: number): void {
    this.answer('sleep', ok(null), (request) => request.kind === 'sleep' && request.ms === ms);
  }

  expires(session = 's1'): boolean {
    const failed = failSession(this.vm, session, { kind: 'timeout', message: 'too late' });
    this.#run();
    return failed;
  }

  get waitsFor(): string[] {
    return pendingRequests(this.vm).map(({ kind }) => kind);
  }

  get replies(): Json[] {
    return this.effects.flatMap((effect) => (effect.kind === 'agent_reply' ? [JSON.parse(effect.line)] : []));
  }

  get events(): string[] {
    return this.effects.flatMap((effect) => (effect.kind === 'emit' ? [effect.channel] : []));
  }

  get result(): string {
    return this.status.status === 'done' ? display(this.status.value) : this.status.status;
  }

  #run(): void {
    const { effects, ...status } = run(this.vm);
    this.effects.push(...effects);
    this.status = status;
    const last = pendingRequests(this.vm).find((asked) => asked.kind === 'sleep' && asked.ms === AFTERWARDS_MS);
    if (last !== undefined) {
      this.leftBehind = { fibers: this.vm.fibers.size - 1, requests: this.vm.pending.size - 1 };
      resume(this.vm, last.id, ok(null));
      return this.#run();
    }
    if (status.status === 'waiting') this.vm = restore(this.module, JSON.parse(JSON.stringify(snapshot(this.vm))));
  }
}

const question = (id: number | null, ms: number): Json => ({ type: 'question', ms, ...(id === null ? {} : { id }) });
const done = { type: 'result', text: 'done' };

describe('handlers beside a listen', () => {
  test('each answer goes out when it is ready, with the id of its question', () => {
    const talk = new Conversation();
    talk.says(question(1, 30));
    talk.says(question(2, 10));
    expect(talk.waitsFor).toEqual(['sleep', 'sleep', 'agent_next']);
    talk.wakes(10);
    talk.wakes(30);
    expect(talk.replies).toEqual([
      { type: 'response', in_reply_to: 'question', in_reply_to_id: 2, value: 2 },
      { type: 'response', in_reply_to: 'question', in_reply_to_id: 1, value: 1 },
    ]);
    talk.says(done);
    expect(talk.result).toBe('Ok({"text": done})');
    expect(talk.events).toEqual(['listen:start', 'listen:complete']);
  });

  test('the world hears when the agent may be silent because of us', () => {
    const talk = new Conversation();
    talk.says(question(1, 30));
    talk.says(question(2, 10));
    talk.wakes(10);
    const heard = (): unknown[] => talk.effects.filter((effect) => effect.kind === 'agent_handling');
    expect(heard()).toEqual([{ kind: 'agent_handling', session: 's1', handling: true }]);
    talk.wakes(30);
    expect(heard()).toEqual([
      { kind: 'agent_handling', session: 's1', handling: true },
      { kind: 'agent_handling', session: 's1', handling: false },
    ]);
  });

  test('a question without an id is answered before the next message is taken', () => {
    const talk = new Conversation();
    talk.says(question(null, 30));
    expect(talk.waitsFor).toEqual(['sleep']);
  });

  test('the result waits for them, and nothing is sent to an agent that has ended its work', () => {
    const talk = new Conversation();
    talk.says(question(1, 30));
    talk.says(done);
    expect(talk.status.status).toBe('waiting');
    talk.wakes(30);
    expect(talk.result).toBe('Ok({"text": done})');
    expect(talk.replies).toEqual([]);
  });

  test('when the time of the session is over they are ended, and the result stays', () => {
    const talk = new Conversation();
    talk.says(question(1, 30));
    talk.says(done);
    expect(talk.expires()).toBe(true);
    expect(talk.result).toBe('Ok({"text": done})');
    expect(talk.events).toEqual(['listen:start', 'listen:unfinished', 'listen:complete']);
    expect(talk.effects.some((effect) => effect.kind === 'cancel')).toBe(true);
  });

  test('a handler that fails ends the others and the session, whatever the listen waits for', () => {
    for (const last of [question(3, 50), { type: 'progress', ms: 50 }, done]) {
      const talk = new Conversation();
      talk.says(question(1, 30));
      talk.says({ type: 'question', id: 2, ms: 10, fails: true });
      talk.says(last);
      talk.wakes(10);
      expect(talk.result).toBe('Err(the handler of "question" failed: no idea)');
      expect(talk.effects).toContainEqual({ kind: 'agent_close', session: 's1', reason: 'done' });
      expect(talk.leftBehind).toEqual({ fibers: 0, requests: 0 });
    }
  });

  test('the end of the process ends them', () => {
    const exited = new Conversation();
    exited.says(question(1, 30));
    exited.answer('agent_next', { ok: false, error: { kind: 'exited', message: 'agent exited without result' } });
    expect(exited.result).toBe('Err(agent exited without result)');
    expect(exited.leftBehind).toEqual({ fibers: 0, requests: 0 });
  });
});

/** What can happen to a conversation; where it cannot happen now, it does not. */
type Step = 'question' | 'broken' | 'progress' | 'stumble' | 'result' | 'exit' | 'oldest' | 'newest' | 'expires';

function take(talk: Conversation, step: Step, id: number): void {
  const asked = pendingRequests(talk.vm);
  const sleeping = asked.filter((request) => request.kind === 'sleep');
  const isRead = asked.some(({ kind }) => kind === 'agent_next');
  switch (step) {
    case 'question':
    case 'broken':
      if (isRead) talk.says({ type: 'question', id, ms: id, fails: step === 'broken' });
      return;
    case 'progress':
    case 'stumble':
      if (isRead) talk.says({ type: 'progress', ms: id, fails: step === 'stumble' });
      return;
    case 'result':
      if (isRead) talk.says(done);
      return;
    case 'exit':
      if (isRead) talk.answer('agent_next', { ok: false, error: { kind: 'exited', message: 'gone' } });
      return;
    case 'oldest':
    case 'newest': {
      const woken = step === 'oldest' ? sleeping[0] : sleeping.at(-1);
      if (woken?.kind === 'sleep') talk.wakes(woken.ms);
      return;
    }
    case 'expires':
      talk.expires();
  }
}

test('whatever happens in whatever order, every answer has its own id and nothing is left at the end', () => {
  const steps = fc.array(
    fc.constantFrom<Step>(
      ...(['question', 'question', 'question', 'oldest', 'newest', 'newest'] as const),
      ...(['progress', 'stumble', 'broken', 'result', 'exit', 'expires'] as const),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const talk = new Conversation();
      all.forEach((step, id) => {
        if (talk.status.status === 'waiting') take(talk, step, id);
      });
      // Whoever still sleeps wakes up, and the agent comes to its end.
      for (let turn = 0; turn < 200 && talk.status.status === 'waiting'; turn++)
        take(talk, turn % 2 === 0 ? 'oldest' : 'result', turn);
      expect(talk.status.status).toBe('done');
      expect(talk.leftBehind).toEqual({ fibers: 0, requests: 0 });
      expect(talk.effects.filter((effect) => effect.kind === 'agent_close')).toHaveLength(1);
      const ids = talk.replies.map((reply) => JSON.stringify(reply));
      expect(new Set(ids).size).toBe(ids.length);
      for (const reply of talk.replies) expect(reply).toMatchObject({ in_reply_to: 'question' });
    }),
    { numRuns: 300 },
  );
});

describe('a session whose time is over', () => {
  test('ends the handler that runs in order', () => {
    const talk = new Conversation();
    talk.says({ type: 'progress', ms: 50 });
    expect(talk.expires()).toBe(true);
    expect(talk.result).toBe('Err(too late)');
    expect(talk.leftBehind).toEqual({ fibers: 0, requests: 0 });
    expect(talk.effects).toContainEqual({ kind: 'agent_close', session: 's1', reason: 'done' });
  });

  test('is nobody’s business when it has ended already', () => {
    const talk = new Conversation();
    expect(talk.expires('s2')).toBe(false);
    talk.says(done);
    expect(talk.expires()).toBe(false);
    expect(talk.result).toBe('Ok({"text": done})');
  });
});
