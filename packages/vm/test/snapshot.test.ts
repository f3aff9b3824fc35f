import type { IrModule } from '@concerto/ir';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import type { Answer, Effect, Request } from '../src/effects.ts';
import { restore } from '../src/restore.ts';
import { snapshot } from '../src/snapshot.ts';
import { SnapshotError } from '../src/snapshot-data.ts';
import { createVm, pendingRequests, resume, run } from '../src/vm.ts';
import { execute, ProgramBuilder, type Ran } from './support.ts';

/** Two closures over one cell, run as fibers that take turns; each says what it sees. */
function sharedCell(): IrModule {
  const program = new ProgramBuilder();
  const counter = program.fn('counter', { params: 0, captures: 2, registers: 10 }, (f) => {
    const [body, exit] = [f.label(), f.label()];
    f.emit('LoadInt', 2, 0);
    f.emit('LoadInt', 3, 4);
    f.emit('ForIntBegin', 2, 0, exit);
    f.place(body);
    f.emit('Borrow', 5, 1);
    f.builtin(5, 'std::time::sleep', 5, 1);
    f.emit('LoadCell', 5, 0);
    f.emit('AddInt', 5, 5, 1);
    f.emit('StoreCell', 0, 5);
    f.tell('seen', 5, 6);
    f.emit('ForIntNext', 2, body);
    f.place(exit);
    f.emit('LoadCell', 5, 0);
    f.emit('Return', 5);
  });
  program.fn('main', {}, (f) => {
    f.emit('LoadInt', 0, 0);
    f.emit('NewCell', 0, 0);
    for (const [index, ms] of [5, 9].entries()) {
      f.emit('Borrow', 6, 0);
      f.emit('LoadInt', 7, ms);
      f.emit('MakeClosure', 2 + index, counter, 6);
    }
    f.emit('AwaitAll', 1, 2, 2);
    f.emit('LoadCell', 2, 0);
    f.emit('MakeArray', 1, 1, 2);
    f.emit('Return', 1);
  });
  return program.build();
}

/** Containers of every kind, aliased before the pause and changed after it. */
function aliases(): IrModule {
  const program = new ProgramBuilder();
  program.module.hashmaps.push({ name: 'store', key: 'String', value: 'Any' });
  program.module.ledgers.push({ name: 'book' });
  program.module.memories.push({ name: 'talk', maxMessages: 3 });
  program.module.structs.push({ name: 'Box', kind: 'struct', fields: [{ name: 'items', type: 'Array<Int>' }] });
  program.module.enums.push({
    name: 'Shape',
    variants: [
      { name: 'Dot', size: 0 },
      { name: 'Line', size: 1 },
    ],
  });
  const slot = program.global('kept');
  program.fn('main', { registers: 24 }, (f) => {
    f.emit('LoadInt', 10, 1);
    f.emit('LoadInt', 11, 2);
    f.emit('MakeArray', 0, 10, 2);
    f.emit('Move', 1, 0);
    f.emit('Move', 10, 0);
    f.emit('MakeStruct', 2, 0, 10);
    f.emit('Move', 10, 0);
    f.emit('MakeVariant', 3, 0, 1, 10);
    f.constant(4, { kind: 'float', value: 1.5 });
    f.emit('MakeSome', 4, 4);
    f.string(10, 'k');
    f.emit('Move', 11, 0);
    f.emit('MakeMap', 5, 10, 1);
    f.emit('Move', 10, 0);
    f.builtin(6, 'std::collections::Set::from', 10, 1);
    f.builtin(7, 'std::collections::Queue::from', 10, 1);
    f.emit('IterBegin', 8, 0);
    f.emit('IterNext', 9, 8, endOf(f));
    f.constant(10, { kind: 'hashmap', name: 'store' });
    f.string(11, 'key');
    f.emit('Move', 12, 0);
    f.builtin(13, 'HashMapRef.set', 10, 3);
    f.constant(10, { kind: 'ledger', name: 'book' });
    f.string(12, 'tag');
    f.emit('LoadInt', 13, 7);
    f.builtin(14, 'LedgerRef.insert', 10, 4);
    f.constant(10, { kind: 'memory', name: 'talk' });
    f.string(11, 'user');
    f.string(12, 'hello');
    f.builtin(13, 'MemoryRef.append', 10, 3);
    f.emit('Move', 10, 1);
    f.emit('StoreGlobal', slot, 10);
    // The pause.
    f.emit('LoadInt', 10, 1);
    f.builtin(10, 'std::time::sleep', 10, 1);
    // Changes: none may be seen through another name.
    f.emit('LoadInt', 12, 0);
    f.emit('LoadInt', 13, 99);
    f.emit('Own', 1);
    f.emit('SetIndex', 1, 12, 13);
    f.emit('Own', 2);
    f.emit('OwnField', 14, 2, f.name('items'));
    f.emit('SetIndex', 14, 12, 13);
    f.emit('IterNext', 9, 8, endOf(f));
    f.emit('Borrow', 10, 7);
    f.builtin(11, 'Queue.dequeue', 10, 1);
    f.emit('Borrow', 7, 10);
    f.constant(10, { kind: 'hashmap', name: 'store' });
    f.string(11, 'key');
    f.builtin(15, 'HashMapRef.get', 10, 2);
    f.constant(10, { kind: 'ledger', name: 'book' });
    f.builtin(16, 'LedgerRef.entries', 10, 1);
    f.constant(10, { kind: 'memory', name: 'talk' });
    f.builtin(17, 'MemoryRef.messages', 10, 1);
    f.emit('LoadGlobal', 18, slot);
    f.emit('MakeArray', 10, 0, 10);
    f.emit('MakeArray', 11, 15, 4);
    f.emit('MakeArray', 0, 10, 2);
    f.emit('Return', 0);
    placeEnd(f);
  });
  return program.build();
}

