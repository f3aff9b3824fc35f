import type { PreludeBuilder } from './define.ts';

/** Changes of a hashmap: done and saved first, then told to its listeners. */
export function defineHashMaps(prelude: PreludeBuilder): void {
  for (const [method, params] of [
    ['set', 3],
    ['set_many', 2],
    ['delete', 2],
    ['clear', 1],
  ] as const) {
    prelude.define(`HashMapRef.${method}`, { params, registers: 14 }, (f) => {
      const [loop, exit] = [f.label(), f.label()];
      const [CHANGE, ITERATOR, CALL] = [4, 5, 6];
      f.builtin(CHANGE, `$hashmap_${method}`, 0, params);
      f.emit('Borrow', CALL, 0);
      f.builtin(CALL, '$hashmap_save', CALL, 1);
      f.emit('GetItem', ITERATOR, CHANGE, 1);
      f.emit('IterBegin', ITERATOR, ITERATOR);
      f.place(loop);
      f.emit('IterNext', CALL, ITERATOR, exit);
      f.emit('GetItem', CALL + 1, CALL, 0);
      f.emit('GetItem', CALL + 2, CALL, 1);
      f.builtin(CALL + 3, '$apply', CALL + 1, 2);
      f.emit('Jump', loop);
      f.place(exit);
      f.emit('GetItem', CHANGE, CHANGE, 0);
      f.emit('Return', CHANGE);
    });
  }
}
