import { join } from 'node:path';
import {
  type AgentConnection,
  type AgentOutput,
  type AgentSpec,
  type StartOptions,
  startAgent,
} from '@concerto/agents';
import { onTestFinished } from 'vitest';

/** Starts one of the little programs in `agents/`; it ends with the test. */
export async function start(
  behaviour: string,
  spec: Partial<AgentSpec> = {},
  options: StartOptions = {},
): Promise<AgentConnection> {
  const file = join(import.meta.dirname, 'agents', `${behaviour}.mjs`);
  const connection = await startAgent(
    { name: behaviour, command: process.execPath, ...spec, args: [file, ...(spec.args ?? [])] },
    { endGraceMs: 500, ...options },
  );
  onTestFinished(async () => {
    await connection.end();
  });
  return connection;
}

/** Where its conversation stood at the end of its next turn. */
export async function placeAfter(connection: AgentConnection, text: string): Promise<unknown> {
  await connection.prompt({ text });
  let place: unknown;
  for await (const batch of connection.output) {
    for (const item of batch) {
      for (const event of item.kind === 'events' ? item.events : []) {
        if (event.type === 'agentInfo') place = event.extra?.conversation ?? place;
      }
      if (kindOf(item) === 'result') return place;
    }
  }
  throw new Error('the output has ended');
}

/** Reads one item at a time, as far as a test wants. */
export function reader(connection: AgentConnection): {
  next(): Promise<AgentOutput>;
  until(kind: string): Promise<AgentOutput>;
  rest(): Promise<AgentOutput[]>;
} {
  const batches = connection.output[Symbol.asyncIterator]();
  const ready: AgentOutput[] = [];
  async function next(): Promise<AgentOutput> {
    while (ready.length === 0) {
      const batch = await batches.next();
      if (batch.done === true) throw new Error('the output has ended');
      // What it can be switched to is another matter, and comes when it comes.
      ready.push(...batch.value.filter(({ kind }) => kind !== 'events'));
    }
    return ready.shift() as AgentOutput;
  }
  return {
    next,
    async until(type) {
      for (;;) {
        const item = await next();
        if (kindOf(item) === type) return item;
      }
    },
    async rest() {
      const items: AgentOutput[] = [];
      for (;;) {
        const item = await next();
        items.push(item);
        if (item.kind === 'exit') return items;
      }
    },
  };
}

/** The message's type, or the kind of what is no message. */
export function kindOf(item: AgentOutput): string {
  return item.kind === 'message' ? item.message.type : item.kind;
}

/** All fields of a message as they were sent. */
export function rawOf<Fields>(item: AgentOutput): Fields {
  if (item.kind !== 'message') throw new Error(`no message but ${item.kind}`);
  return item.raw as unknown as Fields;
}

/** A few words for each item, to compare a whole conversation at once. */
export function brief(items: readonly AgentOutput[]): string[] {
  return items.map((item) => {
    switch (item.kind) {
      case 'message': {
        const { type, text, message } = item.message as { type: string; text?: string; message?: string };
        return `${type}${item.plain ? '*' : ''}: ${text ?? message ?? ''}`;
      }
      case 'violation':
        return `${item.fatal ? 'fatal' : 'tolerated'}: ${item.error.code}`;
      case 'announced':
        return `announced: ${item.capabilities.join(' ')}`;
      case 'begun':
        return 'begun';
      case 'events':
        return `events: ${item.events.map(({ type }) => type).join(' ')}`;
      case 'usage':
        return `usage: ${item.usage.inputTokens} in, ${item.usage.outputTokens} out`;
      case 'withdrawn':
        return `withdrawn: ${item.id}`;
      case 'exit':
        return `exit: ${item.exit.code ?? item.exit.signal}`;
    }
  });
}
