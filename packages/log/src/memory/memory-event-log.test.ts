import { eventLogContract } from '../testing/event-log-contract.ts';
import { memoryEventLog } from './memory-event-log.ts';

eventLogContract('memory', async () => {
  let time = 1_700_000_000_000;
  const log = memoryEventLog({ now: () => time });
  return {
    log,
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
    dispose: () => log.close(),
  };
});
