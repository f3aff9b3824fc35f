import type { Json } from '@concerto/base';
import { share } from '../copy-on-write.ts';
import { type Fault, fault } from '../fault.ts';
import { stringify } from '../json.ts';
import type { RequestFinish, RequestStart, Vm } from '../machine.ts';
import { emptyMap, record } from '../value.ts';
import { get, stateOf, textOf } from './state.ts';

/** Where a person or a program is asked whether a model may call a tool. */
const CHANNEL = 'tool:permission';
/** Of the arguments, in the words for whoever decides; all of them are in the payload. */
const SHOWN_ARGUMENTS = 2_000;

/** state, call → true. A call that `@permission` does not let through fails. */
const start: RequestStart = ([state, value], vm) => {
  const call = stateOf(value);
  const name = textOf(call, 'name');
  const { permission, description } = ruleOf(vm, name);
  if (permission === 'allow') return { value: true };
  if (permission !== 'ask') throw denied(name, 'its @permission is "deny"');
  const [tool = '', method = ''] = name.split('::');
  const given = share(get(call, 'arguments') ?? emptyMap());
  const shown = stringify(given);
  const cut = shown.length > SHOWN_ARGUMENTS ? `${shown.slice(0, SHOWN_ARGUMENTS)}…` : shown;
  const payload = record({
    tool,
    method,
    arguments: given,
    description: `${textOf(stateOf(state), 'model')} wants to call ${name} with ${cut}${description === '' ? '' : `: ${description}`}`,
  });
  if (vm.capture) vm.captured.push({ channel: CHANNEL, payload });
  return { request: { kind: 'ask', channel: CHANNEL, payload } };
};

const finish: RequestFinish = (answer, [, value]) => {
  if (answer.ok && (answer.value === true || answer.value === 'yes')) return true;
  throw denied(textOf(stateOf(value), 'name'), answer.ok ? 'it was not approved' : answer.error.message);
};

function denied(name: string, why: string): Fault {
  return fault('ToolError', `permission denied: ${name} was not called; ${why}`, { kind: 'PermissionDenied' });
}

/** What is not written is allowed; what is written and not known is not. */
function ruleOf(vm: Vm, name: string): { readonly permission: Json; readonly description: string } {
  const [owner = '', method = ''] = name.split('::');
  const { tools, mcp } = vm.program.module;
  const own = tools.find((tool) => tool.name === owner)?.methods.find((candidate) => candidate.name === method);
  if (own !== undefined) {
    const written = own.decorators.find((decorator) => decorator.name === 'permission');
    return { permission: written === undefined ? 'allow' : (written.args[0] ?? null), description: own.description };
  }
  const declared = mcp.find((server) => server.name === owner)?.tools;
  // A block writes `get_sum` for a tool called `get-sum`.
  const names = [method, method.replaceAll(/\W/g, '_')];
  const remote = declared?.find((candidate) => names.includes(candidate.name));
  return { permission: remote?.permission ?? 'allow', description: remote?.description ?? '' };
}

export const TOOL_PERMISSION = { start, finish } as const;
