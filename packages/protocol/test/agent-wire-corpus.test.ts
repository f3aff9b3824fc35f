import { AgentCommand, KnownAgentMessage } from '@concerto/protocol';
import { describeCorpus } from './corpus.ts';

describeCorpus(
  'agent-wire',
  Object.fromEntries(
    [...AgentCommand.options, ...KnownAgentMessage.options].map((shape) => [shape.shape.type.value, shape]),
  ),
);
