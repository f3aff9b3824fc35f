// One Markdown document as HTML: headings with anchors, links to other documents as links to their pages.
import { posix } from 'node:path';
import { Marked } from 'marked';
import { addressOf } from './pages.mjs';

/** More of one section is not searched. */
const sectionMax = 6000;

/** Gives the page's title, its HTML, and its sections for the search. `isPage` knows which files are pages. */
export function renderPage(file, text, isPage) {
  const sections = [];
  const anchors = new Map();
  let title;
  const marked = new Marked({ gfm: true });
  const anchorOf = (words) => {
    const plain = slug(words);
    const times = anchors.get(plain) ?? 0;
    anchors.set(plain, times + 1);
    return times === 0 ? plain : `${plain}-${times}`;
  };
  marked.use({
    renderer: {
      heading({ tokens, depth, text: words }) {
        const anchor = anchorOf(words);
        const shown = plainText(words);
        title ??= shown;
        if (depth <= 4) sections.push({ anchor, heading: shown, text: texts[sections.length] ?? '' });
        const inner = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchor}">${inner} <a class="here" href="#${anchor}" aria-label="Link to ${escapeHtml(shown)}">#</a></h${depth}>\n`;
      },
      code({ text: code, lang }) {
        const name = lang === undefined || lang === '' ? '' : ` data-language="${escapeHtml(lang)}"`;
        return `<pre tabindex="0"${name}><code>${escapeHtml(code)}</code></pre>\n`;
      },
      table(token) {
        const row = (list, tag) =>
          `<tr>${list.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const head = token.header.some((cell) => cell.text !== '') ? `<thead>${row(token.header, 'th')}</thead>` : '';
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${token.rows.map((r) => row(r, 'td')).join('')}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        const to = linkFrom(file, href, isPage);
        const inner = this.parser.parseInline(tokens);
        // What is no page is in the repository: named, not linked to nowhere.
        return to === undefined
          ? `<span title="in the repository: ${escapeHtml(resolveFrom(file, href))}">${inner}</span>`
          : `<a href="${escapeHtml(to)}">${inner}</a>`;
      },
      image({ href, text: alt }) {
        return `<img src="${escapeHtml(relative(file, resolveFrom(file, href).replace(/^docs\//, '')))}" alt="${escapeHtml(alt)}" loading="lazy">`;
      },
      html({ text: raw }) {
        return escapeHtml(raw);
      },
    },
  });
  const texts = textsOf(marked.lexer(text));
  const html = marked.parse(text);
  return { title: title ?? file, html, sections: sections.filter((section) => section.heading !== '') };
}

export function escapeHtml(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (char) => names[char]);
}

/** From one page to a place in the site. */
export function relative(file, to) {
  return posix.relative(posix.dirname(addressOf(file)), to) || '.';
}

function linkFrom(file, href, isPage) {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [path, anchor] = href.split('#');
  const target = resolveFrom(file, path);
  const end = anchor === undefined ? '' : `#${anchor}`;
  return isPage(target) ? `${relative(file, addressOf(target))}${end}` : undefined;
}

function resolveFrom(file, href) {
  return posix.join(posix.dirname(file), decodeURI(href));
}

/** What stands below each heading, for the search. */
function textsOf(tokens) {
  const texts = [];
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth <= 4) texts.push('');
    else if (texts.length > 0)
      texts.push(`${texts.pop()} ${plainText(token.raw).replace(/\s+/g, ' ')}`.slice(0, sectionMax));
  }
  return texts;
}

function plainText(words) {
  return words.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*|]+|-{3,}/g, '');
}

/** As forges make them, so that a link works there and here. */
function slug(words) {
  return plainText(words)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}
