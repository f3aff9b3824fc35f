import type { AgentEvent, SuspendEvent } from '@concerto/protocol';
import { describe, expect, it } from 'vitest';
import {
  AgentEventConsumer,
  AgentRunError,
  AgentService,
  buildHooksFromSink,
  LocalAgentEventBridge,
  LocalAgentRun,
  mergeHooks,
} from '../src/index.ts';

const question: SuspendEvent = {
  type: 'waitForInput',
  requestId: 'r1',
  prompt: { parts: [{ text: 'What next?' }] },
  inputType: 'text',
};
const thought = (text: string): AgentEvent => ({ type: 'thought', text });

describe('a consumer', () => {
  it('calls the one handler of a type at once, the later in place of the earlier, and gives back what it returns', () => {
    const heard: string[] = [];
    const consumer = new AgentEventConsumer()
      .on('thought', () => heard.push('never'))
      .on('thought', (event) => {
        heard.push(event.text);
      });
    expect(consumer.handle(thought('a'))).toBeUndefined();
    expect(consumer.handle({ type: 'finish' })).toBeUndefined();
    expect(heard).toEqual(['a']);
    consumer.on('waitForInput', () => Promise.resolve('typed'));
    expect(consumer.handle(question)).toBeInstanceOf(Promise);
  });
});

describe('the local bridge', () => {
  it('handles at once while nothing is pending, and waits for handlers in order when they take their time', async () => {
    const heard: string[] = [];
    const consumer = new AgentEventConsumer().on('thought', async (event) => {
      heard.push(`begin ${event.text}`);
      await new Promise((resolve) => setTimeout(resolve, event.text === 'slow' ? 20 : 0));
      heard.push(`end ${event.text}`);
    });
    const bridge = new LocalAgentEventBridge(consumer);
    bridge.emit(thought('slow'));
    bridge.emit(thought('quick'));
    expect(heard).toEqual(['begin slow']);
    await bridge.drained();
    expect(heard).toEqual(['begin slow', 'end slow', 'begin quick', 'end quick']);
  });

  it('tells the producer of a handler that throws, at once or at its next word', async () => {
    const consumer = new AgentEventConsumer()
      .on('thought', () => {
        throw new Error('at once');
      })
      .on('content', () => Promise.reject(new Error('later')));
    const bridge = new LocalAgentEventBridge(consumer);
    expect(() => bridge.emit(thought('x'))).toThrow('at once');
    bridge.emit({ type: 'content', content: { parts: [{ text: 'y' }] } });
    await expect(bridge.drained()).rejects.toThrow('the handler of `content` failed: later');
    bridge.emit({ type: 'finish' });
  });

  it('gives failures to whoever takes them', async () => {
    const errors: unknown[] = [];
    const consumer = new AgentEventConsumer().on('thought', () => Promise.reject(new Error('later')));
    const bridge = new LocalAgentEventBridge(consumer, { onError: (error) => errors.push(error) });
    bridge.emit(thought('x'));
    await bridge.drained();
    expect(errors).toHaveLength(1);
  });

  it('answers a suspend with what the handler returns, while later events go on', async () => {
    const heard: string[] = [];
    let answer: (text: string) => void = () => {};
    const consumer = new AgentEventConsumer()
      .on('waitForInput', () => new Promise<string>((resolve) => (answer = resolve)))
      .on('thought', (event) => heard.push(event.text));
    const bridge = new LocalAgentEventBridge(consumer);
    const asked = bridge.suspend<string>(question);
    bridge.emit(thought('meanwhile'));
    await Promise.resolve();
    expect(heard).toEqual(['meanwhile']);
    answer('done');
    await expect(asked).resolves.toBe('done');
  });

  it('rejects a suspend that nobody answers, and one whose handler fails', async () => {
    const consumer = new AgentEventConsumer();
    const bridge = new LocalAgentEventBridge(consumer);
    await expect(bridge.suspend(question)).rejects.toMatchObject({ code: 'no_handler' });
    consumer.on('waitForInput', () => {
      throw new Error('the dialog broke');
    });
    await expect(bridge.suspend(question)).rejects.toMatchObject({ code: 'handler_failed' });
  });

  it('an abort settles what is open, and what comes after it', async () => {
    const run = new LocalAgentRun('r', 'test');
    let given: AbortSignal | undefined;
    run.events.on('waitForInput', (_, { signal }) => {
      given = signal;
      return new Promise(() => {});
    });
    const asked = run.sink.suspend(question);
    run.abort();
    run.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await expect(run.sink.suspend(question)).rejects.toMatchObject({ name: 'AbortError' });
    expect(given?.aborted).toBe(true);
    expect([run.aborted, run.signal.aborted]).toEqual([true, true]);
  });
});

