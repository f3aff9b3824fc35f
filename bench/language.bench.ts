import {
  buildProgram,
  checkProgram,
  createSourceFile,
  formatSource,
  loadProgram,
  parseSource,
} from '@concerto/language';
import { lex } from '../packages/language/src/lexer/lex.ts';
import { compare, type Row } from './row.ts';

export const name = 'Language: lines a second through the front end, against what it must do';

const MOST_LINES = 20_000;

/** Types, methods, matches, closures, errors and templates, as programs have them. */
function sample(index: number): string {
  const before = index === 0 ? '' : ` + work${index - 1}(xs, limit)?`;
  return `
struct Item${index} { id: Int, name: String, tags: Array<String>, next: Option<Int> }
enum Kind${index} { Small(Int), Large { size: Int, note: String }, Empty }

impl Item${index} {
    fn label(self, prefix: String) -> String { "\${prefix}:\${self.name}#\${self.id}" }
    fn bump(mut self, by: Int) -> Int { self.id += by; self.id }
}

fn weigh${index}(k: Kind${index}) -> Int {
    match k {
        Kind${index}::Small(n) => n * 2,
        Kind${index}::Large { size, .. } => size + ${index},
        Kind${index}::Empty => 0,
    }
}

fn work${index}(xs: Array<Int>, limit: Int) -> Result<Int, String> {
    let mut total = 0;
    let mut item = Item${index} { id: 1, name: "n", tags: ["a", "b"], next: None };
    for (position, x) in xs.enumerate() {
        if x > limit && position % 2 == 0 { total += x * 2; } else { total -= 1; }
    }
    let doubled = xs.map(|x| x * 2).filter(|x| x > 3);
    total += item.bump(doubled.len()) + weigh${index}(Kind${index}::Small(total));
    if total < 0 { throw "negative \${total}"; }
    emit("work", { "text": item.label("p") + "!", "total": total });
    Ok(total${before})
}
`;
}

function program(): string {
  let text = 'fn main() { emit("r", work0([1, 2, 3], 1)); }\n';
  for (let index = 0; text.split('\n').length < MOST_LINES; index++) {
    const parts = Array.from({ length: 50 }, (_, step) => sample(index * 50 + step));
    text += parts.join('');
  }
  return text;
}

export async function run(): Promise<readonly Row[]> {
  const text = program();
  const lines = text.split('\n').length;
  const source = createSourceFile('main.conc', text);
  const readFile = (): string => text;
  const load = () => loadProgram({ entry: 'main.conc', readFile, parse: parseSource });
  const loaded = load().program;
  const rate = (work: () => unknown) => (): number => perSecond(lines, work);
  const must = (least: number) => (): number => least;
  return [
    await compare(
      { name: 'lexed', unit: 'lines/s', target: '>= 1' },
      { ours: rate(() => lex(source)), reference: must(250_000) },
    ),
    await compare(
      { name: 'parsed', unit: 'lines/s' },
      { ours: rate(() => parseSource(source)), reference: must(150_000) },
    ),
    await compare(
      { name: 'checked', unit: 'lines/s', target: '>= 1' },
      { ours: rate(() => checkProgram({ program: loaded })), reference: must(60_000) },
    ),
    await compare(
      { name: 'parsed and checked', unit: 'lines/s', target: '>= 1' },
      { ours: rate(() => checkProgram({ program: load().program })), reference: must(60_000) },
    ),
    await compare(
      { name: 'parsed, checked and compiled', unit: 'lines/s' },
      { ours: rate(() => buildProgram({ entry: 'main.conc', readFile })), reference: must(40_000) },
    ),
    await compare(
      { name: 'formatted', unit: 'lines/s' },
      { ours: rate(() => formatSource(text)), reference: must(40_000) },
    ),
  ];
}

/** By processor time: others who use the machine at the same time should not count. */
function perSecond(lines: number, work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (lines / (user + system)) * 1e6;
}
