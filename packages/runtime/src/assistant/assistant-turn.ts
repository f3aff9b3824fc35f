import { type Json, type JsonObject, nearest } from '@concerto/base';
import { type AgentEvent, readDecision } from '@concerto/protocol';
import { type CutStep, lostText } from './assistant-cut-short.ts';
import type { AssistantFiles } from './assistant-files.ts';
import type { AssistantCall, AssistantHistory, CallResult, Utterance } from './assistant-history.ts';
import { failureEvents, isObject, resultEvent, textWithFiles, WithFiles, withFilesOf } from './assistant-result.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import { askModel, type StepReply } from './assistant-step.ts';
import { summaryOf } from './assistant-summary.ts';
import { type AssistantTool, findTool } from './assistant-tools.ts';
import { type AssistantVoice, StepDraft } from './assistant-voice.ts';

/** How often a model is asked in one turn, unless its declaration says otherwise. */
const stepsMax = 50;
/** So many functions of one step run side by side. */
const callsAtOnce = 8;
const notRun = 'not run: the turn was interrupted';
/** So often in a row it may write signals that are none, or an answer that does not fit its schema. */
const slipsMax = 3;
/** How often one call may say what it is doing; the rest is not shown: each is an entry of the log. */
const updatesMax = 200;
/** How much of the arguments a person is shown in the question itself; all of them stand beside it. */
const shownArgumentsMax = 500;

export type AssistantTurn = {
  readonly spec: AssistantSpec;
  readonly history: AssistantHistory;
  readonly files: AssistantFiles;
  /** What processes of its functions carry. */
  readonly marker: string;
  readonly tools: ReadonlyMap<string, AssistantTool>;
  readonly renewTools: () => Promise<void>;
  readonly voice: AssistantVoice;
  readonly signal: AbortSignal;
  readonly mintId: (prefix: 'call' | 'msg') => string;
  readonly now: () => number;
  /** Waits while the session is paused; rejects once the turn is over. */
  readonly boundary: () => Promise<void>;
  readonly unfrozen: () => Promise<void>;
  /** What the user has said into the turn since the last time. */
  readonly takeSteered: () => readonly Steer[];
  /** From now on nobody can speak into the turn; false when somebody just has. */
  readonly close: () => boolean;
};

/** What a person said into the turn; the id is the queue's. */
export type Steer = Utterance & { readonly id: string };

