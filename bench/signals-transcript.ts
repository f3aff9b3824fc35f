/** mulberry32: the same transcript on every machine. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const common = 'the of and to in is it for on that with as be this from by at are or an was file line test value'.split(
  ' ',
);
const technical = 'function returns parser session stream buffer config module package timeout request handler'.split(
  ' ',
);
const rare = [
  'naïve',
  'café',
  '—',
  '“quoted”',
  'don’t',
  '東京',
  '日本語',
  '😀',
  '§ 50',
  '§§ 433',
  'état',
  '…',
  'Ångström',
];

/**
 * A recorded conversation of think, call, execute, result and answer, about 35 % of it CALLS, a quarter of the calls
 * large, mostly ASCII, with one END at the very end.
 */
export function mixedTranscript(bytes: number, seed = 4): string {
  const random = seeded(seed);
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? '';
  const word = (): string => {
    const chance = random();
    if (chance < 0.02) return pick(rare);
    return pick(chance < 0.6 ? common : technical);
  };
  const sentence = (): string => `${Array.from({ length: 6 + Math.floor(random() * 14) }, word).join(' ')}.`;
  const prose = (sentences: number): string =>
    Array.from({ length: sentences }, () => sentence() + (random() < 0.4 ? '\n' : ' ')).join('');
  const statement = (): string => {
    const chance = random();
    if (chance < 0.3) return `const ${word()} = ${word()}("${word()}");`;
    if (chance < 0.6) return `if (${word()}.${word()} > ${Math.floor(random() * 100)}) return ${word()}(${word()});`;
    return `${word()}.${word()}(${word()}, ${word()}); // ${word()} ${word()} ${word()}`;
  };
  const code = (lines: number): string =>
    Array.from({ length: lines }, () => ' '.repeat(2 * Math.floor(random() * 4)) + statement()).join('\n');
  const call = (): unknown => {
    const large = random() < 0.25;
    const args = large
      ? {
          path: `src/${word()}/${word()}.ts`,
          content: random() < 0.5 ? code(80) : prose(55),
          overwrite: random() < 0.5,
        }
      : { query: sentence(), limit: Math.floor(random() * 100), filters: { kinds: [word(), word()], deep: true } };
    return { name: large ? 'write_file' : 'search', args };
  };
  const turn = (): string => {
    const calls = Array.from({ length: random() < 0.3 ? 2 : 1 }, call);
    const json = JSON.stringify(calls, null, random() < 0.2 ? 2 : 0);
    const fence = random() < 0.2 ? `\n\`\`\`ts\n${code(8)}\n\`\`\`\n` : '\n';
    return [
      `§THINK: ${prose(7 + Math.floor(random() * 12))}\n`,
      `§CALLS: ${json}\n§EXECUTE:\n`,
      `[SYSTEM: ${prose(6)}${code(8)}]\n`,
      `§RESPOND: ${prose(7 + Math.floor(random() * 12))}${fence}`,
    ].join('');
  };
  const parts: string[] = [];
  let length = 0;
  while (length < bytes) {
    const next = turn();
    parts.push(next);
    length += new TextEncoder().encode(next).length;
  }
  return `${parts.join('')}§END:\n`;
}
