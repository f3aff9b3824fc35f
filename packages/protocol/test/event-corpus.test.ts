import { AgentEvent, SessionEvent } from '@concerto/protocol';
import { describeCorpus } from './corpus.ts';

describeCorpus(
  'event',
  Object.fromEntries([...AgentEvent.options, ...SessionEvent.options].map((shape) => [shape.shape.type.value, shape])),
);
