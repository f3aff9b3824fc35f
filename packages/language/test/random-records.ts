/**
 * Programs made by chance about places: fields of fields, elements of arrays in structs, methods that change the place
 * they are called on, copies that must stay as they were. Written in Concerto and in JavaScript, like `random-program.ts`.
 */
import type { RandomProgram } from './random-program.ts';

interface Both {
  readonly c: string;
  readonly j: string;
}

type Kind = 'Leaf' | 'Tree';

interface Variable {
  readonly name: string;
  readonly kind: Kind;
}

const DECLARATIONS: Both = {
  c: `struct Leaf { n: Int, xs: Array<Int> }
struct Tree { leaf: Leaf, all: Array<Leaf>, map: Map<String, Leaf> }
impl Leaf {
    fn bump(mut self, by: Int) -> Int {
        self.n = (self.n + by) % 997;
        self.xs.push(self.n);
        self.xs[0] += by;
        self.n
    }
    fn sum(self) -> Int { self.n + self.xs.sum() % 97 }
    fn grown(self, by: Int) -> Leaf { let mut mine = self; mine.bump(by); mine }
}
impl Tree {
    fn spread(mut self, by: Int) -> Int {
        let mut total = self.leaf.bump(by);
        for i in 0..self.all.len() { total += self.all[i].bump(i); }
        self.map["k"].bump(total % 7);
        total % 997
    }
    fn swap(mut self) { let old = self.leaf; self.leaf = self.all[0]; self.all[0] = old; }
}
fn changed(t: Tree, by: Int) -> Tree { t.leaf.n = by; t.all.push(t.leaf); t }
`,
  j: `const bump = (s, by) => { s.n = (s.n + by) % 997; s.xs.push(s.n); s.xs[0] += by; return s.n; };
const sum = (s) => s.n + s.xs.reduce((a, b) => a + b, 0) % 97;
const grown = (s, by) => { const mine = copy(s); bump(mine, by); return mine; };
const spread = (s, by) => { let total = bump(s.leaf, by); for (let i = 0; i < s.all.length; i++) total += bump(s.all[i], i); bump(s.map.k, total % 7); return total % 997; };
const swap = (s) => { const old = s.leaf; s.leaf = s.all[0]; s.all[0] = old; };
const changed = (given, by) => { const t = copy(given); t.leaf.n = by; t.all.push(copy(t.leaf)); return t; };
`,
};

