import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { callApp } from './called-app.ts';

/** `WIRE_FUZZ=20000` for a long run. */
const rounds = Number(process.env.WIRE_FUZZ ?? '400');

const app = callApp();
afterAll(() => app.close());

const valid = {
  // Ids that nobody can have: what is right in every way is refused for that, and no stream is opened.
  '/api/agui/nobody': {
    threadId: 't',
    runId: 'r',
    messages: [
      { id: 's', role: 'system', content: 'be kind' },
      { id: 'u', role: 'user', content: [{ type: 'text', text: 'hello' }] },
    ],
    tools: [],
    context: [],
    state: {},
    forwardedProps: { agent: 'nobody', priority: 'queued' },
    resume: [{ interruptId: 'i', status: 'resolved', payload: { approved: true } }],
  },
  '/api/agui?agent=nobody': { threadId: 't', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'hello' }] },
  '/api/chat?agent=nobody': {
    id: 'c',
    trigger: 'submit-message',
    messages: [
      {
        id: 'a',
        role: 'assistant',
        metadata: { position: 3 },
        parts: [{ type: 'dynamic-tool', toolCallId: 'x', state: 'output-available' }],
      },
      { id: 'u', role: 'user', parts: [{ type: 'text', text: 'hello' }] },
    ],
  },
  '/api/chat/nobody/stop': {},
} as const;

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1e308, '', '\u0000', '__proto__', [], {}, [[]], 'x'.repeat(300)),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The value with one place in it replaced, left out, or doubled. */
function mutated(value: unknown, path: readonly number[], change: unknown): unknown {
  const [step, ...rest] = path;
  if (typeof value !== 'object' || value === null || step === undefined) return change;
  const keys = Object.keys(value);
  const key = keys[step % (keys.length + 1)];
  const copy: Record<string, unknown> = Object.fromEntries(Object.entries(value));
  if (key === undefined) copy[typeof change === 'string' && change !== '' ? change : 'more'] = change;
  else copy[key] = mutated(copy[key], rest, change);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

test('no body makes a wire fail: it is taken, or refused with a reason', { timeout: 600_000 }, async () => {
  const calls = fc.record({
    path: fc.constantFrom(...(Object.keys(valid) as (keyof typeof valid)[])),
    changes: fc.array(fc.tuple(fc.array(fc.nat(6), { maxLength: 5 }), odd), { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(calls, async ({ path, changes }) => {
      let body: unknown = valid[path];
      for (const [place, change] of changes) body = mutated(body, place, change);
      const response = await app.ask(path, { method: 'POST', body: JSON.stringify(body) ?? 'null' });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(await response.json()).toMatchObject({ code: expect.any(String), detail: expect.any(String) });
    }),
    { numRuns: rounds },
  );
  expect(app.complaints).toEqual([]);
});

test('no query makes a stream fail', { timeout: 600_000 }, async () => {
  const query = fc.dictionary(
    fc.constantFrom('offset', 'live', 'cursor', 'x'),
    fc.oneof(fc.string(), fc.constantFrom('-1', 'now', '0'.repeat(16), 'sse')),
  );
  await fc.assert(
    fc.asyncProperty(query, fc.string({ minLength: 1 }), async (asked, id) => {
      const path = `/api/streams/sessions/${encodeURIComponent(`nobody-${id}`)}?${new URLSearchParams(asked)}`;
      const { status } = await app.ask(path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }),
    { numRuns: rounds },
  );
});
