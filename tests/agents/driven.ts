import { execFileSync } from 'node:child_process';
import {
  type AgentConnection,
  type AgentOutput,
  type AgentSpec,
  type StartOptions,
  startAgent,
} from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { ConversationPlace, type WorkEvent } from '@concerto/protocol';

const answersWithinMs = 60_000;

/** An agent driven as the runtime drives it, and everything it says. */
export type Driven = {
  readonly agent: AgentConnection;
  readonly said: readonly AgentOutput[];
  /** Everything up to the next message of one of these types, which is the last one. Fails when the agent is gone or silent. */
  readonly until: (...types: readonly string[]) => Promise<readonly JsonObject[]>;
};

/** What a program calls itself. */
export function versionOf(program: string): string | undefined {
  return /\d+\.\d+\.\d+\S*/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0];
}

export async function drive(spec: AgentSpec, options: StartOptions = {}): Promise<Driven> {
  const agent = await startAgent(spec, { initTimeoutMs: answersWithinMs, ...options });
  const said: AgentOutput[] = [];
  let read = 0;
  let wake: () => void = () => {};
  void (async () => {
    for await (const batch of agent.output) {
      said.push(...batch);
      wake();
    }
  })();
  const next = async (deadline: number): Promise<AgentOutput> => {
    for (;;) {
      const output = said[read];
      if (output !== undefined) {
        read++;
        return output;
      }
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`the agent is silent; it said ${JSON.stringify(said.slice(-5))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  return {
    agent,
    said,
    until: async (...types) => {
      const deadline = Date.now() + answersWithinMs;
      const heard: JsonObject[] = [];
      for (;;) {
        const output = await next(deadline);
        if (output.kind === 'exit' && !types.includes('exit')) throw new Error(output.error.message);
        if (output.kind === 'exit') return heard;
        if (output.kind !== 'message') continue;
        heard.push(output.raw);
        if (types.includes(output.raw.type)) return heard;
      }
    },
  };
}

export async function answer({ agent }: Driven, asked: JsonObject | undefined, value: string): Promise<void> {
  const { type, id } = asked ?? {};
  if (typeof type !== 'string' || typeof id !== 'string') throw new Error('nothing was asked');
  await agent.reply({ inReplyTo: type, inReplyToId: id, value });
}

/** Where the conversation stood after each turn. */
export function placesOf({ said }: Driven): readonly ConversationPlace[] {
  const events = said.flatMap((output) => (output.kind === 'events' ? output.events : []));
  return events.flatMap((event) => {
    const place = event.type === 'agentInfo' ? ConversationPlace.safeParse(event.extra?.conversation).data : undefined;
    return place === undefined ? [] : [place];
  });
}

/** What a session would show. */
export function shownBy({ said }: Driven): readonly WorkEvent[] {
  return said.flatMap((output) => (output.kind === 'message' ? (output.shown ?? []) : []));
}

export function usageOf({ said }: Driven): { readonly input: number; readonly output: number; readonly cost: number } {
  const usages = said.flatMap((output) => (output.kind === 'usage' ? [output.usage] : []));
  return {
    input: usages.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output: usages.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    cost: usages.reduce((sum, { costMicroUsd = 0 }) => sum + costMicroUsd, 0),
  };
}
