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

/** Seen by nobody: zero widths, direction marks, variation selectors. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** What a reader takes it for. Only what forbids is compared so: what allows must be the very same. */
export function skeleton(text: string): string {
  if (/^[\x20-\x7E]*$/.test(text)) return text.toLowerCase();
  const plain = text.normalize('NFKC').replace(invisible, '').toLowerCase();
  return plain.replaceAll(/[^\x20-\x7E]/g, (character) => twins[character] ?? character);
}

/** Nothing in it that is not seen: controls, direction marks, zero widths. */
export function isPlain(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return !/[\x00-\x08\x0B-\x1F\x7F-\x9F]/.test(text) && text.search(invisible) < 0;
}
