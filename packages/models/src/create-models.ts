import type { ProviderMetadata } from 'ai';
import { CallMetadata } from './call-metadata.ts';
import { type Connection, modelName, readConnection } from './connection.ts';
import { mockPieces, mockReply } from './mock-model.ts';
import { ModelFailure } from './model-failure.ts';
import type { ModelPart, ModelReply, ModelTurn } from './model-turn.ts';
import { costOf, type Prices } from './prices.ts';
import { type Clock, RateLimit, realClock } from './rate-limit.ts';
import { NO_RETRY, pause, retryDelay } from './retry.ts';
import type { SdkAnswer, SdkPart, SdkRequest } from './sdk-turn.ts';
import type { Environment } from './variables.ts';

/** Ends a turn that nobody gave a limit. */
const DEFAULT_TIMEOUT_MS = 300_000;

export type ModelsOptions = {
  /** `[connections.*]` of the manifest. */
  readonly connections: Readonly<Record<string, unknown>>;
  readonly environment: Environment;
  /** Every model answers with the offline mock. */
  readonly mock?: boolean;
  /** What tokens cost, over the list prices. */
  readonly prices?: Prices;
  readonly clock?: Clock;
};

export type Models = {
  /** Why no turn could be asked of this connection as things are: a key that is missing, no such connection. */
  readonly fault: (connection: string, model?: string) => ModelFailure | undefined;
  /** Rejects with a `ModelFailure`. */
  readonly execute: (turn: ModelTurn) => Promise<ModelReply>;
  /** The last part is the whole reply. Leaving early ends the request. */
  readonly stream: (turn: ModelTurn) => AsyncGenerator<ModelPart>;
};

/** What a connection remembers between turns. */
type OpenConnection = {
  readonly connection: Connection;
  readonly limit: RateLimit;
  readonly metadata: CallMetadata<ProviderMetadata>;
  readonly prices: Prices;
  nativeSchema: boolean;
};

type Call = (request: SdkRequest) => AsyncGenerator<SdkPart>;

export function createModels(options: ModelsOptions): Models {
  const { connections, environment, mock, prices = {}, clock = realClock } = options;
  const open = new Map<string, OpenConnection>();

  const tableOf = (name: string): unknown => (Object.hasOwn(connections, name) ? connections[name] : undefined);

  const use = (name: string): OpenConnection => {
    const known = open.get(name);
    if (known !== undefined) return known;
    const connection = readConnection(name, tableOf(name), environment);
    const opened: OpenConnection = {
      connection,
      limit: new RateLimit(connection.settings.rate_limit ?? {}, clock),
      metadata: new CallMetadata(),
      prices,
      nativeSchema: true,
    };
    open.set(name, opened);
    return opened;
  };

  const mocked = (turn: ModelTurn): ModelReply | undefined => {
    const table = tableOf(turn.connection);
    if (mock !== true && !isMock(table)) return undefined;
    return mockReply(turn, mockedName(turn, table));
  };

  async function* stream(turn: ModelTurn, call: Call): AsyncGenerator<ModelPart> {
    const reply = mocked(turn);
    if (reply === undefined) return yield* takeTurn(turn, use(turn.connection), { call, clock });
    for (const text of mockPieces(reply.text)) yield { type: 'text', text };
    yield { type: 'reply', reply };
  }

  return {
    fault: (name, model) => {
      if (mock === true || isMock(tableOf(name))) return undefined;
      try {
        modelName(use(name).connection, model);
        return undefined;
      } catch (cause) {
        if (cause instanceof ModelFailure) return cause;
        throw cause;
      }
    },
    execute: async (turn) => {
      for await (const part of stream(turn, whole)) if (part.type === 'reply') return part.reply;
      throw new ModelFailure('network', 'the answer broke off');
    },
    stream: (turn) => stream(turn, pieces),
  };
}