describe('a service', () => {
  const config = { kind: 'graph-editing', objective: { parts: [{ text: 'test' }] } };

  it('keeps its runs until they end', () => {
    const service = new AgentService();
    const [one, two] = [service.startRun(config), service.startRun(config)];
    expect(one.runId).not.toBe(two.runId);
    expect([one.kind, service.getRun(one.runId)]).toEqual(['graph-editing', one]);
    expect(service.activeRunIds).toEqual([one.runId, two.runId]);
    service.endRun(one.runId);
    two.abort();
    service.endRun('nobody');
    expect([service.activeRunIds, service.getRun(one.runId)]).toEqual([[], undefined]);
  });

  it('starts runs here or on a server, as it was told last', () => {
    const service = new AgentService();
    service.configureRemote('http://127.0.0.1:1');
    expect('sink' in service.startRun(config)).toBe(false);
    service.configureRemote(null);
    expect('sink' in service.startRun(config)).toBe(true);
    expect(service.isRemote).toBe(false);
  });
});

describe('hooks', () => {
  it('become events, and a call gets a reporter of its own', () => {
    const events: AgentEvent[] = [];
    const hooks = buildHooksFromSink({
      emit: (event) => events.push(event),
      suspend: () => Promise.reject(new Error()),
    });
    hooks.onStart({ parts: [{ text: 'art' }] });
    const { callId, reporter } = hooks.onFunctionCall({ functionCall: { name: 'paint' } }, 'brush', 'Painting');
    const data = { step: 1 };
    reporter?.addJson('Preparing', data, 'hourglass');
    data.step = 2;
    const error = { $error: 'no paint' };
    expect(reporter?.addError(error)).toBe(error);
    reporter?.finish();
    reporter?.finish();
    reporter?.addJson('late', {});
    hooks.onFunctionCallUpdate(callId, null);
    hooks.onFunctionResult(callId, { parts: [{ text: 'done' }] });
    hooks.onTurnComplete();
    hooks.onFinish();
    expect(events).toEqual([
      { type: 'start', objective: { parts: [{ text: 'art' }] } },
      { type: 'functionCall', callId, name: 'paint', args: {}, icon: 'brush', title: 'Painting' },
      { type: 'subagentAddJson', callId, title: 'Preparing', data: { step: 1 }, icon: 'hourglass' },
      { type: 'subagentError', callId, error },
      { type: 'subagentFinish', callId },
      { type: 'functionCallUpdate', callId, status: null },
      { type: 'functionResult', callId, content: { parts: [{ text: 'done' }] } },
      { type: 'turnComplete' },
      { type: 'finish' },
    ]);
  });

  it('of several sets are all called; the first names a function call', () => {
    const heard: string[] = [];
    const named = (name: string) => ({
      onThought: (text: string) => void heard.push(`${name} ${text}`),
      onFunctionCall: () => ({ callId: name, reporter: null }),
    });
    const hooks = mergeHooks({ onFinish: () => void heard.push('end') }, named('a'), named('b'));
    hooks.onThought?.('x');
    hooks.onFinish?.();
    expect(hooks.onFunctionCall?.({ functionCall: { name: 'f' } }).callId).toBe('a');
    expect(heard).toEqual(['a x', 'b x', 'end']);
    expect('onFunctionCall' in mergeHooks({})).toBe(false);
  });
});

it('a failure has a code and its cause', () => {
  const cause = new Error('why');
  expect(new AgentRunError('ended_early', 'too soon', cause)).toMatchObject({ code: 'ended_early', cause });
});
