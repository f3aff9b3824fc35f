import type { Explanation } from './explanation.ts';

/** Warnings: the program runs, but probably not as meant. */
export const LINT_CODES = {
  C0300: {
    title: 'A variable that nothing uses',
    text: 'Remove it, or begin its name with `_` when it is meant to be unused.',
    wrong: 'fn main() { let x = 1; }',
    right: 'fn main() { let _x = 1; }',
  },
  C0301: {
    title: 'A match that may find no arm',
    text: 'The value is of a type that is only known when it runs. Without `_ => …` a value that no arm fits is a fault.',
  },
  C0302: {
    title: 'Parameters that are not described',
    text: 'A model sees `@param("name", "text")` of a tool: describe all parameters, or none.',
  },
  C0303: {
    title: 'A pipeline without stages',
    text: 'It gives back what it is given.',
    wrong: 'pipeline P { }\nfn main() { emit("x", P.run(1)); }',
  },
  C0304: {
    title: 'A `Result` that nobody looks at',
    text: 'An error in it would go unnoticed. Use `?`, `match` or `unwrap`; `let _ = …` says that it does not matter.',
    wrong: 'fn f() -> Result<Int, String> { Ok(1) }\nfn main() { f(); }',
    right: 'fn f() -> Result<Int, String> { Ok(1) }\nfn main() { let _ = f(); }',
  },
  C0305: { title: 'An import that nothing uses', text: 'Remove it.', wrong: 'use std::math::max;\nfn main() { }' },
  C0306: {
    title: 'Code that is never reached',
    text: 'Before it the function returns, the loop goes on or ends, or an error is thrown, always.',
    wrong: 'fn f() -> Int { return 1; emit("x", 2); 3 }\nfn main() { emit("x", f()); }',
  },
  C0307: {
    title: 'An arm or catch that is never reached',
    text: 'Those before it take every value that it would fit.',
    wrong: 'fn main() { match 1 { _ => { }, 1 => { }, } }',
  },
  C0308: {
    title: 'A handler that gives no answer',
    text: 'The agent waits for an answer to its question or approval: let the body end with one. `nil` answers with an error.',
  },
  C0309: {
    title: 'A value that nobody is given',
    text: 'Results, errors, exits and standard error are only observed: what the handler gives is not used.',
  },
  C0310: { title: 'An older spelling', text: 'It still works. `concerto check --fix` rewrites it.' },
  C0311: {
    title: 'A value that is dropped',
    text: 'The function gives nothing, so the last value of its body is lost. End it with `;`, or declare what the function gives.',
  },
  C0312: {
    title: 'A connector that the manifest does not have',
    text: 'Concerto.toml has no `[agents.NAME]` for it, so the agent cannot be started.',
  },
  C0313: { title: 'A decorator at a place where it does nothing', text: 'It belongs to another kind of declaration.' },
  C0314: {
    title: 'A misspelt message or field',
    text: 'Agents may send whatever they like, but this is almost a message, or a field of one, that everybody knows.',
    wrong:
      'agent A { connector: "a" }\nfn main() { let r = listen A.execute("x") { "qustion" => |q| { "yes" } }; emit("r", r); }',
    right:
      'agent A { connector: "a" }\nfn main() { let r = listen A.execute("x") { "question" => |q| { "yes" } }; emit("r", r); }',
  },
} as const satisfies Readonly<Record<string, Explanation>>;