/** A turn that cannot come to its end by itself. */
export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';
  readonly code: 'step_limit' | 'signals' | 'schema';

  constructor(code: TurnFailure['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Asks the model and runs what it calls until it has nothing more to call; resolves with the result's fields. One that
 * was cut short goes on with the calls of its last step.
 */
export async function runTurn(turn: AssistantTurn, cut?: CutStep): Promise<JsonObject> {
  const { history, spec } = turn;
  const limit = spec.maxSteps ?? stepsMax;
  try {
    if (cut !== undefined && cut.calls.length > 0) await goOnWithCalls(turn, cut);
    for (let steps = cut?.steps ?? 0, slips = 0; steps < limit; steps++) {
      await turn.boundary();
      hearSteered(turn);
      await compact(turn);
      await turn.renewTools();
      const step = await takeStep(turn);
      const { text, calls, slip, finish, messageId, output } = step;
      slips = slip === undefined ? 0 : slips + 1;
      if (slip !== undefined) {
        // A conversation that is read back has the slip from here, the last of them too.
        turn.voice.note(slip.told, { written: slip.written, slip: messageId });
        history.add({ kind: 'system', text: slip.told });
        if (slips > slipsMax) throw cannotKeepTo(spec, slip.told);
      } else if (calls.length > 0) await runCalls(turn, step);
      // Whoever spoke into the last answer is answered in this turn too.
      else if (turn.close()) {
        return {
          text,
          ...(text === '' ? {} : { message: messageId }),
          ...(output === undefined ? {} : { output }),
          ...(finish === 'length' ? { finish_reason: finish } : {}),
        };
      }
    }
    throw new TurnFailure('step_limit', `the turn was ended: the model was asked ${limit} times and wants to go on`);
  } finally {
    // What came too late for this turn was said all the same: the next one hears it.
    hearSteered(turn);
  }
}

function cannotKeepTo({ mode }: AssistantSpec, told: string): TurnFailure {
  if (mode === 'signals') return new TurnFailure('signals', `the model cannot keep to the signals: ${told}`);
  return new TurnFailure('schema', `the model cannot keep to its output schema: ${told}`);
}

/** Before the model's window is full. What was said stays in the log; the summary stands there too, where it was made. */
async function compact({ history, spec, signal, voice }: AssistantTurn): Promise<void> {
  const { tooLong } = history;
  if (tooLong === undefined) return;
  const { older, kept } = tooLong;
  const summary = await summaryOf(older, { spec, signal, used: voice.used });
  const message = `the conversation became too long for the model: ${older.length} of its entries are now a summary`;
  voice.note(message, { compacted: { summary, kept } });
  history.compact(summary, kept);
}

/** The place in the conversation at which the model hears it is the place in the log. */
function hearSteered({ history, takeSteered, voice }: AssistantTurn): void {
  for (const { id, ...said } of takeSteered()) {
    const parts = [...(said.parts ?? [{ text: said.text }])];
    voice.show({ type: 'content', content: { role: 'user', parts }, messageId: id });
    history.add({ kind: 'user', ...said });
  }
}

/** What the model has said stays in the conversation, also when it was cut off. */
async function takeStep(turn: AssistantTurn): Promise<TakenStep> {
  const { spec, history, voice, signal, unfrozen } = turn;
  const messageId = turn.mintId('msg');
  const draft = new StepDraft(voice, messageId);
  let reply: StepReply | undefined;
  try {
    const tools = [...turn.tools.values()].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    const heard = { used: voice.used, note: (message: string) => voice.note(message) };
    const asked = { spec, said: history.said, files: turn.files, tools, draft, signal, ...heard, unfrozen };
    reply = held(spec, named(turn, await askModel(asked)), draft.text);
    return { ...reply, text: draft.text, messageId };
  } finally {
    draft.end();
    const { text, thought } = draft;
    const { calls = [], slip, reasoning } = reply ?? {};
    // A conversation that is read back has the signatures from here.
    if (reasoning !== undefined)
      voice.show({ type: 'thought', text: '', messageId, extra: { reasoning: reasoning.map((one) => ({ ...one })) } });
    if (text !== '' || calls.length > 0 || slip !== undefined) {
      const beside = {
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(slip === undefined ? {} : { slip: slip.written }),
      };
      history.add({ kind: 'model', text, thought, calls, ...beside });
    }
  }
}

type TakenStep = StepReply & { readonly text: string; readonly messageId: string };

/** An answer that calls nothing is held to the schema; one that does not fit is a slip that the model hears of. */
function held({ outputSchema }: AssistantSpec, reply: StepReply, text: string): StepReply {
  if (outputSchema === undefined || reply.slip !== undefined || reply.calls.length > 0) return reply;
  const fits = outputSchema.check(text);
  if (fits.ok) return { ...reply, output: fits.value };
  return { ...reply, slip: { told: `${fits.error}. Answer again, with only JSON that fits.`, written: text } };
}

/** By ids and names of ours, as the log has them: what is read back is what was said. */
function named(turn: AssistantTurn, reply: StepReply): StepReply {
  const calls = reply.calls.map(({ name, ...call }) => ({
    ...call,
    id: turn.mintId('call'),
    name: findTool(turn.tools, name)?.name ?? name,
  }));
  return { ...reply, calls };
}

/** All are on record before the first runs; some run side by side, and every one gets a result, in the order of the calls. */
async function runCalls(turn: AssistantTurn, { calls, messageId }: TakenStep): Promise<void> {
  await workOffCalls(turn, calls, new Map(), async () => {
    await turn.boundary().finally(() => turn.voice.show(...calls.map((call) => callEvent(turn, call, messageId))));
    // A function may change the world: that it was called is known even if we are gone a moment later.
    await turn.voice.recorded(turn.signal);
  });
}

async function goOnWithCalls(turn: AssistantTurn, { calls, results, lost }: CutStep): Promise<void> {
  for (const call of lost) turn.voice.show(...failureEvents(call, lostText, 'failed'));
  await workOffCalls(turn, calls, results);
}

/** Those without a result are run. */
async function workOffCalls(
  turn: AssistantTurn,
  calls: readonly AssistantCall[],
  known: ReadonlyMap<string, CallResult>,
  announce?: () => Promise<void>,
): Promise<void> {
  const results = calls.map(({ id, name }) => known.get(id) ?? { id, name, text: notRun, failed: true });
  const waiting = [...calls.entries()].filter(([, { id }]) => !known.has(id));
  const workOff = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, call] = next;
      const result = await runCall(turn, call);
      results[index] = result;
    }
  };
  try {
    await announce?.();
    await Promise.all(Array.from({ length: Math.min(callsAtOnce, calls.length) }, workOff));
  } finally {
    for (const [, call] of waiting) turn.voice.show(...failureEvents(call, notRun, 'cancelled'));
    turn.history.add({ kind: 'results', results });
  }
}

