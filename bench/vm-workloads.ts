import type { Tree } from './tree-walker.ts';

/** The same work three times: a Concerto program, plain JavaScript, and (for some) a tree to walk. */
export interface Workload {
  readonly name: string;
  /** How many times slower than plain JavaScript it may be. */
  readonly target: number;
  readonly program: string;
  readonly javascript: () => unknown;
  readonly tree?: Tree;
}

const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));

const read = (name: string): Tree => ({ kind: 'read', name });
const value = (constant: number): Tree => ({ kind: 'value', value: constant });

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'fib(27)',
    target: 40,
    program: 'fn fib(n: Int) -> Int { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } } fn main() -> Int { fib(27) }',
    javascript: () => fib(27),
    tree: {
      kind: 'function',
      name: 'fib',
      param: 'n',
      body: {
        kind: 'if',
        test: { kind: 'binary', operator: '<', left: read('n'), right: value(2) },
        yes: read('n'),
        no: {
          kind: 'binary',
          operator: '+',
          left: {
            kind: 'call',
            name: 'fib',
            argument: { kind: 'binary', operator: '-', left: read('n'), right: value(1) },
          },
          right: {
            kind: 'call',
            name: 'fib',
            argument: { kind: 'binary', operator: '-', left: read('n'), right: value(2) },
          },
        },
      },
      next: { kind: 'call', name: 'fib', argument: value(27) },
    },
  },
  {
    name: 'a loop of 5M turns',
    target: 40,
    program: 'fn main() -> Int { let mut s = 0; for i in 0..5000000 { s += i % 7; } s }',
    javascript: () => {
      let s = 0;
      for (let i = 0; i < 5_000_000; i++) s += i % 7;
      return s;
    },
    tree: {
      kind: 'loop',
      variable: 'i',
      end: 5_000_000,
      total: 's',
      body: { kind: 'binary', operator: '%', left: read('i'), right: value(7) },
    },
  },
  {
    name: 'nested loops over arrays',
    target: 120,
    program: `fn main() -> Int {
      let mut grid = [];
      for i in 0..300 { let mut row = []; for j in 0..300 { row.push(i * j); } grid.push(row); }
      let mut s = 0;
      for k in 0..10 { for i in 0..300 { for j in 0..300 { grid[i][j] += k; s += grid[i][j]; } } }
      s
    }`,
    javascript: () => {
      const grid: number[][] = [];
      for (let i = 0; i < 300; i++) {
        const row: number[] = [];
        for (let j = 0; j < 300; j++) row.push(i * j);
        grid.push(row);
      }
      let s = 0;
      for (let k = 0; k < 10; k++) {
        for (let i = 0; i < 300; i++) {
          const row = grid[i] ?? [];
          for (let j = 0; j < 300; j++) {
            row[j] = (row[j] ?? 0) + k;
            s += row[j] ?? 0;
          }
        }
      }
      return s;
    },
  },
  {
    name: 'string building',
    target: 120,
    program: 'fn main() -> Int { let mut s = ""; for i in 0..300000 { s += "x${i}"; } len(s) }',
    javascript: () => {
      let s = '';
      for (let i = 0; i < 300_000; i++) s += `x${i}`;
      return s.length;
    },
  },
  {
    name: 'struct updates',
    target: 120,
    program: `struct P { x: Int, y: Int }
      fn main() -> Int { let mut p = P { x: 0, y: 0 }; for i in 0..1000000 { p.x += i % 5; p.y = p.x - p.y; } p.x + p.y }`,
    javascript: () => {
      const p = { x: 0, y: 0 };
      for (let i = 0; i < 1_000_000; i++) {
        p.x += i % 5;
        p.y = p.x - p.y;
      }
      return p.x + p.y;
    },
  },
  {
    name: 'closures over a variable',
    target: 120,
    program:
      'fn main() -> Int { let mut total = 0; let add = |n: Int| { total += n % 3; }; for i in 0..1000000 { add(i); } total }',
    javascript: () => {
      let total = 0;
      const add = (n: number): void => {
        total += n % 3;
      };
      for (let i = 0; i < 1_000_000; i++) add(i);
      return total;
    },
  },
  {
    name: 'mut self methods on a struct with an array',
    target: 120,
    program: `struct Pile { items: Array<Int>, sum: Int }
      impl Pile {
        fn put(mut self, n: Int) { self.items.push(n); self.sum += n; }
        fn size(self) -> Int { self.items.len() }
      }
      fn main() -> Int {
        let mut pile = Pile { items: [], sum: 0 };
        for i in 0..200000 { pile.put(i % 9); if pile.size() > 900000 { break; } }
        pile.sum + pile.size()
      }`,
    javascript: () => {
      const pile = { items: [] as number[], sum: 0 };
      const put = (n: number): void => {
        pile.items.push(n);
        pile.sum += n;
      };
      for (let i = 0; i < 200_000; i++) {
        put(i % 9);
        if (pile.items.length > 900_000) break;
      }
      return pile.sum + pile.items.length;
    },
  },
  {
    name: 'map, filter, reduce',
    target: 120,
    program:
      'fn main() -> Int { (0..300000).to_array().map(|x| x * 2).filter(|x| x % 3 == 0).reduce(0, |a, b| (a + b) % 1000) }',
    javascript: () =>
      Array.from({ length: 300_000 }, (_, i) => i)
        .map((x) => x * 2)
        .filter((x) => x % 3 === 0)
        .reduce((a, b) => (a + b) % 1000, 0),
  },
];

/** Programs that differ only in size: `push` in a loop must cost the same for each element. */
export const pushes = (count: number): string =>
  `fn main() -> Int { let mut xs = []; for i in 0..${count} { xs.push(i); } xs.len() }`;
