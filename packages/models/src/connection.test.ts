import { describe, expect, test } from 'vitest';
import { versionedUrl } from './base-url.ts';
import { modelName, readConnection } from './connection.ts';
import { ModelFailure } from './model-failure.ts';
import { redact } from './redact.ts';

function failure(work: () => unknown): ModelFailure {
  try {
    work();
  } catch (cause) {
    if (cause instanceof ModelFailure) return cause;
  }
  throw new Error('did not fail');
}

const openai = { provider: 'openai', api_key_env: 'MY_KEY' };
const environment = { MY_KEY: 'sk-0123456789' };

describe('addresses', () => {
  test.each([
    ['https://host', 'https://host/v1'],
    ['https://host/', 'https://host/v1'],
    ['https://host/v1', 'https://host/v1'],
    ['https://host/v1/', 'https://host/v1'],
    ['https://host/proxy', 'https://host/proxy/v1'],
    ['https://host/openai/v1', 'https://host/openai/v1'],
    ['https://host/v1beta/openai/', 'https://host/v1beta/openai'],
  ])('%s is %s', (written, expected) => {
    expect(versionedUrl(written, 'v1')).toBe(expected);
  });

  test('the environment overrides the manifest, for that provider only', () => {
    const base_url = 'http://manifest/v1';
    const env = { ...environment, OPENAI_BASE_URL: 'http://override', ANTHROPIC_BASE_URL: 'http://claude' };
    expect(readConnection('c', { ...openai, base_url }, env).address).toBe('http://override/v1');
    expect(readConnection('c', { ...openai, provider: 'anthropic', base_url }, env).address).toBe('http://claude/v1');
    expect(readConnection('c', { ...openai, provider: 'custom', base_url }, env).address).toBe('http://manifest/v1');
    expect(readConnection('c', { ...openai, base_url }, { ...environment, OPENAI_BASE_URL: '' }).address).toBe(
      base_url,
    );
  });

  test('without any, those of the providers', () => {
    expect(readConnection('c', openai, environment).address).toBe('https://api.openai.com/v1');
    expect(readConnection('c', { provider: 'ollama' }, {}).address).toBe('http://127.0.0.1:11434/v1');
    expect(failure(() => readConnection('c', { provider: 'custom' }, {})).message).toContain('`base_url`');
  });
});

describe('keys', () => {
  test('a missing key names the variable', () => {
    for (const env of [{}, { MY_KEY: '' }]) {
      const { code, message } = failure(() => readConnection('main', openai, env));
      expect(code).toBe('auth');
      expect(message).toContain('MY_KEY');
      expect(message).toContain('"main"');
    }
    expect(failure(() => readConnection('c', { provider: 'anthropic' }, {})).message).toContain('ANTHROPIC_API_KEY');
  });

  test('who needs none works without', () => {
    expect(readConnection('c', { provider: 'ollama' }, {}).key).toBeUndefined();
    expect(readConnection('c', { provider: 'mock', api_key_env: 'NOT_SET' }, {}).wire).toBe('mock');
  });

  test('headers may refer to variables, which are secrets', () => {
    const table = { ...openai, headers: { 'x-team': 'blue', 'x-token': 'T ${TOKEN}' } };
    const connection = readConnection('c', table, { ...environment, TOKEN: 'very-secret' });
    expect(connection.headers).toEqual({ 'x-team': 'blue', 'x-token': 'T very-secret' });
    expect(connection.secrets).toEqual(['sk-0123456789', 'very-secret']);
    expect(failure(() => readConnection('c', table, environment)).message).toContain('TOKEN');
  });

  test('so is a password in the address', () => {
    const base_url = 'http://me:pass%20word@host';
    expect(readConnection('c', { provider: 'custom', base_url }, {}).secrets).toEqual(['pass%20word', 'pass word']);
  });

  test('a secret inside another leaves nothing of either', () => {
    expect(redact('abcdefgh abcdef', ['abcdef', 'abcdefgh'])).toBe('[secret] [secret]');
    expect(redact('a short one', ['a'])).toBe('a short one');
  });
});

describe('models', () => {
  const connection = readConnection(
    'c',
    { ...openai, default_model: 'quick', models: { quick: 'gpt-4o-mini' } },
    environment,
  );

  test('aliases, names and the default', () => {
    expect(modelName(connection, 'quick')).toBe('gpt-4o-mini');
    expect(modelName(connection, 'gpt-4o')).toBe('gpt-4o');
    expect(modelName(connection, undefined)).toBe('gpt-4o-mini');
    expect(modelName(connection, 'constructor')).toBe('constructor');
  });

  test('none at all is an error', () => {
    const nameless = readConnection('c', openai, environment);
    expect(failure(() => modelName(nameless, undefined)).message).toContain('default_model');
  });
});

test('a connection that is not there, and a provider nobody knows', () => {
  expect(failure(() => readConnection('c', undefined, {})).message).toContain('[connections.c]');
  expect(failure(() => readConnection('c', { provider: 'opnai' }, {})).message).toContain('did you mean "openai"?');
  expect(readConnection('c', { provider: 'groq', base_url: 'https://api.groq.com/openai/v1' }, {}).wire).toBe(
    'compatible',
  );
});