export function randomRecords(seed: number): RandomProgram {
  let state = (seed ^ 0x51ab3) >>> 0;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const variables: Variable[] = [];
  const lines: Both[] = [];
  const pick = (kind: Kind): Variable => {
    const fitting = variables.filter((one) => one.kind === kind);
    return fitting[below(fitting.length)] ?? { name: 'missing', kind };
  };
  const number = (): Both => {
    const text = String(below(50) + 1);
    if (below(3) > 0) return { c: text, j: text };
    const place = leafPlace();
    return below(2) === 0 ? { c: `${place.c}.n`, j: `${place.j}.n` } : { c: `${place.c}.sum()`, j: `sum(${place.j})` };
  };
  /** Something that is a Leaf and can be changed. */
  const leafPlace = (): Both => {
    const tree = pick('Tree').name;
    switch (below(4)) {
      case 0: {
        const { name } = pick('Leaf');
        return { c: name, j: name };
      }
      case 1:
        return { c: `${tree}.leaf`, j: `${tree}.leaf` };
      case 2: {
        const element = `${tree}.all[${below(2)}]`;
        return { c: element, j: element };
      }
      default:
        return { c: `${tree}.map["k"]`, j: `${tree}.map.k` };
    }
  };
  const leafValue = (): Both => {
    const place = leafPlace();
    const by = number();
    return below(3) === 0
      ? { c: `${place.c}.grown(${by.c})`, j: `grown(${place.j}, ${by.j})` }
      : { c: place.c, j: `copy(${place.j})` };
  };
  const statement = (): Both => {
    const place = leafPlace();
    const tree = pick('Tree').name;
    const by = number();
    switch (below(10)) {
      case 0:
        return { c: `${place.c}.bump(${by.c});`, j: `bump(${place.j}, ${by.j});` };
      case 1:
        return { c: `emit("v", ${place.c}.bump(${by.c}));`, j: `log(bump(${place.j}, ${by.j}));` };
      case 2:
        return { c: `${place.c}.xs.push(${by.c});`, j: `${place.j}.xs.push(${by.j});` };
      case 3:
        return { c: `${place.c}.xs[0] += ${by.c};`, j: `{ const put = ${by.j}; ${place.j}.xs[0] += put; }` };
      case 4: {
        const value = leafValue();
        return { c: `${place.c} = ${value.c};`, j: `{ const put = ${value.j}; ${place.j} = put; }` };
      }
      case 5:
        return { c: `emit("v", ${tree}.spread(${by.c}));`, j: `log(spread(${tree}, ${by.j}));` };
      case 6:
        return { c: `${tree}.swap();`, j: `swap(${tree});` };
      case 7: {
        const other = pick('Tree').name;
        return { c: `${tree} = changed(${other}, ${by.c});`, j: `${tree} = changed(${other}, ${by.j});` };
      }
      case 8: {
        const value = leafValue();
        return { c: `${tree}.all.push(${value.c});`, j: `{ const put = ${value.j}; ${tree}.all.push(put); }` };
      }
      default:
        return { c: `emit("v", ${place.c}.sum());`, j: `log(sum(${place.j}));` };
    }
  };
  const declare = (kind: Kind): void => {
    const name = `${kind === 'Leaf' ? 'l' : 't'}${variables.length}`;
    const first = !variables.some((one) => one.kind === kind);
    const fresh =
      kind === 'Leaf'
        ? { c: 'Leaf { n: 1, xs: [2] }', j: '{ n: 1, xs: [2] }' }
        : {
            c: 'Tree { leaf: Leaf { n: 3, xs: [4] }, all: [Leaf { n: 5, xs: [6] }, Leaf { n: 7, xs: [8] }], map: {"k": Leaf { n: 9, xs: [0] }} }',
            j: '{ leaf: { n: 3, xs: [4] }, all: [{ n: 5, xs: [6] }, { n: 7, xs: [8] }], map: { k: { n: 9, xs: [0] } } }',
          };
    const from = pick(kind).name;
    const value = first || below(3) === 0 ? fresh : { c: from, j: `copy(${from})` };
    lines.push({ c: `let mut ${name} = ${value.c};`, j: `let ${name} = ${value.j};` });
    variables.push({ name, kind });
  };
  declare('Leaf');
  declare('Tree');
  for (let count = 0; count < 25; count++) {
    const choice = below(12);
    if (choice === 0) declare('Leaf');
    else if (choice === 1) declare('Tree');
    else if (choice === 2) {
      // A closure shares the variables it changes.
      const inside = statement();
      const name = `f${count}`;
      lines.push({
        c: `let ${name} = || { ${inside.c} };\n${name}();\n${name}();`,
        j: `const ${name} = () => { ${inside.j} }; ${name}(); ${name}();`,
      });
    } else if (choice === 3) {
      const inside = statement();
      lines.push({ c: `for _ in 0..3 { ${inside.c} }`, j: `for (let i = 0; i < 3; i++) { ${inside.j} }` });
    } else lines.push(statement());
  }
  for (const { name, kind } of variables) {
    const text =
      kind === 'Leaf'
        ? { c: `${name}.xs`, j: `${name}.xs` }
        : { c: `${name}.all.map(|l| l.sum())`, j: `${name}.all.map(sum)` };
    lines.push({ c: `emit("v", ${text.c});`, j: `log(${text.j});` });
    if (kind === 'Tree') {
      lines.push({
        c: `emit("v", [${name}.leaf.n, ${name}.map["k"].n]);`,
        j: `log([${name}.leaf.n, ${name}.map.k.n]);`,
      });
    }
  }
  return {
    concerto: `${DECLARATIONS.c}\nfn main() {\n${lines.map(({ c }) => c).join('\n')}\n}\n`,
    javascript: `${DECLARATIONS.j}\n${lines.map(({ j }) => j).join('\n')}`,
  };
}
