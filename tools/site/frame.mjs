// What stands around every page: contents, search, style.
import { addressOf, pageGroups } from './pages.mjs';
import { escapeHtml, relative } from './render-page.mjs';

export function frame({ file, title, html, titles }) {
  const up = relative(file, '').replace(/\.$/, './');
  const base = up.endsWith('/') ? up : `${up}/`;
  const groups = [...pageGroups(), ['Reference', ['docs/api.md']]];
  const contents = groups
    .map(
      ([name, files]) =>
        `<h2>${escapeHtml(name)}</h2><ul>${files.map((page) => entry(page, file, titles)).join('')}</ul>`,
    )
    .join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === 'Concerto' ? 'Concerto' : `${title} · Concerto`)}</title>
<link rel="stylesheet" href="${base}site.css">
<script type="module" src="${base}search.js" data-base="${base}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><a class="name" href="${base}index.html">Concerto</a>
<form role="search" action="#"><label for="search">Search</label> <input id="search" type="search" autocomplete="off" placeholder="Press /" aria-controls="found"></form></header>
<div class="columns">
<nav aria-label="Contents">${contents}</nav>
<main id="content"><section id="found" aria-live="polite" hidden></section>
<article>
${html}</article></main>
</div>
</body>
</html>
`;
}

function entry(page, current, titles) {
  const here = page === current ? ' aria-current="page"' : '';
  return `<li><a href="${relative(current, addressOf(page))}"${here}>${escapeHtml(titles.get(page) ?? page)}</a></li>`;
}
