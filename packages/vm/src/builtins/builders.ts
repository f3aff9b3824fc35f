import { share } from '../copy-on-write.ts';
import { AGENT_ROWS } from '../internals/agent-session.ts';
import { toolName } from '../internals/model-request.ts';
import { targetOf } from '../internals/model-target.ts';
import { SESSION_ROWS } from '../internals/sessions.ts';
import type { Native } from '../machine.ts';
import type { BuilderOptions, Value } from '../value.ts';
import { integer, list, numeric, text } from './arguments.ts';
import type { Entries } from './entry.ts';
import { memoryOf } from './stores.ts';

/** A model or agent with options. Each step makes a new builder. */
const build =
  (change: (stack: readonly Value[], at: number, count: number) => BuilderOptions): Native =>
  (stack, at, count) => {
    const { ref, options } = targetOf(stack[at]);
    return { kind: 'builder', target: ref, options: { ...options, ...change(stack, at, count) } };
  };

const withMemory = build((stack, at, count) => ({
  memory: memoryOf(stack[at + 1]),
  remember: count > 2 ? stack[at + 2] !== false : true,
}));
const withTools = build((stack, at) => {
  const tools = list(stack[at + 1], 'the tools').items;
  tools.forEach(toolName);
  return { tools: tools.map(share) };
});
const withoutTools = build(() => ({ withoutTools: true, tools: [] }));
const withContext = build((stack, at) => ({ context: share(stack[at + 1]) }));
const withSystem = build((stack, at) => ({ system: text(stack[at + 1], 'the system prompt') }));
const withTemperature = build((stack, at) => ({ temperature: numeric(stack[at + 1], 'the temperature') }));
const withTimeout = build((stack, at) => ({ timeout: integer(stack[at + 1], 'the seconds') }));

export const BUILDERS = {
  ...AGENT_ROWS,
  ...SESSION_ROWS,
  'ModelRef.execute': 'prelude',
  'ModelRef.chat': 'prelude',
  'ModelRef.stream': 'prelude',
  'ModelRef.execute_with_schema': 'prelude',
  'ModelRef.with_memory': withMemory,
  'ModelRef.with_tools': withTools,
  'ModelRef.without_tools': withoutTools,
  'ModelRef.with_context': withContext,
  'ModelRef.with_system': withSystem,
  'ModelRef.with_temperature': withTemperature,
  'ModelRef.with_timeout': withTimeout,
  'AgentRef.execute': 'prelude',
  'AgentRef.execute_with_schema': 'prelude',
  'AgentRef.with_memory': withMemory,
  'AgentRef.with_context': withContext,
  'AgentRef.with_tools': withTools,
  'AgentRef.without_tools': withoutTools,
  'AgentRef.with_timeout': withTimeout,
  'Builder.execute': 'prelude',
  'Builder.chat': 'prelude',
  'Builder.stream': 'prelude',
  'Builder.execute_with_schema': 'prelude',
  'Builder.with_memory': withMemory,
  'Builder.with_tools': withTools,
  'Builder.without_tools': withoutTools,
  'Builder.with_context': withContext,
  'Builder.with_system': withSystem,
  'Builder.with_temperature': withTemperature,
  'Builder.with_timeout': withTimeout,
  'PipelineRef.run': 'prelude',
} as const satisfies Entries;
