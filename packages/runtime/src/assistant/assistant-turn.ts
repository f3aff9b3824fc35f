import { type Json, type JsonObject, nearest } from '@concerto/base';
import type { AssistantCall, AssistantHistory, CallResult } from './assistant-history.ts';
import { failureEvents, isObject, resultEvent, resultText } from './assistant-result.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import { askModel, type StepReply } from './assistant-step.ts';
import { type AssistantTool, findTool } from './assistant-tools.ts';
import { type AssistantVoice, StepDraft } from './assistant-voice.ts';

/** How often a model is asked in one turn, unless its declaration says otherwise. */
const stepsMax = 50;
/** So often in a row it may write signals that are none. */
const slipsMax = 3;
/** How often one call may say what it is doing; the rest is not shown: each is an entry of the log. */
const updatesMax = 200;
/** How much of the arguments a person is shown in the question itself; all of them stand beside it. */
const shownArgumentsMax = 500;

export type AssistantTurn = {
  readonly spec: AssistantSpec;
  readonly history: AssistantHistory;
  readonly tools: ReadonlyMap<string, AssistantTool>;
  readonly voice: AssistantVoice;
  readonly signal: AbortSignal;
  readonly mintCallId: () => string;
  readonly now: () => number;
  /** Waits while the session is paused; rejects once the turn is over. */
  readonly boundary: () => Promise<void>;
  readonly unfrozen: () => Promise<void>;
  /** What the user has said into the turn since the last time. */
  readonly takeSteered: () => readonly string[];
  /** From now on nobody can speak into the turn; false when somebody just has. */
  readonly close: () => boolean;
};

/** A turn that cannot come to its end by itself. */
export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';
  readonly code: 'step_limit' | 'signals';

  constructor(code: TurnFailure['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Asks the model and runs what it calls until it has nothing more to call; resolves with the result's fields. */
export async function runTurn(turn: AssistantTurn): Promise<JsonObject> {
  const { history, spec } = turn;
  const limit = spec.maxSteps ?? stepsMax;
  try {
    for (let step = 0, slips = 0; step < limit; step++) {
      await turn.boundary();
      hearSteered(turn);
      const { text, calls, slip, finish } = await takeStep(turn);
      slips = slip === undefined ? 0 : slips + 1;
      if (slip !== undefined) {
        if (slips > slipsMax) throw new TurnFailure('signals', `the model cannot keep to the signals: ${slip.told}`);
        turn.voice.note(slip.told, { written: slip.written });
        history.add({ kind: 'system', text: slip.told });
      } else if (calls.length > 0) await runCalls(turn, calls);
      // Whoever spoke into the last answer is answered in this turn too.
      else if (turn.close()) return { text, ...(finish === 'length' ? { finish_reason: finish } : {}) };
    }
    throw new TurnFailure('step_limit', `the turn was ended: the model was asked ${limit} times and wants to go on`);
  } finally {
    // What came too late for this turn was said all the same: the next one hears it.
    hearSteered(turn);
  }
}

function hearSteered({ history, takeSteered }: AssistantTurn): void {
  for (const text of takeSteered()) history.add({ kind: 'user', text });
}

/** What the model has said stays in the conversation, also when it was cut off. */
async function takeStep(turn: AssistantTurn): Promise<StepReply & { readonly text: string }> {
  const { spec, history, voice, signal, unfrozen } = turn;
  const draft = new StepDraft(voice);
  let reply: StepReply | undefined;
  try {
    const tools = [...turn.tools.values()].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    reply = await askModel({ spec, said: history.said, tools, draft, signal, used: voice.used, unfrozen });
    return { ...reply, text: draft.text };
  } finally {
    draft.end();
    const { text, thought } = draft;
    const { calls = [], slip } = reply ?? {};
    if (text !== '' || calls.length > 0 || slip !== undefined) {
      history.add({ kind: 'model', text, thought, calls, ...(slip === undefined ? {} : { slip: slip.written }) });
    }
  }
}

/** One after the other, so that each may be held, refused or interrupted by itself; every call gets a result. */
async function runCalls(turn: AssistantTurn, calls: readonly AssistantCall[]): Promise<void> {
  const results: CallResult[] = [];
  try {
    for (const call of calls) {
      await turn.boundary();
      results.push(await runCall(turn, call));
    }
  } finally {
    for (const { id, name } of calls.slice(results.length)) {
      results.push({ id, name, text: 'not run: the turn was interrupted', failed: true });
    }
    turn.history.add({ kind: 'results', results });
  }
}

async function runCall(turn: AssistantTurn, call: AssistantCall): Promise<CallResult> {
  const { voice, signal } = turn;
  const { id, name, args } = call;
  const callId = turn.mintCallId();
  const shown = findTool(turn.tools, name)?.name ?? name;
  voice.show({ type: 'functionCall', callId, name: shown, args: isObject(args) ? { ...args } : {} });
  try {
    // A function may change the world: that it was called is known even if we are gone a moment later.
    await voice.recorded(signal);
    const value = await perform(turn, call, callId);
    voice.show(resultEvent(callId, call, value));
    return { id, name, text: resultText(value), failed: false };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = signal.aborted ? 'the turn was interrupted' : why;
    voice.show(...failureEvents(callId, call, message));
    return { id, name, text: message, failed: true };
  }
}

async function perform(turn: AssistantTurn, { name, args }: AssistantCall, callId: string): Promise<Json> {
  const { voice, signal, now } = turn;
  let updates = 0;
  const tool = findTool(turn.tools, name);
  if (tool === undefined) throw new Error(noSuchFunction(name, [...turn.tools.keys()]));
  if (!isObject(args)) throw new Error('the arguments are not an object');
  if (tool.asks) await askLeave(turn, tool.name, args);
  return await tool.run(args, {
    signal,
    now,
    ask: (event) => voice.ask(event, signal),
    show: (event) => voice.show(event),
    status: (status) => {
      updates += 1;
      if (updates <= updatesMax) voice.show({ type: 'functionCallUpdate', callId, status });
    },
  });
}

async function askLeave({ voice, signal }: AssistantTurn, name: string, args: JsonObject): Promise<void> {
  const written = JSON.stringify(args);
  const shown = written.length <= shownArgumentsMax ? written : `${written.slice(0, shownArgumentsMax)}…`;
  const scope = { description: `Call ${name} with ${shown}`, tool: name, args };
  const answer = await voice.ask({ type: 'queryConsent', consentType: 'approval', scope, graphUrl: '' }, signal);
  if (answer === 'yes') return;
  const why = typeof answer === 'string' && answer !== 'no' ? `: ${answer}` : '';
  throw new Error(`the user did not allow this call${why}`);
}

function noSuchFunction(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `there is no function ${JSON.stringify(name)}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`;
}
