import { emptyModule } from '@concerto/ir';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JournalSecrets } from './journal-secrets.ts';

const module = {
  ...emptyModule('p'),
  manifest: { connections: { main: { api_key_env: 'PLAIN', headers: '${HEADER}' } } },
};

describe('secrets of a journal', () => {
  test('are those that look so and those the manifest refers to', () => {
    const environment = { MY_TOKEN: 'token-1', PLAIN: 'plain-1', HEADER: 'header-1', HOME: '/home/me', KEY: 'short' };
    const secrets = new JournalSecrets(module, environment, 'refuse');
    const line = JSON.stringify(Object.values(environment));
    const struck = secrets.strike(line);
    expect(struck).toBe('["[secret:MY_TOKEN]","[secret:PLAIN]","[secret:HEADER]","/home/me","short"]');
    expect(secrets.restore(struck)).toBe(line);
  });

  test('come back as they were, whatever they and the lines look like', () => {
    const piece = fc.constantFrom('[secret:', ']', ':', 'A_KEY', 'secret', '"', '\\', '\n', 'x', '[', 'nx', '12');
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (first, second, words) => {
        const environment = { A_KEY: first, B_KEY: second };
        const secrets = new JournalSecrets(emptyModule('p'), environment, 'refuse');
        const line = JSON.stringify([...words, first, second, ...words.map((word) => first + word + second)]);
        const struck = secrets.strike(line);
        expect(secrets.restore(struck)).toBe(line);
      }),
    );
  });

  test('that are not set are struck out again the same', () => {
    const written = new JournalSecrets(emptyModule('p'), { A_KEY: 'very-secret' }, 'refuse').strike('["very-secret!"]');
    const elsewhere = new JournalSecrets(emptyModule('p'), {}, 'pretend');
    const read: unknown = JSON.parse(elsewhere.restore(written));
    expect(elsewhere.strike(JSON.stringify(read))).toBe(written);
    expect(() => new JournalSecrets(emptyModule('p'), {}, 'refuse').restore(written)).toThrow('A_KEY is not set');
  });
});
