import { display } from '../display.ts';
import { field } from '../fault.ts';
import type { Native } from '../machine.ts';
import { array, record, type Value } from '../value.ts';
import { declaredMemory, modelOf, targetOf } from './model-target.ts';

/** target, method, type, prompt → state. */
export const beginModel: Native = (stack, at, _count, vm) => {
  const { ref, options } = targetOf(stack[at]);
  const model = modelOf(vm, ref.name);
  const prompt = stack[at + 3] ?? null;
  const memory = options.memory ?? declaredMemory(vm, model);
  const system = options.system ?? model.config.system_prompt;
  const messages: Value[] = [];
  if (typeof system === 'string' && system !== '') messages.push(message('system', system));
  for (const past of memory?.messages ?? []) messages.push(message(past.role, past.content));
  const own = promptMessages(prompt, options.context);
  const state = record({
    target: stack[at] ?? null,
    model: model.name,
    method: stack[at + 1] ?? null,
    type: stack[at + 2] ?? null,
    prompt: own.at(-1)?.content ?? '',
    messages: array([...messages, ...own.map(({ role, content }) => message(role, content))]),
    attempt: 1,
    schemaAttempt: 1,
    rounds: 0,
    delay: 0,
    result: null,
    calls: array([]),
    called: array([]),
  });
  return state;
};

function message(role: string, content: string): Value {
  return record({ role, content });
}

/** A text, a Prompt, or a list of messages. */
function promptMessages(prompt: Value, context: Value): { role: string; content: string }[] {
  const found: { role: string; content: string }[] = [];
  if (context !== undefined && context !== null) found.push({ role: 'user', content: `Context: ${display(context)}` });
  if (typeof prompt === 'object' && prompt !== null && prompt.kind === 'struct' && prompt.type.name === 'Prompt') {
    const system = field(prompt, 'system');
    if (typeof system === 'string') found.push({ role: 'system', content: system });
    const own = field(prompt, 'context');
    if (own !== null && own !== undefined) found.push({ role: 'user', content: `Context: ${display(own)}` });
    return [...found, ...promptMessages(field(prompt, 'messages'), null)];
  }
  if (typeof prompt === 'object' && prompt !== null && prompt.kind === 'array') {
    const messages = prompt.items.flatMap((item) => (isMessage(item) ? [item] : []));
    if (messages.length > 0 && messages.length === prompt.items.length) {
      for (const item of messages)
        found.push({ role: display(part(item, 'role')), content: display(part(item, 'content')) });
      return found;
    }
  }
  return [...found, { role: 'user', content: display(prompt) }];
}

function isMessage(value: Value): value is Extract<Value, { kind: 'struct' | 'map' }> {
  if (typeof value !== 'object' || value === null) return false;
  return (
    (value.kind === 'struct' && value.type.name === 'Message') || (value.kind === 'map' && value.entries.has('role'))
  );
}

function part(value: Extract<Value, { kind: 'struct' | 'map' }>, name: string): Value {
  return value.kind === 'struct' ? field(value, name) : value.entries.get(name);
}
