import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import { serveJobs } from '../../hosts/serve-jobs.ts';
import type { Given, PlainValue, ProgramEffect, ProgramRequest, Turn } from './machine.ts';
import type { BeginReply, MachineJob, MoreReply, TurnReply } from './machine-jobs.ts';
import { OwnMachine } from './own-machine.ts';

const mebibyte = 1024 * 1024;
/** Of one effect: whoever performs it has others to serve. As much as an agent may say in one line. */
const wordMax = 8 * mebibyte;
/** Of one reply; what is more comes after it. */
const partMax = mebibyte;

/** The process that machines are in: it runs a slice of whichever it is told to, one after the other. */

const modules = new Map<number, IrModule>();
const machines = new Map<number, OwnMachine>();
/** What a machine has done in its last turn, and has not been told of yet. */
const left = new Map<number, { readonly effects: readonly ProgramEffect[]; from: number }>();

serveJobs((job) => (isJob(job) ? perform(job) : undefined));

function perform(job: MachineJob): unknown {
  switch (job.kind) {
    case 'module':
      modules.set(job.module, job.code);
      return undefined;
    case 'forget':
      modules.delete(job.module);
      return undefined;
    case 'begin': {
      const machine = new OwnMachine({ ...job.start, module: known(modules, job.module) });
      machines.set(job.machine, machine);
      return { pending: machine.pending.map(crossingRequest) } satisfies BeginReply;
    }
    case 'turn':
      return parted(job.machine, turns(known(machines, job.machine), job.given));
    case 'more':
      return part(job.machine);
    case 'snapshot':
      return known(machines, job.machine).snapshot();
    case 'close':
      machines.delete(job.machine);
      left.delete(job.machine);
      return undefined;
  }
}

/** The last turn with the first part of its effects. */
function parted(machine: number, { turns: all, places }: Omit<TurnReply, 'isMore'>): TurnReply {
  const last = all.at(-1);
  if (last === undefined) return { turns: all, places, isMore: false };
  left.set(machine, { effects: last.effects, from: 0 });
  const { effects, isMore } = part(machine);
  return { turns: [...all.slice(0, -1), { ...last, effects }], places, isMore };
}

function part(machine: number): MoreReply {
  const rest = known(left, machine);
  const { from } = rest;
  for (let size = 0; rest.from < rest.effects.length && size < partMax; rest.from++) {
    size += sizeOf(rest.effects[rest.from]);
  }
  const isMore = rest.from < rest.effects.length;
  if (!isMore) left.delete(machine);
  return { effects: rest.effects.slice(from, rest.from), isMore };
}

function turns(machine: OwnMachine, { ahead, ...first }: Given): Omit<TurnReply, 'isMore'> {
  const all: Turn[] = [];
  const said = [...(ahead?.said ?? [])].reverse();
  for (let given: Given = first, size = 0; ; ) {
    const [turn] = machine.turn(given);
    const crossed = crossingTurn(turn);
    all.push(crossed);
    size += sizeOf(crossed.effects);
    const next = crossed.status === 'waiting' && size < partMax ? askedOf(crossed, ahead?.session) : undefined;
    const value: Json | undefined = next === undefined ? undefined : said.pop();
    if (next === undefined || value === undefined) {
      return { turns: all, places: crossed.status === 'waiting' ? machine.places() : [] };
    }
    given = { steps: first.steps, inputs: [{ kind: 'answer', id: next, answer: { ok: true, value } }] };
  }
}

/** As plain data; one who says too much at once has come to its end. */
function crossingTurn(turn: Turn): Turn {
  const effects = turn.effects.map(crossing);
  const words: readonly unknown[] = turn.status === 'done' ? [...effects, turn.value.written] : effects;
  if (words.some((word) => sizeOf(word) > wordMax)) {
    const message = `the program says more than ${wordMax / mebibyte} MiB at once: say it in parts, or write it to a file`;
    return { status: 'failed', failure: { type: 'LimitError', message, trace: [], panic: false }, effects: [] };
  }
  return turn.status === 'done' ? { ...turn, effects, value: text(turn.value) } : { ...turn, effects };
}

/** Characters of what it holds, roughly. */
function sizeOf(data: unknown): number {
  if (typeof data === 'string') return data.length;
  if (typeof data !== 'object' || data === null) return 8;
  let size = 0;
  for (const item of Object.values(data)) size += sizeOf(item);
  return size;
}

/** The request for the next message of that session, if the turn has made it. */
function askedOf({ effects }: Turn, session: string | undefined): number | undefined {
  const next = effects.find((effect) => effect.kind === 'agent_next' && effect.session === session);
  return next?.kind === 'agent_next' ? next.id : undefined;
}

function crossing(effect: ProgramEffect): ProgramEffect {
  if (effect.kind !== 'emit' && effect.kind !== 'ask') return effect;
  return { ...effect, payload: text(effect.payload) };
}

function crossingRequest(request: ProgramRequest): ProgramRequest {
  return request.kind === 'ask' ? { ...request, payload: text(request.payload) } : request;
}

function text({ shown, written }: PlainValue): PlainValue {
  return { shown, written };
}

function known<Item>(items: ReadonlyMap<number, Item>, number: number): Item {
  const item = items.get(number);
  if (item === undefined) throw new Error(`there is no ${number} in this process`);
  return item;
}

/** Written by this version of ourselves. */
function isJob(data: unknown): data is MachineJob {
  return typeof data === 'object' && data !== null && 'kind' in data;
}
