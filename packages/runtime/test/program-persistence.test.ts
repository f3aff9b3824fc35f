import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

let stage: Stage;

beforeEach(() => {
  stage = new Stage();
});

afterEach(() => {
  stage.remove();
});

const read = (name: string) => readFileSync(join(stage.directory, name), 'utf8');

describe('a hashmap that is kept in a file', () => {
  test.each(['HashMap::new().with_persistence("seen.json")', 'HashMap::with_persistence("seen.json")'])(
    'goes on where the last run ended: %s',
    async (made) => {
      const program = `struct Visit { count: Int, from?: String }
hashmap seen: HashMap<String, Visit> = ${made};
fn main() {
    let before = seen.get("me").map(|v| v.count).unwrap_or(0);
    seen.set("me", Visit { count: before + 1 });
    emit("me", seen.get("me"));
}`;
      expect((await stage.run(program)).lines).toEqual(['me: Some(Visit {count: 1, from: None})']);
      expect((await stage.run(program)).lines).toEqual(['me: Some(Visit {count: 2, from: None})']);
      expect(JSON.parse(read('seen.json'))).toEqual({ me: { count: 2, from: null } });
    },
  );

  test('every change is in the file when the next line runs', async () => {
    const { lines } = await stage.run(`hashmap h: HashMap<String, Int> = HashMap::new().with_persistence("h.json");
fn file() -> String { std::fs::read_file("h.json").unwrap().replace("\\n", "").replace(" ", "") }
fn main() {
    h.set("a", 1); emit("set", file());
    h.set_many({"b": 2, "c": 3}); emit("many", file());
    h.delete("a"); emit("delete", file());
    h.clear(); emit("clear", file());
}`);
    expect(lines).toEqual(['set: {"a":1}', 'many: {"a":1,"b":2,"c":3}', 'delete: {"b":2,"c":3}', 'clear: {}']);
    expect(readdirSync(stage.directory)).toEqual(['h.json']);
  });

  test('keys that are not texts come back as they were', async () => {
    const program = `hashmap h: HashMap<Int, Float> = HashMap::with_persistence("h.json");
fn main() { h.set(h.len(), 1.0); emit("h", h.entries()); }`;
    await stage.run(program);
    expect((await stage.run(program)).lines).toEqual(['h: [[0, 1], [1, 1]]']);
  });

  test('changes that come at the same time are all there at the end', async () => {
    await stage.run(`hashmap h: HashMap<String, Int> = HashMap::with_persistence("h.json");
async fn put(n: Int) { h.set("k\${n}", n); }
async fn main() { let _ = await (put(0), put(1), put(2), put(3), put(4), put(5)); }`);
    expect(JSON.parse(read('h.json'))).toEqual({ k0: 0, k1: 1, k2: 2, k3: 3, k4: 4, k5: 5 });
  });

  test.each([
    ['{', /^h\.json: not what a hashmap writes/],
    ['[1, 2]', /^h\.json: not what a hashmap writes/],
    ['{"a": "one"}', /^h\.json: a: .*expected an Int/],
  ])('a file with %s is an error that names it, and is left alone', async (text, problem) => {
    stage.write('h.json', text);
    const run = await stage.run(`hashmap h: HashMap<String, Int> = HashMap::with_persistence("h.json");
fn main() { h.set("b", 2); }`);
    expect(run.problem).toMatch(problem);
    expect(read('h.json')).toBe(text);
  });

  test('one that cannot be written is an error the program can catch', async () => {
    const { lines } = await stage.run(`fn main() {
    let h = HashMap::with_persistence("nowhere/h.json");
    try { h.set("a", 1); } catch HashMapError(e) { emit("error", e.message); }
}`);
    expect(lines).toEqual(['error: nowhere/h.json: no such file or directory']);
    expect(existsSync(join(stage.directory, 'nowhere'))).toBe(false);
  });
});