const ends = new WeakMap<object, number>();
function endOf(f: { label(): number }): number {
  const known = ends.get(f) ?? f.label();
  ends.set(f, known);
  return known;
}
function placeEnd(f: Parameters<Parameters<ProgramBuilder['fn']>[2]>[0]): void {
  f.place(endOf(f));
  f.emit('ReturnNil');
}

/** A fault caught in a frame above, requests in between, a closure that calls itself through a cell. */
function recursive(): IrModule {
  const program = new ProgramBuilder();
  const down = program.fn('down', { params: 1, captures: 1, registers: 8 }, (f) => {
    const more = f.label();
    f.emit('JumpIfNotEqInt', 0, 0, more);
    f.emit('LoadInt', 2, 0);
    f.emit('Div', 2, 2, 2);
    f.place(more);
    f.emit('LoadInt', 3, 1);
    f.builtin(3, 'std::time::sleep', 3, 1);
    f.emit('AddInt', 4, 0, -1);
    f.emit('LoadCell', 2, 1);
    f.emit('CallValue', 3, 2, 4, 1);
    f.emit('Return', 3);
  });
  program.fn('main', {}, (f) => {
    const [start, end, caught] = [f.label(), f.label(), f.label()];
    f.emit('LoadNil', 1);
    f.emit('NewCell', 1, 1);
    f.emit('Borrow', 4, 1);
    f.emit('MakeClosure', 0, down, 4);
    f.emit('Move', 4, 0);
    f.emit('StoreCell', 1, 4);
    f.place(start);
    f.emit('LoadInt', 6, 5);
    f.emit('CallValue', 2, 0, 6, 1);
    f.place(end);
    f.emit('Return', 2);
    f.place(caught);
    f.tell('caught', 8, 10);
    f.emit('GetField', 2, 8, f.name('kind'));
    f.emit('Return', 2);
    f.handler(start, end, caught, 8);
  });
  return program.build();
}

const PROGRAMS = { sharedCell: sharedCell(), aliases: aliases(), recursive: recursive() };

const world = (request: Request): Answer => ({ ok: true, value: request.kind === 'now' ? 1 : null });

