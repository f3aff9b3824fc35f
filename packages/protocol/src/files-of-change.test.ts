import { expect, test } from 'vitest';
import type { FileChange } from './agent-event.ts';
import { filesOfChange, pathsOfChanges } from './files-of-change.ts';

const change = (patch: string): FileChange => ({ path: 'first.ts', kind: 'edit', patch, added: 9, removed: 9 });
const told = (patch: string) =>
  filesOfChange(change(patch)).map(({ path, movedTo, kind, added, removed }) =>
    [path, ...(movedTo === undefined ? [] : [movedTo]), kind, `+${added} -${removed}`].join(' '),
  );

test('each file of a patch has its own name, kind, counts and lines', () => {
  const patch = [
    'diff --git a/a.ts b/a.ts',
    'index 1..2 100644',
    '--- a/a.ts',
    '+++ b/a.ts',
    '@@ -1,2 +1,2 @@',
    ' x',
    '-a',
    '+b',
    'diff --git a/old.ts b/new.ts',
    'similarity index 100%',
    'rename from old.ts',
    'rename to new.ts',
    'diff --git a/pic.png b/pic.png',
    'Binary files a/pic.png and b/pic.png differ',
    'diff --git a/gone.ts b/gone.ts',
    'deleted file mode 100644',
    '--- a/gone.ts',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-x',
    '',
  ].join('\n');
  expect(told(patch)).toEqual([
    'a.ts edit +1 -1',
    'old.ts new.ts move +0 -0',
    'pic.png edit +0 -0',
    'gone.ts delete +0 -1',
  ]);
  expect(filesOfChange(change(patch))[2]?.patch).toContain('Binary files a/pic.png');
});

test('without lines of git, and with a time behind the names', () => {
  const patch =
    '--- x.ts\t2026-01-01\n+++ x.ts\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y.ts\n@@ -0,0 +1 @@\n+b\n';
  expect(told(patch)).toEqual(['x.ts edit +1 -1', 'y.ts create +1 -0']);
});

test('what only looks like another file is a line; one file is the change as it is', () => {
  const comment = '--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a/other.sql\n+++ b/other.sql\n same\n';
  const twice = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n@@ -9 +9 @@\n-a\n+b\n';
  for (const patch of ['', 'no patch', comment, twice]) expect(filesOfChange(change(patch))).toEqual([change(patch)]);
});

test('what is touched is every file of a patch, and where one goes to', () => {
  const two = '--- a/one.ts\n+++ b/one.ts\n@@ -1 +1 @@\n-1\n+2\n--- a/two.ts\n+++ b/two.ts\n@@ -1 +1 @@\n-1\n+2\n';
  expect(pathsOfChanges([{ path: 'one.ts', patch: two }])).toEqual(['one.ts', 'two.ts']);
  // Also behind words that no file has, such as those of a commit.
  expect(pathsOfChanges([{ path: 'one.ts', patch: `What it does\n\n${two}` }])).toEqual(['one.ts', 'two.ts']);
  const alone = '--- a/tmp/x\n+++ b/tmp/x\n@@ -1 +1 @@\n-1\n+2\n';
  expect(pathsOfChanges([{ path: '/tmp/x', movedTo: '/etc/x', patch: alone }])).toEqual(['/tmp/x', '/etc/x']);
});
