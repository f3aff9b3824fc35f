import { expect, test } from 'vitest';
import { detailsOf } from './requests.ts';

const consent = { type: 'queryConsent', requestId: 'r', consentType: 'approval', graphUrl: '' } as const;

test('of a permission is told all that it is about: each field, and each change as its patch alone', () => {
  const change = { path: 'a.txt', kind: 'edit', patch: '@@ -1 +1 @@\n-a\n+b', added: 1, removed: 1 } as const;
  const scope = { description: 'Edit', tool: 'Edit', paths: ['a.txt'], changes: [{ path: 'a.txt' }] };
  expect(detailsOf({ ...consent, scope, changes: [change] })).toBe(
    '- tool: Edit\n- paths: ["a.txt"]\n- edit a.txt:\n@@ -1 +1 @@\n-a\n+b\n',
  );
  expect(detailsOf({ ...consent, scope })).toBe('- tool: Edit\n- paths: ["a.txt"]\n- changes: [{"path":"a.txt"}]\n');
  expect(detailsOf({ ...consent, scope: { description: 'Go on?' } })).toBe('');
});

test('and no more than can be read', () => {
  const long = detailsOf({ ...consent, scope: { input: 'x'.repeat(20_000) } });
  expect(long.length).toBeLessThan(8_100);
  expect(long).toMatch(/… \(\d+ characters more\)\n$/);
});

test('of a choice are told its ids, and whether several may be taken; of edits the edits', () => {
  const prompt = { parts: [{ text: 'Which?' }] };
  const choices = [{ id: 'option-1', content: { parts: [{ text: 'red' }] } }];
  const choice = { type: 'waitForChoice', requestId: 'r', prompt, choices, selectionMode: 'multiple' } as const;
  expect(detailsOf(choice)).toBe('- `option-1`: red\nSeveral may be chosen.\n');
  const edits = [{ type: 'removenode', id: 'n' }];
  expect(detailsOf({ type: 'applyEdits', requestId: 'r', label: 'Less', edits })).toBe(
    '- edits: [{"type":"removenode","id":"n"}]\n',
  );
});
