// `npm run docs [-- FOLDER]`: the documentation as a site of plain files, searchable, with the API's reference.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';
import { apiReference } from './site/api-reference.mjs';
import { frame } from './site/frame.mjs';
import { addressOf, pageGroups } from './site/pages.mjs';
import { renderPage } from './site/render-page.mjs';

install();
await build();
const target = resolve(process.argv[2] ?? join(root, 'site'));
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

const files = pageGroups().flatMap(([, list]) => list);
const isPage = (file) => files.includes(file);
const pages = files.map((file) => ({ file, ...renderPage(file, readFileSync(join(root, file), 'utf8'), isPage) }));
pages.push({ file: 'docs/api.md', ...apiReference(openApi()) });
const titles = new Map(pages.map(({ file, title }) => [file, title]));
for (const page of pages) {
  const place = join(target, addressOf(page.file));
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, frame({ ...page, titles }));
}
const sections = pages.flatMap(({ file, title, sections: own }) =>
  own.map(({ anchor, heading, text }) => ({
    page: title,
    heading,
    text: text.trim(),
    address: `${addressOf(file)}#${anchor}`,
  })),
);
writeFileSync(join(target, 'search.json'), JSON.stringify(sections));
for (const file of ['site.css', 'search.js']) cpSync(join(root, 'tools/site', file), join(target, file));
cpSync(join(root, 'docs/images'), join(target, 'images'), { recursive: true });
console.log(`concerto: ${pages.length} pages, ${sections.length} sections to search, in ${target}`);

function openApi() {
  const words = [join(root, 'apps/cli/bin/concerto.js'), 'schema', 'openapi'];
  const printed = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (printed.status !== 0) throw new Error(`concerto schema openapi failed: ${printed.stderr}`);
  return JSON.parse(printed.stdout);
}