/** Arguments that are no object are the model's slip; they stand beside, for the conversation. */
function callEvent(
  { tools }: AssistantTurn,
  { id: callId, name, args, metadata }: AssistantCall,
  messageId: string,
): AgentEvent {
  const childSession = tools.get(name)?.opens?.(callId);
  const child = childSession === undefined ? {} : { childSession };
  const call = { type: 'functionCall', callId, name, messageId, ...child } as const;
  const extra = { ...(isObject(args) ? {} : { args }), ...(metadata === undefined ? {} : { metadata }) };
  const shown = { ...call, args: isObject(args) ? { ...args } : {} };
  return Object.keys(extra).length === 0 ? shown : { ...shown, extra };
}

/** Rejects only when the turn is over before it began. */
async function runCall(turn: AssistantTurn, call: AssistantCall): Promise<CallResult> {
  const { voice, signal } = turn;
  const { id, name } = call;
  try {
    await turn.boundary();
    const produced = withFilesOf(await perform(turn, call));
    const files = await turn.files.keep(produced.files);
    voice.show(resultEvent(call, new WithFiles(produced.value, files)));
    const text = textWithFiles(produced.value, files);
    return { id, name, text, failed: false, ...(files.length === 0 ? {} : { files }) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = signal.aborted ? 'the turn was interrupted' : why;
    const outcome = cause instanceof NotAllowed ? 'denied' : 'failed';
    voice.show(...failureEvents(call, message, signal.aborted ? 'cancelled' : outcome));
    return { id, name, text: message, failed: true };
  }
}

async function perform(turn: AssistantTurn, { id: callId, name, args }: AssistantCall): Promise<Json | WithFiles> {
  const { voice, signal, now } = turn;
  let updates = 0;
  const tool = findTool(turn.tools, name);
  if (tool === undefined) throw new Error(noSuchFunction(name, [...turn.tools.keys()]));
  if (!isObject(args)) throw new Error('the arguments are not an object');
  const fault = tool.fault?.(args);
  if (fault !== undefined) throw new Error(fault);
  if (tool.asks) await askLeave(turn, { callId, name: tool.name, about: tool.leave?.(args) ?? {} }, args);
  return await tool.run(args, {
    callId,
    world: { directory: turn.spec.directory, marker: turn.marker },
    signal,
    now,
    ask: (event, until) =>
      voice.ask({ ...event, callId }, until === undefined ? signal : AbortSignal.any([signal, until])),
    show: (event) => voice.show(event),
    status: (status) => {
      updates += 1;
      if (updates <= updatesMax) voice.show({ type: 'functionCallUpdate', callId, status });
    },
  });
}

/** A person said no. */
class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

/** `about`: what the call would do, in the words of rules. */
type Asking = { readonly callId: string; readonly name: string; readonly about: JsonObject };

async function askLeave(
  { voice, signal }: AssistantTurn,
  { callId, name, about }: Asking,
  args: JsonObject,
): Promise<void> {
  const written = JSON.stringify(args);
  const shown = written.length <= shownArgumentsMax ? written : `${written.slice(0, shownArgumentsMax)}…`;
  const scope = { description: `Call ${name} with ${shown}`, tool: name, args, ...about };
  const consentType = about.kind === 'fetch' ? 'GET_ANY_WEBPAGE' : 'approval';
  const consent = { type: 'queryConsent', consentType, scope, graphUrl: '', callId } as const;
  const answer = await voice.ask(consent, signal);
  if (answer === 'yes') return;
  const { reason } = readDecision(answer);
  throw new NotAllowed(`the user did not allow this call${reason === undefined ? '' : `: ${reason}`}`);
}

function noSuchFunction(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `there is no function ${JSON.stringify(name)}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`;
}
