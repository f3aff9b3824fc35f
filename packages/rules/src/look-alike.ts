/** Letters of other scripts that are read as Latin ones; enough to see through a name that was made to be misread. */
const twins: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  е: 'e',
  ё: 'e',
  к: 'k',
  м: 'm',
  н: 'h',
  о: 'o',
  р: 'p',
  с: 'c',
  т: 't',
  у: 'y',
  х: 'x',
  ѕ: 's',
  і: 'i',
  ј: 'j',
  ԁ: 'd',
  ɡ: 'g',
  һ: 'h',
  ӏ: 'l',
  ԛ: 'q',
  ԝ: 'w',
  α: 'a',
  β: 'b',
  ε: 'e',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
  ı: 'i',
  ſ: 's',
};

const invisible =
  /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFE00-\uFE0F\uFEFF]/g;

/** What a reader takes it for. Only what forbids is compared so: what allows must be the very same. */
export function skeleton(text: string): string {
  if (/^[\x20-\x7E]*$/.test(text)) return text.toLowerCase();
  const plain = text.normalize('NFKC').replace(invisible, '').toLowerCase();
  return [...plain].map((character) => twins[character] ?? character).join('');
}

/** Nothing in it that is not seen: controls, direction marks, zero widths. */
export function isPlain(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return !/[\x00-\x08\x0B-\x1F\x7F-\x9F]/.test(text) && text.search(invisible) < 0;
}
