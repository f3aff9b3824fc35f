import { AgentEvent, SessionEvent } from '@concerto/protocol';
import { describeCorpus } from './corpus.ts';

describeCorpus(
  'event',
  Object.fromEntries(
    [...AgentEvent.def.options, ...SessionEvent.def.options].map((shape) => [shape.shape.type.def.values[0], shape]),
  ),
);