function transcript(ran: Ran): string[] {
  const lines = ran.effects.map((effect: Effect) =>
    effect.kind === 'emit'
      ? `${effect.channel} ${display(effect.payload)}`
      : JSON.stringify({ ...effect, payload: undefined }),
  );
  if (ran.status.status === 'done') lines.push(display(ran.status.value));
  if (ran.status.status === 'failed') lines.push(ran.status.failure.message);
  return lines;
}

describe('snapshot and restore', () => {
  test.each(Object.entries(PROGRAMS))('%s: interrupted anywhere, the run is the same', (_, module) => {
    const straight = transcript(execute(module, { world }));
    expect(straight.length).toBeGreaterThan(1);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), (budget) => {
        // A small budget changes who runs first only between effects: compare with the same budget, not interrupted.
        const plain = transcript(execute(module, { world, budget }));
        const broken = transcript(execute(module, { world, budget, interrupt: true }));
        expect(broken).toEqual(plain);
      }),
      { numRuns: 12 },
    );
    expect(transcript(execute(module, { world, interrupt: true }))).toEqual(straight);
  });

  test('the aliased values really are separate, and shared ones really are shared', () => {
    const ran = execute(PROGRAMS.aliases, { world, interrupt: true });
    expect(transcript(ran).at(-1)).toBe(
      '[[[1, 2], [99, 2], Box {items: [99, 2]}, Shape::Line([1, 2]), Some(1.5), {"k": [1, 2]}, {1, 2}, [2], <iterator>, 2], ' +
        '[Some([1, 2]), [LedgerEntry {identifier: key, keys: [tag], value: 7}], [Message {role: user, content: hello}], [1, 2]]]',
    );
    expect(transcript(execute(PROGRAMS.sharedCell, { world, interrupt: true })).at(-1)).toBe('[[7, 8], 8]');
  });

  test('open requests are known after the restore', () => {
    const vm = createVm(PROGRAMS.sharedCell, { entry: 'main' });
    const asked = run(vm).effects;
    const again = restore(PROGRAMS.sharedCell, JSON.parse(JSON.stringify(snapshot(vm))));
    expect(pendingRequests(again)).toEqual(asked);
    const [first] = pendingRequests(again);
    expect(resume(again, first?.id ?? -1, { ok: true, value: null })).toBe(true);
    expect(resume(again, first?.id ?? -1, { ok: true, value: null })).toBe(false);
  });

  test('a finished program stays finished', () => {
    const vm = createVm(PROGRAMS.recursive, { entry: null });
    expect(run(vm).status).toBe('done');
    expect(run(restore(PROGRAMS.recursive, snapshot(vm))).status).toBe('done');
  });

  test('a snapshot of another program or version is refused', () => {
    const data = snapshot(createVm(PROGRAMS.aliases, { entry: 'main' }));
    expect(() => restore(PROGRAMS.recursive, data)).toThrow('another program');
    const changed = structuredClone(PROGRAMS.aliases);
    changed.functions[0]?.code.splice(1, 1, 15);
    expect(() => restore(changed, data)).toThrow('another program');
    expect(() => restore(PROGRAMS.aliases, { ...Object(data), version: 99 })).toThrow('another version');
    expect(() => restore(PROGRAMS.aliases, [])).toThrow(SnapshotError);
  });

  test('a damaged snapshot is refused with its own error', () => {
    const text = JSON.stringify(snapshot(createVm(PROGRAMS.aliases, { entry: 'main' })));
    fc.assert(
      fc.property(fc.nat(text.length - 2), (at) => {
        const cut = text.slice(0, at) + text.slice(at + 1);
        expect(['restored', 'not JSON', 'SnapshotError']).toContain(attempt(cut));
      }),
      { numRuns: 200 },
    );
  });
});

function attempt(text: string): string {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  try {
    restore(PROGRAMS.aliases, data as never);
    return 'restored';
  } catch (cause) {
    return cause instanceof Error ? cause.name : 'unknown';
  }
}