const whole: Call = async function* (request) {
  const { generateAnswer } = await import('./sdk-turn.ts');
  yield { type: 'answer', answer: await generateAnswer(request) };
};

const pieces: Call = async function* (request) {
  const { streamAnswer } = await import('./sdk-turn.ts');
  yield* streamAnswer(request);
};

/** One turn: requests until one succeeds or there is no sense in another. */
async function* takeTurn(
  turn: ModelTurn,
  open: OpenConnection,
  { call, clock }: { readonly call: Call; readonly clock: Clock },
): AsyncGenerator<ModelPart> {
  const { connection, limit, metadata } = open;
  const model = modelName(connection, turn.model);
  const timeoutMs = turn.timeoutMs ?? (connection.settings.timeout ?? DEFAULT_TIMEOUT_MS / 1000) * 1000;
  const cancelled = turn.signal;
  let signal = cancelled ?? new AbortController().signal;
  let deadline: AbortSignal | undefined;
  const fail = async (cause: unknown): Promise<ModelFailure> => {
    const { readFailure } = await import('./read-failure.ts');
    return readFailure(cause, { connection, model, timeoutMs, cancelled, deadline });
  };
  const started = clock.now();
  for (let attempt = 1; ; attempt++) {
    let failure: ModelFailure;
    let tokens = 0;
    let delivered = false;
    let leave: ((tokens: number) => void) | undefined;
    try {
      leave = await limit.enter(signal);
      if (deadline === undefined) {
        deadline = AbortSignal.timeout(timeoutMs);
        signal = AbortSignal.any([signal, deadline]);
      }
      const request = { connection, model, turn, signal, metadata, nativeSchema: open.nativeSchema };
      for await (const part of call(request)) {
        if (part.type !== 'answer') {
          delivered = true;
          yield part;
          continue;
        }
        tokens = part.answer.usage.totalTokens;
        const latencyMs = Math.round(clock.now() - started);
        yield { type: 'reply', reply: asReply(part.answer, open, { latencyMs, attempts: attempt }) };
        return;
      }
      failure = await fail(new ModelFailure('network', 'the answer broke off'));
    } catch (cause) {
      failure = await fail(cause);
    } finally {
      leave?.(tokens);
    }
    // Not every server that speaks OpenAI’s wire has structured output; the instructions do as well.
    if (refusesSchema(failure, turn, open)) {
      open.nativeSchema = false;
      continue;
    }
    const settings = connection.settings.retry ?? turn.retry ?? NO_RETRY;
    const wait = delivered ? undefined : retryDelay(settings, attempt, failure);
    if (wait === undefined)
      throw new ModelFailure(failure.code, failure.message, { ...failure.facts, attempts: attempt });
    const { message } = failure;
    turn.onRetry?.({ message, waitMs: wait, attempt: attempt + 1, attempts: settings.max_attempts });
    try {
      await pause(wait, clock, signal);
    } catch (cause) {
      throw await fail(cause);
    }
  }
}

function refusesSchema({ code }: ModelFailure, turn: ModelTurn, { connection, nativeSchema }: OpenConnection): boolean {
  if (!nativeSchema || turn.schema === undefined || turn.schema === null) return false;
  return connection.wire === 'compatible' && code === 'bad_request';
}

function asReply(
  answer: SdkAnswer,
  { connection: { provider }, prices }: OpenConnection,
  counted: { readonly latencyMs: number; readonly attempts: number },
): ModelReply {
  return { ...answer, ...counted, provider, cost: costOf(provider, answer.model, answer.usage, prices) };
}

function isMock(table: unknown): boolean {
  return typeof table === 'object' && table !== null && 'provider' in table && table.provider === 'mock';
}

/** The name a program asked for; nothing about the connection needs to be right for the mock. */
function mockedName({ model, connection }: ModelTurn, table: unknown): string {
  if (table === undefined) return model ?? 'mock';
  const provider = { ...Object(table), provider: 'mock' };
  return modelName(readConnection(connection, provider, {}), model);
}
