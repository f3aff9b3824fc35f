import type { Json } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import { checkToolConfig, mergeToolConfigs, missingSecrets, toolRule } from './tool-config.ts';

const faults = (config: Json) => {
  const checked = checkToolConfig(config);
  return checked.ok ? [] : checked.error.map((fault) => fault.path);
};
const valid = (config: Json) => {
  const checked = checkToolConfig(config);
  if (!checked.ok) throw new Error(JSON.stringify(checked.error));
  return checked.value;
};

describe('tool configuration', () => {
  test('8.1 stdio, http and sse servers with their tools', () => {
    const config = valid({
      servers: {
        files: { command: 'mcp-files', args: ['.'], env: { MODE: 'fast', FILES_TOKEN: { env: 'FILES_TOKEN' } } },
        web: { transport: 'http', url: 'https://tools.example/mcp', headers: { Authorization: { env: 'WEB_TOKEN' } } },
        old: {
          type: 'sse',
          url: 'http://127.0.0.1:9/sse',
          enabled: false,
          tools: { read: { enabled: true, approval: 'ask' } },
        },
      },
      allow: ['Read', 'files.*'],
      deny: ['Bash'],
    });
    expect(Object.values(config.servers ?? {}).map((server) => server.transport)).toEqual(['stdio', 'http', 'sse']);
    expect(valid({})).toEqual({});
  });

  test.each<[string, Json, string]>([
    ['an unknown key', { server: {} }, 'server'],
    ['an unknown key in a server', { servers: { a: { command: 'x', comand: 'y' } } }, 'servers.a.comand'],
    [
      'a url in a stdio server',
      { servers: { a: { transport: 'stdio', command: 'x', url: 'http://x' } } },
      'servers.a.url',
    ],
    ['no transport', { servers: { a: {} } }, 'servers.a.transport'],
    ['an unknown transport', { servers: { a: { transport: 'carrier-pigeon', url: 'x' } } }, 'servers.a.transport'],
    ['no command', { servers: { a: { transport: 'stdio' } } }, 'servers.a.command'],
    ['an empty command', { servers: { a: { command: '' } } }, 'servers.a.command'],
    ['a relative url', { servers: { a: { url: '/mcp' } } }, 'servers.a.url'],
    ['a file url', { servers: { a: { url: 'file:///etc/passwd' } } }, 'servers.a.url'],
    ['a password in a url', { servers: { a: { url: 'https://me:secret@x/' } } }, 'servers.a.url'],
    [
      'a secret in a header',
      { servers: { a: { url: 'https://x', headers: { Authorization: 'Bearer abc' } } } },
      'servers.a.headers.Authorization',
    ],
    [
      'a secret in the environment',
      { servers: { a: { command: 'x', env: { API_KEY: 'abc' } } } },
      'servers.a.env.API_KEY',
    ],
    ['a reference to nothing', { servers: { a: { command: 'x', env: { K: { env: '' } } } } }, 'servers.a.env.K.env'],
    ['a number in the environment', { servers: { a: { command: 'x', env: { K: 3 } } } }, 'servers.a.env.K'],
    ['a bad server name', { servers: { 'a b': { command: 'x' } } }, 'servers.a b'],
    [
      'an unknown approval',
      { servers: { a: { command: 'x', tools: { t: { approval: 'maybe' } } } } },
      'servers.a.tools.t.approval',
    ],
    [
      'an unknown tool setting',
      { servers: { a: { command: 'x', tools: { t: { on: true } } } } },
      'servers.a.tools.t.on',
    ],
    ['args that are no list', { servers: { a: { command: 'x', args: '-v' } } }, 'servers.a.args'],
    ['a deny list that is no list', { deny: 'Bash' }, 'deny'],
    ['a pattern listed twice', { deny: ['Bash', 'Bash'] }, 'deny.1'],
    ['a list instead of an object', [], ''],
    ['nothing', null, ''],
  ])('8.1 %s is named by its path', (_, config, path) => {
    expect(faults(config)).toEqual([path]);
  });

  test('8.1 every fault is told at once, and a slip gets a suggestion', () => {
    const checked = checkToolConfig({ servers: { a: { command: 'x', argz: [] }, b: { url: 'nowhere' } } });
    expect(checked.ok ? [] : checked.error).toEqual([
      { path: 'servers.a.argz', message: 'unknown key; did you mean "args"?' },
      { path: 'servers.b.url', message: 'must be an absolute http or https URL' },
    ]);
  });

  test('8.1 deny wins over allow, over the server and over the tool', () => {
    const config = valid({
      servers: {
        files: {
          command: 'x',
          tools: { read: {}, write: { approval: 'ask' }, remove: { enabled: false }, wipe: { approval: 'deny' } },
        },
        off: { command: 'x', enabled: false },
      },
      allow: ['files.*', 'off', 'Read*'],
      deny: ['files.sec*t', 'ReadSecret'],
    });
    expect(toolRule(config, 'read', 'files')).toBe('auto');
    expect(toolRule(config, 'write', 'files')).toBe('ask');
    expect(toolRule(config, 'remove', 'files')).toBe('deny');
    expect(toolRule(config, 'wipe', 'files')).toBe('deny');
    expect(toolRule(config, 'secret', 'files')).toBe('deny');
    expect(toolRule(config, 'any', 'off')).toBe('deny');
    expect(toolRule(config, 'any', 'unknown')).toBe('deny');
    expect(toolRule(config, 'ReadFile')).toBe('auto');
    expect(toolRule(config, 'ReadSecret')).toBe('deny');
    expect(toolRule(config, 'Bash')).toBe('deny');
    expect(toolRule(undefined, 'Bash')).toBe('auto');
  });

  test('8.2 a reference that leads nowhere is found before the start', () => {
    const config = valid({
      servers: {
        a: { command: 'x', env: { A: { env: 'SET' }, B: { env: 'UNSET' } } },
        b: { url: 'https://x', headers: { Authorization: { env: 'GONE' } } },
      },
    });
    expect(missingSecrets(config, (name) => name === 'SET')).toEqual([
      { path: 'servers.a.env.B', message: 'environment variable UNSET is not set' },
      { path: 'servers.b.headers.Authorization', message: 'environment variable GONE is not set' },
    ]);
  });

  test('8.3 a session’s own configuration goes over its template’s', () => {
    const template = valid({ servers: { a: { command: 'a' }, b: { command: 'b' } }, allow: ['a'], deny: ['x'] });
    const own = valid({
      servers: { b: { command: 'b', enabled: false }, c: { command: 'c' } },
      allow: ['a', 'c'],
      deny: ['y'],
    });
    const merged = mergeToolConfigs(template, own);
    expect(Object.keys(merged?.servers ?? {})).toEqual(['a', 'b', 'c']);
    expect(merged).toMatchObject({ servers: { b: { enabled: false } }, allow: ['a', 'c'], deny: ['x', 'y'] });
    expect(mergeToolConfigs(template, undefined)).toBe(template);
  });

  test('a key at the wrong depth is told where it belongs, not that itself was meant', () => {
    expect(checkToolConfig({ tools: {} })).toMatchObject({
      error: [{ path: 'tools', message: 'unknown key; it belongs in a server: servers.NAME.tools' }],
    });
    expect(checkToolConfig({ servers: { a: { command: 'x', transport: 'stdio', allow: [] } } })).toMatchObject({
      error: [{ path: 'servers.a.allow', message: 'unknown key' }],
    });
  });
});
