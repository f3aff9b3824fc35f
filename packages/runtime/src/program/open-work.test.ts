import { describe, expect, test } from 'vitest';
import type { ProgramRequest } from './machine/machine.ts';
import { OpenWork } from './open-work.ts';

const AT = 1_000_000;

/** What becomes of a request that had no answer: `again`, its answer, or the kind of its error. */
function fate(request: ProgramRequest): unknown {
  const work = new OpenWork();
  work.took(request, AT);
  const { inputs, again } = work.recover(AT + 400, { keepsAgents: false });
  const [input] = inputs;
  if (input === undefined) return again.map((one) => (one.kind === 'sleep' ? `again for ${one.ms}` : 'again')).join();
  if (input.kind !== 'answer') return input.kind;
  return input.answer.ok ? input.answer.value : input.answer.error.kind;
}

const id = 1;
const http = { kind: 'http', url: 'http://x', body: null, headers: {}, id } as const;
const rows: readonly (readonly [ProgramRequest, unknown])[] = [
  [{ kind: 'ask', channel: 'c', payload: { shown: '1', written: '1' }, id }, 'again'],
  [{ kind: 'now', id }, 'again'],
  [{ kind: 'env', name: 'X', id }, 'again'],
  [{ kind: 'sleep', ms: 1000, id }, 'again for 600'],
  [{ kind: 'sleep', ms: 100, id }, 'again for 0'],
  [{ kind: 'sleep', ms: 1000, limit: true, id }, 'again for 1000'],
  [{ kind: 'file', op: 'read', path: 'f', id }, 'again'],
  [{ kind: 'file', op: 'write', path: 'f', text: 't', id }, 'again'],
  [{ kind: 'file', op: 'replace', path: 'f', text: 't', id }, 'again'],
  [{ kind: 'file', op: 'append', path: 'f', text: 't', id }, 'interrupted'],
  [{ ...http, method: 'GET' }, 'again'],
  [{ ...http, method: 'POST' }, 'interrupted'],
  [{ ...http, method: 'DELETE' }, 'interrupted'],
  [{ kind: 'mcp_tools', server: 's', id }, 'again'],
  [{ kind: 'mcp_call', server: 's', tool: 't', arguments: {}, id }, 'interrupted'],
  [{ kind: 'model_next', stream: 'stream-1', id }, 'network'],
  [{ kind: 'agent_about', agent: 'A', id }, 'again'],
  [{ kind: 'agent_shutdown', agent: 'A', id }, null],
];

describe('what was under way', () => {
  test.each(rows)('%o', (request, expected) => {
    expect(fate(request)).toBe(expected);
  });

  test('a request that was not made yet is made as it is', () => {
    const work = new OpenWork();
    work.took({ kind: 'file', op: 'append', path: 'f', text: 't', id: 1 });
    work.took({ kind: 'sleep', ms: 9, id: 2 });
    const { inputs, again, repeated } = work.recover(AT, { keepsAgents: false });
    expect({ inputs, ids: again.map((request) => request.id), repeated: repeated.size }).toEqual({
      inputs: [],
      ids: [1, 2],
      repeated: 0,
    });
  });

  test('what is overdue ends in the order of time', () => {
    const work = new OpenWork();
    for (const [name, ms] of [30, 10, 20].entries()) work.took({ kind: 'sleep', ms, id: name }, AT);
    expect(work.recover(AT + 400, { keepsAgents: false }).again.map((request) => request.id)).toEqual([1, 2, 0]);
  });

  test('a session is lost unless it was closed or has its result', () => {
    const work = new OpenWork();
    const open = { agent: 'A', connector: 'a', config: {}, params: null, prompt: 'p', context: undefined } as const;
    for (const session of ['A-1', 'A-2', 'A-3']) {
      const number = Number(session.slice(2));
      const rest = { timeoutSeconds: null, listen: true, stderr: false, id: number };
      work.took({ kind: 'agent_open', ...open, ...rest }, AT);
      work.got({ kind: 'answer', id: number, answer: { ok: true, value: { session } } }, AT);
    }
    work.took({ kind: 'agent_close', session: 'A-1', reason: 'done' }, AT);
    work.took({ kind: 'agent_next', session: 'A-2', id: 9 }, AT);
    work.got({ kind: 'answer', id: 9, answer: { ok: true, value: { message: { type: 'result' } } } }, AT);
    const { inputs } = work.recover(AT, { keepsAgents: false });
    expect(inputs).toMatchObject([{ kind: 'expired', session: 'A-3', error: { kind: 'exited' } }]);
    const kept = work.recover(AT, { keepsAgents: true });
    expect(kept.inputs).toEqual([]);
    expect(kept.calls).toMatchObject([{ session: 'A-3', place: 0, replies: [] }]);
  });
});
