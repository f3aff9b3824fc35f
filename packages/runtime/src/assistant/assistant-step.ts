import type { Json } from '@concerto/base';
import type { FinishReason, ModelMessage, ModelReasoning, ModelReply, ModelTool, ModelTurn } from '@concerto/models';
import type { Usage, UsageSource } from '@concerto/protocol';
import { createSignalParser, type SignalCall, type SignalEvent, signalsSystemPrompt } from '@concerto/signals';
import type { AssistantFiles } from './assistant-files.ts';
import type { AssistantCall, Said } from './assistant-history.ts';
import { nativeMessages, signalsMessages } from './assistant-messages.ts';
import { isObject } from './assistant-result.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import type { StepDraft } from './assistant-voice.ts';
import { usageOf } from './reply-usage.ts';

/** How much of what follows the signal to stop is read on, to hear what the turn cost; then the model is left. */
const babbleCharactersMax = 2_000;

/** One question to the model: all that was said, and what it may call. */
export type Step = {
  readonly spec: AssistantSpec;
  readonly said: readonly Said[];
  readonly files: Pick<AssistantFiles, 'pieces'>;
  readonly tools: readonly ModelTool[];
  readonly draft: StepDraft;
  readonly signal: AbortSignal;
  readonly used: (usage: Usage, source: UsageSource) => void;
  /** A line about the step that is neither the model's nor a function's. */
  readonly note: (message: string) => void;
  /** Resolves when the next piece may be taken. */
  readonly unfrozen: () => Promise<void>;
};

export type StepReply = {
  readonly calls: readonly AssistantCall[];
  readonly finish: FinishReason;
  /** What its provider wants back of its thoughts. */
  readonly reasoning?: readonly ModelReasoning[];
  /** What the answer is, where it has to fit a schema. */
  readonly output?: Json;
  /** What the model did wrong and has to hear, with what it wrote. */
  readonly slip?: { readonly told: string; readonly written: string };
};

/** Rejects with a `ModelFailure`; what was said until then is in the draft. */
export async function askModel(step: Step): Promise<StepReply> {
  return step.spec.mode === 'signals' ? await askForSignals(step) : await askNatively(step);
}

async function askNatively(step: Step): Promise<StepReply> {
  const { draft } = step;
  const messages = await nativeMessages(step.said, step.files);
  let reply: ModelReply | undefined;
  for await (const part of step.spec.models.stream({ ...turnOf(step, messages), tools: step.tools })) {
    await step.unfrozen();
    if (part.type === 'text') draft.say(part.text);
    else if (part.type === 'thought') draft.think(part.text);
    else reply = part.reply;
  }
  draft.end();
  if (reply !== undefined) step.used(usageOf(reply), { model: reply.model });
  const calls = (reply?.toolCalls ?? []).map(({ id, name, arguments: args, metadata }) => ({
    id,
    name,
    args,
    ...(metadata === undefined ? {} : { metadata }),
  }));
  const reasoning = reply?.reasoning === undefined ? {} : { reasoning: reply.reasoning };
  return { calls, finish: reply?.finishReason ?? 'other', ...reasoning };
}

/** The model's text is its signals; nothing runs before the signal to execute, and nothing it writes after it counts. */
async function askForSignals(step: Step): Promise<StepReply> {
  const { draft } = step;
  const heard = new SignalHearing(draft);
  const parser = createSignalParser({ preset: 'live' }, (event) => heard.take(event));
  const messages = await signalsMessages(step.said, step.files);
  let written = '';
  let babble = 0;
  let finish: FinishReason = 'other';
  const turn = { ...turnOf(step, messages), stopSequences: ['[SYSTEM:'] };
  for await (const part of step.spec.models.stream(turn)) {
    await step.unfrozen();
    if (part.type === 'thought') draft.think(part.text);
    else if (part.type === 'reply') {
      draft.end();
      step.used(usageOf(part.reply), { model: part.reply.model });
      finish = part.reply.finishReason;
    } else if (parser.done || heard.executes) {
      babble += part.text.length;
      if (babble > babbleCharactersMax) break;
    } else {
      written += part.text;
      parser.push(part.text);
    }
  }
  parser.finish();
  const slip = heard.slip();
  const calls = slip === undefined && heard.executes ? heard.calls : [];
  return {
    calls: calls.map(({ name, args }, index) => ({ id: `signal_${index + 1}`, name, args })),
    finish,
    ...(slip === undefined ? {} : { slip: { told: slip, written } }),
  };
}

/** What a model's signals of one step come to. */
class SignalHearing {
  readonly calls: SignalCall[] = [];
  readonly #draft: StepDraft;
  readonly #errors: string[] = [];
  executes = false;
  #block = 0;

  constructor(draft: StepDraft) {
    this.#draft = draft;
  }

  take(event: SignalEvent): void {
    switch (event.type) {
      case 'think':
        return this.#draft.think(event.content);
      case 'respond': {
        const isNext = this.#draft.text !== '' && event.block !== this.#block;
        this.#block = event.block;
        return this.#draft.say(isNext ? `\n\n${event.content}` : event.content);
      }
      case 'calls':
        this.calls.push(...event.calls);
        return;
      case 'execute':
        this.executes = true;
        return;
      case 'error':
        // Nothing is lost without the last signal; where the answer was cut short, the provider says so.
        if (event.code !== 'missing_end') this.#errors.push(`${event.code}: ${event.content}`);
        return;
      case 'system':
      case 'call':
      case 'end':
        return;
    }
  }

  /**
   * A batch with an error runs no call at all, and a call without the signal to execute is not run either. Who wrote that
   * signal waits for an answer, also when there was nothing to call.
   */
  slip(): string | undefined {
    if (this.#errors.length > 0) return `Nothing was run. ${this.#errors.join('\n')}`;
    if (!this.executes || this.calls.length > 0) return undefined;
    return 'Nothing was run: §CALLS: is empty. Call something, or write §RESPOND: and then §END:.';
  }
}

/** A provider that is busy or in trouble is asked again, when it says so itself or ever more seldom. */
const patience = { max_attempts: 4, backoff: 'exponential', initial_delay_ms: 1_000, max_delay_ms: 60_000 } as const;

function turnOf({ spec, tools, signal, note }: Step, messages: readonly ModelMessage[]): ModelTurn {
  const system = spec.mode === 'signals' ? signalsSystemPrompt(tools.map(signalFunction)) : '';
  const instructions = [spec.system ?? '', system].filter((text) => text !== '').join('\n\n');
  return {
    connection: spec.connection,
    model: spec.model,
    messages: instructions === '' ? messages : [{ role: 'system', content: instructions }, ...messages],
    temperature: spec.temperature,
    maxTokens: spec.maxTokens,
    effort: spec.effort,
    ...(spec.outputSchema === undefined ? {} : { schema: { name: 'answer', schema: spec.outputSchema.written } }),
    thoughts: true,
    signal,
    retry: patience,
    onRetry: ({ message, waitMs, attempt, attempts }) =>
      note(`${message}; asked again in ${Math.round(waitMs / 100) / 10} s (${attempt} of ${attempts})`),
  };
}

function signalFunction({ name, description, parameters }: ModelTool) {
  return { name, description, ...(isObject(parameters) ? { parameters } : {}) };
}
