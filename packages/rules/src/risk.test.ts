import type { TriedRequest } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { riskOf } from './risk.ts';
import { triedRequest } from './rule-request.ts';

const folder = '/home/ann/project';

test.each<[TriedRequest, 'low' | 'medium' | 'high']>([
  [{ tool: 'Read', paths: ['src/a.ts'] }, 'low'],
  [{ tool: 'Read', paths: ['/etc/passwd'] }, 'medium'],
  [{ tool: 'Read', paths: ['../other/a.ts'] }, 'medium'],
  [{ tool: 'Read', paths: ['.env'] }, 'high'],
  [{ tool: 'Read', paths: ['~/.ssh/id_rsa'] }, 'high'],
  [{ tool: 'Read', paths: ['src/link'], resolved: ['/home/ann/.ssh/id_rsa'] }, 'high'],
  [{ kind: 'search' }, 'low'],
  [{ tool: 'Edit', paths: ['src/a.ts'] }, 'medium'],
  [{ tool: 'Edit', paths: ['.github/workflows/ci.yml'] }, 'high'],
  [{ tool: 'Write', paths: ['.git/hooks/pre-commit'] }, 'high'],
  [{ tool: 'Edit', paths: ['/etc/hosts'] }, 'high'],
  [{ kind: 'edit', paths: ['a.ts'], risk: 'low' }, 'medium'],
  [{ kind: 'delete', paths: ['a.ts'] }, 'high'],
  [{ kind: 'fetch' }, 'medium'],
  [{ tool: 'WebFetch' }, 'medium'],
  [{ tool: 'Bash', command: 'ls -la' }, 'low'],
  [{ tool: 'Bash', command: 'git status && git diff | head' }, 'low'],
  [{ tool: 'Bash', command: 'cat /etc/passwd' }, 'high'],
  [{ tool: 'Bash', command: 'cat ~/.ssh/id_rsa' }, 'high'],
  [{ tool: 'Bash', command: 'find . -name x' }, 'low'],
  [{ tool: 'Bash', command: 'find . -delete' }, 'high'],
  [{ tool: 'Bash', command: 'git -c core.pager=sh log' }, 'high'],
  [{ tool: 'Bash', command: 'git commit -m x' }, 'medium'],
  [{ tool: 'Bash', command: 'git push' }, 'high'],
  [{ tool: 'Bash', command: 'git checkout -f x' }, 'high'],
  [{ tool: 'Bash', command: 'npm test' }, 'medium'],
  [{ tool: 'Bash', command: 'npm install x' }, 'high'],
  [{ tool: 'Bash', command: 'node -e "x"' }, 'high'],
  [{ tool: 'Bash', command: 'curl https://a.example' }, 'high'],
  [{ tool: 'Bash', command: 'ls > a' }, 'high'],
  [{ tool: 'Bash', command: 'ls $(x)' }, 'high'],
  [{ tool: 'Bash', command: 'rm a', risk: 'low' }, 'high'],
  [{ tool: 'Bash' }, 'high'],
  [{ tool: 'list', server: 'files', risk: 'low' }, 'high'],
  [{ tool: 'list', server: 'files', kind: 'read', risk: 'low' }, 'medium'],
  [{ tool: 'Read', kind: 'execute' }, 'high'],
  [{ tool: 'Bash', kind: 'read' }, 'high'],
  [{ tool: 'Mystery' }, 'high'],
  [{ kind: 'bogus' }, 'high'],
  [{ description: 'Deploy', risk_level: 'low' }, 'low'],
  [{ description: 'Deploy', risk_level: 'critical' }, 'high'],
  [{ description: 'Deploy' }, 'high'],
  [{ tool: 'Read', paths: ['a'], risk: 'high' }, 'high'],
])('%j is %s', (request, risk) => {
  expect(riskOf(triedRequest({ folder, ...request }, { agent: 'claude' }))).toBe(risk);
});
