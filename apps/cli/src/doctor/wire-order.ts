import type { Json, JsonObject } from '@concerto/base';
import { type Fault, shorten } from './wire-shape.ts';

const excerptLength = 100;
/** Of calls that were left open so many are named. */
const namedMax = 5;

/** Belongs to a turn: outside of one it stands after the result that it led to, or before anybody asked for it. */
const ofTurn: ReadonlySet<string> = new Set([
  'partial',
  'message',
  'thought',
  'tool_call',
  'tool_output',
  'tool_result',
  'plan',
]);

type Typed = JsonObject & { readonly type: string };

/** Holds what an agent says, one after another, against what has been said before: turns, questions, calls. */
export class WireOrder {
  #turn: 'none' | 'open' | 'ended' = 'none';
  /** Those that wait for their answer. */
  readonly #asked = new Set<string>();
  /** All that were ever made; of some the end is still to come. */
  readonly #calls = new Set<string>();
  readonly #open = new Set<string>();

  prompted(): void {
    this.#turn = 'open';
  }

  /** By what it was asked to do. */
  stopped(): void {
    this.#turn = 'ended';
  }

  answered(type: string, id: Json | undefined): void {
    this.#asked.delete(nameOf(type, id) ?? '');
  }

  faults(raw: Typed): readonly Fault[] {
    switch (raw.type) {
      case 'result':
      case 'error':
        return this.#ended(raw.type);
      case 'question':
      case 'approval':
        return [...(this.#turn === 'none' ? [this.#unasked(raw.type)] : []), ...this.#asks(raw)];
      case 'tool_call':
        return [...this.#outside(raw), ...this.#made(raw)];
      case 'tool_output':
      case 'tool_result':
        return [...this.#outside(raw), ...this.#ofCall(raw)];
      default:
        return this.#outside(raw);
    }
  }

  #ended(type: string): readonly Fault[] {
    // One that cannot begin says so with an `error`.
    const isUnasked = this.#turn === 'ended' || (this.#turn === 'none' && type === 'result');
    const left = this.#turn === 'open' ? this.#leftOpen() : [];
    const unasked = isUnasked ? [this.#unasked(type)] : [];
    if (this.#turn === 'open') this.#turn = 'ended';
    return [...unasked, ...left];
  }

  #outside({ type }: Typed): readonly Fault[] {
    return ofTurn.has(type) && this.#turn !== 'open' ? [this.#unasked(type)] : [];
  }

  #unasked(type: string): Fault {
    const when = this.#turn === 'none' ? 'before the first prompt' : 'after the turn had ended';
    return {
      key: `${type} ${when}`,
      status: this.#turn === 'none' ? 'fail' : 'warn',
      message: `\`${type}\` ${when}`,
      help: 'send one `result` or `error` for each prompt, and nothing of a turn outside it',
    };
  }

  #asks({ type, id }: Typed): readonly Fault[] {
    const name = nameOf(type, id);
    if (name === undefined) return [];
    const isOpen = this.#asked.has(name);
    this.#asked.add(name);
    if (!isOpen) return [];
    return [
      {
        key: `${type} id`,
        status: 'fail',
        message: `\`${type}\` with the id ${shown(id)} of one that waits for its answer`,
        help: `give every \`${type}\` an id of its own: it is how you tell whose answer comes`,
      },
    ];
  }

  #made({ id, parent }: Typed): readonly Fault[] {
    const name = nameOf('call', id);
    if (name === undefined) return [];
    const isOpen = this.#open.has(name);
    const of = nameOf('call', parent);
    const isOrphan = of !== undefined && !this.#calls.has(of);
    this.#calls.add(name);
    this.#open.add(name);
    return [
      ...(isOpen
        ? [
            {
              key: 'tool_call id',
              status: 'warn',
              message: `\`tool_call\` with the id ${shown(id)} of a call that is open, which it ends`,
              help: 'give every call an id of its own',
            } as const,
          ]
        : []),
      ...(isOrphan
        ? [
            {
              key: 'tool_call parent',
              status: 'warn',
              message: `\`tool_call\`: field \`parent\`: no call before it has the id ${shown(parent)}`,
              help: 'name the `id` of the call whose sub-agent makes this one, or leave `parent` out',
            } as const,
          ]
        : []),
    ];
  }

  #ofCall({ type, id }: Typed): readonly Fault[] {
    const name = nameOf('call', id);
    if (name === undefined) return [];
    const isOpen = this.#open.has(name);
    if (type === 'tool_result') this.#open.delete(name);
    if (isOpen) return [];
    return [
      {
        key: `${type} id`,
        status: 'warn',
        message: `\`${type}\` for the id ${shown(id)}, which no open call has`,
        help: 'send `tool_call` with that `id` before it, and one `tool_result` as the last of the call',
      },
    ];
  }

  #leftOpen(): readonly Fault[] {
    if (this.#open.size === 0) return [];
    const names = [...this.#open].map((name) => name.slice('call '.length));
    this.#open.clear();
    const more = names.length > namedMax ? ', …' : '';
    const calls = names.length === 1 ? '1 call is' : `${names.length} calls are`;
    return [
      {
        key: 'calls left open',
        status: 'warn',
        message: `${calls} without a \`tool_result\` at the end of the turn, and shown as cancelled: ${names.slice(0, namedMax).join(', ')}${more}`,
        help: 'send a `tool_result` with its `id` for each `tool_call`',
      },
    ];
  }
}

/** Undefined where it names nothing; what has the wrong type is at fault already. */
function nameOf(kind: string, id: Json | undefined): string | undefined {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? `${kind} ${id}` : undefined;
}

function shown(id: Json | undefined): string {
  return shorten(JSON.stringify(id ?? null), excerptLength);
}
