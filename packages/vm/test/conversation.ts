import type { Json } from '@concerto/base';
import { display } from '../src/display.ts';
import type { Answer, Request } from '../src/effects.ts';
import { type FunctionBuilder, ProgramBuilder, type Ran, valueOf } from './support.ts';

/** Models, tools, agents and pipelines take several turns with the world: what their tests have in common. */

export const ok = (value: Json): Answer => ({ ok: true, value });
export const no = (message: string, kind?: string): Answer => ({
  ok: false,
  error: kind === undefined ? { message } : { message, kind },
});
export const says = (text: string, more: Record<string, Json> = {}): Answer =>
  ok({ text, tokens_in: 3, tokens_out: 4, model: 'm-1', ...more });

export const shown = (ran: Ran): string => display(valueOf(ran));
export const events = (ran: Ran): string[] =>
  ran.effects.flatMap((effect) => (effect.kind === 'emit' ? [`${effect.channel} ${display(effect.payload)}`] : []));
export const replies = (ran: Ran): Json[] =>
  ran.effects.flatMap((effect): Json[] => (effect.kind === 'agent_reply' ? [JSON.parse(effect.line)] : []));

/** Answers requests of one kind from a list, everything else with null. */
export function script(kind: Request['kind'], answers: readonly Answer[], seen: Request[] = []) {
  let next = 0;
  return (request: Request): Answer => {
    if (request.kind !== kind) return ok(request.kind === 'now' ? 5 : null);
    seen.push(request);
    return answers[next++] ?? no('nothing more to say');
  };
}

export function withModel(decorators: ProgramBuilder['module']['models'][number]['decorators'] = []): ProgramBuilder {
  const program = new ProgramBuilder();
  program.module.models.push({
    name: 'M',
    connection: 'local',
    config: { base: 'small', system_prompt: 'be brief' },
    tools: [],
    decorators,
  });
  program.module.structs.push({
    name: 'Note',
    kind: 'schema',
    fields: [
      { name: 'title', type: 'String' },
      { name: 'stars', type: 'Int', default: 3 },
    ],
  });
  program.module.memories.push({ name: 'talk' });
  return program;
}

/** main: M.execute("hi"), or what `call` does with M in register 2. */
export function asking(program: ProgramBuilder, call?: (f: FunctionBuilder) => void): ProgramBuilder {
  program.fn('main', {}, (f) => {
    f.constant(2, { kind: 'model', name: 'M' });
    f.string(3, 'hi');
    if (call === undefined) f.emit('CallMethod', 0, f.name('execute'), 2, 1);
    else call(f);
    f.emit('Return', 0);
  });
  return program;
}
