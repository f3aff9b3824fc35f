import { text } from '../builtins/arguments.ts';
import { mockName } from '../builtins/functions.ts';
import type { SessionVerb } from '../effects.ts';
import { Fault } from '../fault.ts';
import { fromJson } from '../json.ts';
import type { Native, RequestFinish, RequestStart } from '../machine.ts';
import { type RefValue, record, type Value } from '../value.ts';
import { agentError } from './agent-session.ts';
import { targetOf } from './model-target.ts';

/** What a program does to a session: the one of an agent that it called, or the one that it supervises. */

/** The same for every call of the agent: which session it is, its runtime knows. */
const sessionOfAgent: Native = (stack, at): RefValue => {
  const { ref } = targetOf(stack[at]);
  return { kind: 'ref', of: 'session', name: ref.name };
};

/** Fields of `mock Session` that stand for what is asked; whatever is done is in `mock_calls(Session)`. */
function does(verb: SessionVerb, known?: Value) {
  const start: RequestStart = ([session, given], vm) => {
    const said = given === undefined ? {} : { text: text(given, 'the text') };
    const mock = vm.mocks.get(mockName(session));
    if (mock !== undefined) {
      if (known !== undefined) return { value: mock.config.get(verb) ?? known };
      mock.calls.push(record({ type: verb, ...said }));
      return { value: null };
    }
    return { request: { kind: 'session', session: targetOf(session).ref.name, verb, ...said } };
  };
  const finish: RequestFinish = (answer, [session]) => {
    if (!answer.ok) throw new Fault(agentError(targetOf(session).ref.name, answer.error));
    return fromJson(answer.value);
  };
  return { start, finish };
}

export const SESSION_ROWS = {
  'AgentRef.session': sessionOfAgent,
  'Session.id': does('id', 'session'),
  'Session.status': does('status', 'running'),
  'Session.usage': does('usage', record({ input_tokens: 0, output_tokens: 0 })),
  'Session.steer': does('steer'),
  'Session.pause': does('pause'),
  'Session.resume': does('resume'),
  'Session.interrupt': does('interrupt'),
} as const;
