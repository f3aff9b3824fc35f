import type { StartSession, Template } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { catalogOf } from '../catalog.ts';
import { planStart } from './plan-start.ts';

const review: Template = { name: 'review', agent: 'claude', prompt: 'Review it', tools: { deny: ['Bash'] } };
const catalog = catalogOf([
  { kind: 'agent', name: 'claude', spec: { name: 'claude', command: 'claude' } },
  { kind: 'program', name: 'daily', load: () => ({ ok: false, error: 'not loaded here' }) },
]);

function plan(request: StartSession, template?: Template) {
  return planStart(request, { template, catalog, environment: { TOKEN: 'x' } });
}

describe('what a start means', () => {
  test('8.3 target, prompt and tools come from the template, and the request’s own go over them', () => {
    expect(plan({ template: 'review' }, review)).toMatchObject({
      ok: true,
      value: { kind: 'agent', name: 'claude', title: 'Review it', prompt: 'Review it', tools: { deny: ['Bash'] } },
    });
    const own = { template: 'review', prompt: 'Only the tests', tools: { deny: ['Write'] } };
    expect(plan(own, review)).toMatchObject({
      value: { prompt: 'Only the tests', tools: { deny: ['Bash', 'Write'] } },
    });
    const titled = { ...review, title: 'Review' };
    expect(plan(own, titled)).toMatchObject({ value: { title: 'Review' } });
    expect(plan({ ...own, title: 'Mine' }, titled)).toMatchObject({ value: { title: 'Mine' } });
  });

  test('exactly one target', () => {
    const refused = { ok: false, error: { code: 'invalid_start' } };
    expect(plan({ prompt: 'x' })).toMatchObject(refused);
    expect(plan({ agent: 'claude', program: 'daily', prompt: 'x' })).toMatchObject(refused);
    expect(plan({ template: 'review' }, { ...review, assistant: 'b' })).toMatchObject(refused);
    expect(plan({ program: 'daily' })).toMatchObject({ ok: true, value: { kind: 'program', prompt: 'run daily' } });
  });

  test('names that are not there, with the nearest that is', () => {
    expect(plan({ template: 'reveiw' })).toMatchObject({ error: { code: 'no_such_template' } });
    expect(plan({ agent: 'claud', prompt: 'x' })).toMatchObject({
      error: { code: 'no_such_agent', message: expect.stringContaining('did you mean "claude"') },
    });
  });

  test('an agent is told what to do', () => {
    expect(plan({ agent: 'claude' })).toMatchObject({ error: { code: 'invalid_start' } });
  });

  test('8.1 bad tools refuse the start, the template’s as well as its own, each fault with its path', () => {
    const tools = { servers: { a: { url: '/relative' } } };
    const fault = { code: 'invalid_tools', details: { errors: [{ path: 'servers.a.url' }] } };
    expect(plan({ agent: 'claude', prompt: 'x', tools })).toMatchObject({ ok: false, error: fault });
    expect(plan({ template: 'review' }, { ...review, tools })).toMatchObject({ ok: false, error: fault });
  });

  test('8.2 a secret that is referred to must be there', () => {
    const tools = (name: string) => ({
      servers: { a: { url: 'https://a.example', headers: { authorization: { env: name } } } },
    });
    expect(plan({ agent: 'claude', prompt: 'x', tools: tools('TOKEN') })).toMatchObject({ ok: true });
    expect(plan({ agent: 'claude', prompt: 'x', tools: tools('OTHER') })).toMatchObject({
      error: { code: 'invalid_tools', message: expect.stringContaining('OTHER') },
    });
  });
});
