import type { JsonObject } from '@concerto/base';
import { expect, test } from 'vitest';
import { NamedCalls } from './approval-call.ts';

type Raw = JsonObject & { readonly type: string };

function heard(...said: readonly Raw[]): readonly JsonObject[] {
  const calls = new NamedCalls();
  return said.flatMap((raw) => {
    const batch = calls.complete([{ kind: 'message', raw, message: raw }]);
    for (const word of batch) expect(word.message).toEqual(word.raw);
    return batch.map((word) => word.raw);
  });
}

const call: Raw = {
  type: 'tool_call',
  id: 'c1',
  name: 'Bash',
  kind: 'execute',
  args: { command: 'rm -rf b' },
  locations: [{ path: 'b' }],
};

test('what an approval leaves out is taken from the call that it names', () => {
  const [, asked] = heard(call, { type: 'approval', description: 'May I?', call: 'c1' });
  expect(asked).toEqual({
    type: 'approval',
    description: 'May I?',
    call: 'c1',
    tool: 'Bash',
    kind: 'execute',
    command: 'rm -rf b',
    paths: ['b'],
  });
});

test('what it says itself counts, and what names no call is as it was', () => {
  const own: Raw = { type: 'approval', description: 'x', call: 'c1', tool: 'Shell', command: 'ls' };
  const [, asked, other, none] = heard(
    call,
    own,
    { type: 'approval', description: 'y', call: 'c2' },
    { type: 'approval', description: 'z' },
  );
  expect(asked).toMatchObject({ tool: 'Shell', command: 'ls', kind: 'execute' });
  expect(other).toEqual({ type: 'approval', description: 'y', call: 'c2' });
  expect(none).toEqual({ type: 'approval', description: 'z' });
});
