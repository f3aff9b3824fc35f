import { createHash } from 'node:crypto';

/** The shortest limit among the providers. */
const LONGEST_NAME = 64;
const HASH_CHARACTERS = 8;

/** Names as the providers allow them (`[A-Za-z_][A-Za-z0-9_-]{0,63}`), and the way back. */
export type ToolNames = {
  readonly toWire: (name: string) => string;
  /** A name nobody offered comes back as it is: whoever runs the tools says that there is none. */
  readonly fromWire: (wire: string) => string;
};

export function toolNames(names: Iterable<string>): ToolNames {
  const wires = new Map<string, string>();
  const originals = new Map<string, string>();
  for (const name of names) {
    if (wires.has(name)) continue;
    const plain = wireName(name);
    // Two names may look alike without their colons.
    const wire = originals.has(plain) ? shortened(plain, name) : plain;
    wires.set(name, wire);
    originals.set(wire, name);
  }
  return {
    toWire: (name) => wires.get(name) ?? wireName(name),
    fromWire: (wire) => originals.get(wire) ?? wire,
  };
}

function wireName(name: string): string {
  const allowed = name.replaceAll(/::|\./g, '__').replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const started = /^[A-Za-z_]/.test(allowed) ? allowed : `_${allowed}`;
  return started.length > LONGEST_NAME ? shortened(started, name) : started;
}

function shortened(wire: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `${wire.slice(0, LONGEST_NAME - HASH_CHARACTERS - 1)}_${hash}`;
}
