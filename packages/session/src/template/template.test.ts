import { describe, expect, test } from 'vitest';
import { checkTemplate, resolveStart } from './template.ts';

const template = { name: 'review', agent: 'claude', prompt: 'Review it', tools: { deny: ['Bash'] } };

describe('template', () => {
  test('8.3 a start takes target, prompt and tools from its template, and its own over them', () => {
    expect(resolveStart({ template: 'review' }, template)).toMatchObject({
      ok: true,
      value: {
        target: { kind: 'agent', name: 'claude' },
        prompt: 'Review it',
        tools: { deny: ['Bash'] },
        template: 'review',
      },
    });
    const own = { template: 'review', prompt: 'Only the tests', tools: { deny: ['Write'] } };
    expect(resolveStart(own, template)).toMatchObject({
      value: { prompt: 'Only the tests', tools: { deny: ['Bash', 'Write'] } },
    });
  });

  test('exactly one target', () => {
    expect(checkTemplate({ name: 'x' })).toMatchObject({ ok: false, error: { code: 'invalid_target' } });
    expect(checkTemplate({ name: 'x', agent: 'a', program: 'b' })).toMatchObject({ ok: false });
    expect(resolveStart({ agent: 'a', assistant: 'b' }, undefined)).toMatchObject({ ok: false });
    expect(resolveStart({ template: 'review', agent: 'a' }, template)).toMatchObject({ ok: false });
    expect(resolveStart({ program: 'p' }, undefined)).toMatchObject({
      ok: true,
      value: { target: { kind: 'program' } },
    });
  });

  test('8.1 bad tools refuse the template and the start, each fault with its path', () => {
    const tools = { servers: { a: { url: '/relative' } } };
    const fault = { code: 'invalid_tools', errors: [{ path: 'servers.a.url' }] };
    expect(checkTemplate({ ...template, tools })).toMatchObject({ ok: false, error: fault });
    expect(resolveStart({ agent: 'a', tools }, undefined)).toMatchObject({ ok: false, error: fault });
    expect(checkTemplate(template)).toMatchObject({ ok: true });
  });
});
