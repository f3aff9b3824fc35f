import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import {
  type Answer,
  createVm,
  display,
  type Effect,
  type Outcome,
  restore,
  resume,
  run,
  snapshot,
  type Vm,
  type VmOptions,
} from '@concerto/vm';

export interface VirtualRun {
  /** `[emit:channel] value` and printed text, a line each. */
  readonly lines: readonly string[];
  readonly outcome: Outcome;
}

export interface VirtualOptions {
  readonly entry: VmOptions['entry'];
  readonly answers: readonly string[];
  readonly events: ReadonlySet<string>;
  /** Write the VM as JSON and go on with what was read back, whenever it gives control back. */
  readonly throughSnapshots: boolean;
}

const SYSTEM = /^(listen:.*|pipeline:(start|stage_start|stage_complete|stage_retry|error|complete)|model:log|panic)$/;

type Pending = { readonly id: number; readonly due: number; readonly answer: Answer };

/** Performs effects without a world: time passes only while the program sleeps, chance and files are fixed. */
export function runVirtually(module: IrModule, options: VirtualOptions): VirtualRun {
  const world = new VirtualWorld(options);
  let vm = createVm(module, { entry: options.entry, capture: typeof options.entry === 'object' });
  for (;;) {
    const result = run(vm, options.throughSnapshots ? 20_000 : 1_000_000);
    for (const effect of result.effects) world.take(effect);
    if (result.status === 'done' || result.status === 'failed') return { lines: world.lines(), outcome: result };
    if (options.throughSnapshots) vm = throughJson(module, vm);
    if (result.status === 'running') continue;
    const next = world.nextAnswer();
    if (next === undefined) throw new Error('the program waits for nothing');
    resume(vm, next.id, next.answer);
  }
}

function throughJson(module: IrModule, vm: Vm): Vm {
  const data: Json = JSON.parse(JSON.stringify(snapshot(vm)));
  return restore(module, data);
}

class VirtualWorld {
  readonly #options: VirtualOptions;
  readonly #pending: Pending[] = [];
  readonly #answers: string[];
  #text = '';
  #now = 1_700_000_000_000;
  #drawn = 0;

  constructor(options: VirtualOptions) {
    this.#options = options;
    this.#answers = [...options.answers];
  }

  lines(): string[] {
    return this.#text
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '');
  }

  take(effect: Effect): void {
    switch (effect.kind) {
      case 'emit':
        if (!SYSTEM.test(effect.channel) || this.#options.events.has(effect.channel)) {
          this.#text += `[emit:${effect.channel}] ${display(effect.payload)}\n`;
        }
        return;
      case 'print':
        this.#text += effect.text;
        return;
      case 'log':
      case 'agent_reply':
      case 'agent_close':
      case 'agent_handling':
        return;
      case 'cancel':
        this.#drop(effect.id);
        return;
      case 'ask':
        this.#text += `[emit:${effect.channel}] ${display(effect.payload)}\n`;
        this.#answer(effect.id, JSON.parse(this.#answers.shift() ?? 'null'));
        return;
      case 'sleep':
        this.#pending.push({ id: effect.id, due: this.#now + effect.ms, answer: { ok: true, value: null } });
        return;
      case 'now':
        this.#answer(effect.id, this.#now);
        return;
      case 'random':
        this.#answer(effect.id, this.#draw(effect));
        return;
      case 'env':
      case 'flush':
        this.#answer(effect.id, null);
        return;
      default:
        this.#pending.push({
          id: effect.id,
          due: this.#now,
          answer: { ok: false, error: { message: `nobody performs ${effect.kind} here` } },
        });
    }
  }

  #answer(id: number, value: Json): void {
    this.#pending.push({ id, due: this.#now, answer: { ok: true, value } });
  }

  #draw(effect: Extract<Effect, { kind: 'random' }>): Json {
    const count = this.#drawn++;
    switch (effect.of) {
      case 'float':
        return (count % 10) / 10;
      case 'int':
        return effect.low + (count % (effect.high - effect.low + 1));
      case 'uuid':
        return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      case 'bytes':
        return '00'.repeat(effect.count);
    }
  }

  /** The one that is due first; among equals the one asked first. */
  nextAnswer(): Pending | undefined {
    let best: Pending | undefined;
    for (const pending of this.#pending) if (best === undefined || pending.due < best.due) best = pending;
    if (best === undefined) return undefined;
    this.#drop(best.id);
    this.#now = Math.max(this.#now, best.due);
    return best;
  }

  #drop(id: number): void {
    const at = this.#pending.findIndex((pending) => pending.id === id);
    if (at !== -1) this.#pending.splice(at, 1);
  }
}
