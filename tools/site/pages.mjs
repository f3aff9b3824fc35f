// Which documents become pages, in the order of the table of contents.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../root.mjs';

/** Documents that stand with what they describe. */
const elsewhere = [
  'packages/client/README.md',
  'packages/agent-kit/README.md',
  'packages/signals/README.md',
  'clients/python/README.md',
  'examples/README.md',
];

const groups = [
  ['Begin', ['README.md', 'docs/guide/server.md', 'docs/guide/agents.md', 'docs/guide/who-answers.md']],
  ['Programs', ['language', 'programs', 'builtins', 'models', 'journal', 'editor', 'error-codes'].map(guide)],
  ['Build with it', [...['assistants', 'middleware', 'runs', 'wires'].map(guide), ...elsewhere]],
  ['Run it', ['operations', 'troubleshooting'].map(guide).concat('docs/SECURITY.md', 'CHANGELOG.md')],
];

function guide(name) {
  return `docs/guide/${name}.md`;
}

/** A guide that no group names is still there. */
export function pageGroups() {
  const named = new Set(groups.flatMap(([, files]) => files));
  const guides = readdirSync(join(root, 'docs/guide')).map((file) => `docs/guide/${file}`);
  const present = new Set([...guides, ...elsewhere, 'README.md', 'docs/SECURITY.md', 'CHANGELOG.md']);
  const decisions = readdirSync(join(root, 'docs/adr')).map((file) => `docs/adr/${file}`);
  return [
    ...groups.map(([name, files]) => [name, files.filter((file) => present.has(file))]),
    ['More guides', guides.filter((file) => !named.has(file))],
    [
      'Inside',
      ['docs/ARCHITECTURE.md', 'docs/GLOSSARY.md', 'docs/STYLE.md', 'CONTRIBUTING.md', ...decisions.toSorted(byName)],
    ],
  ].filter(([, files]) => files.length > 0);
}

function byName(a, b) {
  return a < b ? -1 : 1;
}

/** `docs/guide/agents.md` is `guide/agents.html`; the README is the first page. */
export function addressOf(file) {
  if (file === 'README.md') return 'index.html';
  return file.replace(/^docs\//, '').replace(/\.md$/, '.html');
}
