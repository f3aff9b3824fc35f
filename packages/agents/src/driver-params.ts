import { type DriverParams, readDriverParams } from '@concerto/protocol';
import type { AgentSpec } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';

/** `[agents.NAME.params]` in the driver's own shape. */
export function readParams<Protocol extends keyof DriverParams>(
  { name, params = {} }: AgentSpec,
  protocol: Protocol,
): DriverParams[Protocol] {
  const read = readDriverParams(protocol, params);
  if (read.ok) return read.value;
  throw new AgentError('init-refused', `agent "${name}": ${read.error}`);
}
