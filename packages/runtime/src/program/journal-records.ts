import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import type { AgentOpenRequest, ModelRequest } from '@concerto/vm';
import * as z from 'zod';
import type { ProgramEffect } from './machine/machine.ts';
import type { Input } from './open-work.ts';

/** Raised by a change of this format; a journal of another version is refused. */
export const JOURNAL_VERSION = 1;

const json = z.custom<Json>((data) => data !== undefined);
const table = z.custom<JsonObject>((data) => typeof data === 'object' && data !== null && !Array.isArray(data));
const worldError = z.strictObject({
  message: z.string(),
  kind: z.string().exactOptional(),
  code: json.exactOptional(),
  details: json.exactOptional(),
});
const input = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('answer'),
    id: z.int(),
    answer: z.discriminatedUnion('ok', [
      z.strictObject({ ok: z.literal(true), value: json }),
      z.strictObject({ ok: z.literal(false), error: worldError }),
    ]),
  }),
  z.strictObject({ kind: z.literal('expired'), session: z.string(), error: worldError }),
  z.strictObject({ kind: z.literal('stale'), agent: z.string(), message: table }),
  z.strictObject({ kind: z.literal('overtaken'), session: z.string(), type: z.string(), id: json, by: z.string() }),
]);
const end = z.strictObject({ status: z.enum(['done', 'failed']), text: z.string() });
const processNote = z.strictObject({ pid: z.int(), startTime: z.string(), marker: z.string() });
export const record = z.union([
  z.strictObject({ at: z.number(), turn: z.int(), out: z.looseObject({ kind: z.string() }) }),
  z.strictObject({ at: z.number(), turn: z.int(), in: input }),
  z.strictObject({ at: z.number(), turn: z.int(), end }),
  z.strictObject({ at: z.number(), turn: z.int(), process: processNote }),
  z.strictObject({ at: z.number(), turn: z.int(), ended: z.string() }),
]);
export type JournalRecord = z.infer<typeof record>;
export const header = z.looseObject({
  journal: z.literal('concerto'),
  version: z.int(),
  module: z.string(),
  arguments: table,
  turn_steps: z.int(),
});

const call = z.strictObject({
  session: z.string(),
  isOver: z.boolean(),
  request: z.custom<AgentOpenRequest>((data) => typeof data === 'object' && data !== null),
  place: z.number(),
  replies: z.array(z.string()),
});
const cached = z.strictObject({
  request: z.custom<ModelRequest>((data) => typeof data === 'object' && data !== null),
  answer: json,
  at: z.number(),
});
/** What was begun and not ended; the requests themselves are the machine's. */
const openWork = z.strictObject({
  /** When each request that is open was made. */
  made: z.array(z.tuple([z.int(), z.number()])),
  calls: z.array(call),
  cached: z.array(cached),
  answered: z.int(),
  streamed: z.int(),
});
export type OpenWorkData = z.infer<typeof openWork>;

/** All that a run is, after a turn and before what it is given next. */
export const mark = z.strictObject({
  turn: z.int(),
  status: z.enum(['waiting', 'running']),
  records: z.int(),
  open: openWork,
  vm: json,
});
export type JournalMark = z.infer<typeof mark>;

/** One effect as JSON. Values of the program as the program would write them. */
export function effectText(effect: ProgramEffect): string {
  if (effect.kind !== 'emit' && effect.kind !== 'ask') return JSON.stringify(effect);
  const { payload, ...rest } = effect;
  return `${JSON.stringify(rest).slice(0, -1)},"payload":${payload.written}}`;
}

/** The world changes by it: what led to it must not be lost. */
export function isOutward(effect: ProgramEffect): boolean {
  switch (effect.kind) {
    case 'model':
    case 'mcp_call':
    case 'http':
    case 'agent_open':
    case 'agent_reply':
      return true;
    case 'session':
      return effect.verb !== 'usage' && effect.verb !== 'status' && effect.verb !== 'id';
    case 'file':
      return effect.op === 'write' || effect.op === 'append' || effect.op === 'replace' || effect.op === 'remove';
    default:
      return false;
  }
}

/** Somebody is paid or has to think for the answer, or it cannot be had again. */
export function isCostly(effect: ProgramEffect): effect is Extract<ProgramEffect, { readonly id: number }> {
  return effect.kind === 'ask' || effect.kind === 'model_next' || ('id' in effect && isOutward(effect));
}

type Run = { readonly module: string; readonly arguments: JsonObject };

/** Of what a journal is that is not of this run; undefined where it is. */
export function whyAnother(found: z.infer<typeof header>, run: Run): string | undefined {
  if (found.version !== JOURNAL_VERSION) return `version ${found.version}, not ${JOURNAL_VERSION}`;
  if (found.module !== run.module) {
    return 'another program, or the program has changed since; take another file, or the program as it was';
  }
  const [was, is] = [JSON.stringify(found.arguments), JSON.stringify(run.arguments)];
  return was === is ? undefined : `a run with other arguments: ${was}, now ${is}`;
}

/** What came after each turn. */
export function inputsOf(next: () => JournalRecord | undefined): ReadonlyMap<number, readonly Input[]> {
  const inputs = new Map<number, Input[]>();
  for (let found = next(); found !== undefined; found = next()) {
    if (!('in' in found)) continue;
    const given = inputs.get(found.turn) ?? [];
    given.push(found.in);
    inputs.set(found.turn, given);
  }
  return inputs;
}

/** Names of files are for people; the same program in another directory is the same. */
export function digestOf({ files: _files, name: _name, ...module }: IrModule): string {
  return createHash('sha256').update(JSON.stringify(module)).digest('hex');
}
