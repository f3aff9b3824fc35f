import type { RunnerOptions } from '@concerto/runtime';
import { ownMachines } from '../../packages/runtime/src/program/machine/own-machine.ts';
import type { PortGate } from './faulty-log.ts';

/** As a server has them: in another process, so that what happens meanwhile is there before a turn is. */
export function farMachines(gate: PortGate): NonNullable<RunnerOptions['machines']> {
  return {
    begin: (start) =>
      gate.machine('begin', async () => {
        const machine = await ownMachines.begin(start);
        return {
          pending: machine.pending,
          isElsewhere: true,
          turn: (given) => gate.machine('turn', async () => await machine.turn(given)),
          places: () => machine.places(),
          snapshot: () => gate.machine('snapshot', async () => await machine.snapshot()),
          close: () => machine.close(),
        };
      }),
  };
}
