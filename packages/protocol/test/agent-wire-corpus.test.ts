import { AgentCommand, KnownAgentMessage } from '@concerto/protocol';
import { describeCorpus } from './corpus.ts';

describeCorpus(
  'agent-wire',
  Object.fromEntries(
    [...AgentCommand.def.options, ...KnownAgentMessage.def.options].map((shape) => [
      shape.shape.type.def.values[0],
      shape,
    ]),
  ),
);
