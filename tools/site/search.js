// The search of the documentation: every section is in one file, fetched when the first letter is typed.
const base = document.querySelector('script[data-base]').dataset.base;
const input = document.getElementById('search');
const found = document.getElementById('found');
const article = document.querySelector('article');
let sections;

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  input.focus();
});
input.form.addEventListener('submit', (event) => {
  event.preventDefault();
  found.querySelector('a')?.click();
});
input.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  input.value = '';
  void look();
});
input.addEventListener('input', () => void look());

async function look() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  article.hidden = words.length > 0;
  if (words.length === 0) return;
  sections ??= fetch(`${base}search.json`).then((response) => response.json());
  const hits = (await sections)
    .map((section) => ({ ...section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 30);
  found.replaceChildren(heading(hits.length), ...hits.map((hit) => result(hit, words[0])));
}

function scoreOf({ heading: title, text, page }, words) {
  let score = 0;
  for (const word of words) {
    const inTitle = `${page} ${title}`.toLowerCase().includes(word);
    if (!inTitle && !text.toLowerCase().includes(word)) return 0;
    score += inTitle ? 10 : 1;
  }
  return score;
}

function heading(count) {
  const line = document.createElement('h1');
  line.textContent = count === 0 ? 'Nothing found' : `${count} found`;
  return line;
}

function result({ page, heading: title, text, address }, word) {
  const part = document.createElement('p');
  const link = document.createElement('a');
  link.href = base + address;
  link.textContent = page === title ? title : `${page}: ${title}`;
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  part.append(link, document.createElement('br'), text.slice(at, at + 180).trim());
  return part;
}
