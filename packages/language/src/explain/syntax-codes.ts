import type { Explanation } from './explanation.ts';

/** Of the lexer, the parser and the manifest. */
export const SYNTAX_CODES = {
  C0001: {
    title: 'A character that no program has',
    text: 'It is not part of the language outside of texts and comments. Names have letters from a to z, digits and `_`.',
    wrong: 'fn main() { let größe = 1; emit("x", größe); }',
    right: 'fn main() { let size = 1; emit("x", size); }',
  },
  C0002: {
    title: 'A single `&`',
    text: 'Values are copied, so there are no references. "And" is `&&`.',
    wrong: 'fn main() { if true & false { emit("x", 1); } }',
    right: 'fn main() { if true && false { emit("x", 1); } }',
  },
  C0003: {
    title: 'A text or comment that is never closed',
    text: 'A text between `"` ends on its line; text of several lines stands between `"""`. What follows an open quote is not looked at before it is closed.',
    wrong: 'fn main() { emit("x, 1); }',
    right: 'fn main() { emit("x", 1); }',
  },
  C0004: {
    title: 'An escape that does not exist',
    text: 'Texts know `\\n`, `\\t`, `\\r`, `\\\\`, `\\"`, `\\0`, `\\$` and `\\u{1F600}`. A raw text `r#"…"#` takes every character as it is.',
    wrong: 'fn main() { emit("x", "a\\qb"); }',
    right: 'fn main() { emit("x", r#"a\\qb"#); }',
  },
  C0005: {
    title: 'A number that cannot be read',
    text: 'An Int is between -(2^53 - 1) and 2^53 - 1; digits may be grouped with `_`.',
    wrong: 'fn main() { emit("x", 99999999999999999999); }',
    right: 'fn main() { emit("x", 1_000_000); }',
  },
  C0100: {
    title: 'Something else was expected here',
    text: 'The text stops being a program at this place: a bracket, a comma or a keyword is missing, or one too many is there.',
    wrong: 'fn main() { emit("x", [1, 2; }',
    right: 'fn main() { emit("x", [1, 2]); }',
  },
  C0101: {
    title: 'An expression or declaration was expected',
    text: 'A value, a call or a declaration must follow here. Words of other languages (`and`, `++`, `(x) => …`) are told with what to write instead.',
    wrong: 'fn main() { let x = ; emit("x", x); }',
    right: 'fn main() { let x = 1; emit("x", x); }',
  },
  C0103: {
    title: 'A name was expected',
    text: 'After `.` comes a field or a method, after `::` a name of the module or type.',
    wrong: 'fn main() { let a = {"b": 1}; emit("x", a.); }',
    right: 'fn main() { let a = {"b": 1}; emit("x", a.b); }',
  },
  C0104: {
    title: 'A `;` is missing',
    text: 'Statements end with `;`. Only the last expression of a block, its value, and what ends with a brace have none.',
    wrong: 'fn main() { let x = 1 emit("x", x); }',
    right: 'fn main() { let x = 1; emit("x", x); }',
  },
  C0105: {
    title: 'A `${` that is never closed',
    text: 'What stands between `${` and `}` in a text is an expression. A plain `$` needs no escape unless `{` follows; then write `\\${`.',
  },
  C0106: {
    title: 'A pattern with `-` needs a number',
    text: 'In a pattern `-` is the sign of a number: `-1 => …`. Anything else is compared in a guard: `n if n == -x => …`.',
  },
  C0107: {
    title: 'Nested too deeply',
    text: 'The program has more levels inside each other than anybody reads. Move a part into a function or a variable.',
  },
  C0222: {
    title: 'A model written as an agent',
    text: 'What has a `provider` is a model now. `concerto check --fix` rewrites it.',
  },
  C0223: {
    title: 'An agent without a connector',
    text: 'An agent names the entry of `[agents]` in Concerto.toml that starts it: `connector: "coder"`.',
    wrong: 'agent A { timeout: 5 }\nfn main() { emit("x", A.execute("y")); }',
    right: 'agent A { connector: "a" }\nfn main() { emit("x", A.execute("y")); }',
  },
  C0500: {
    title: 'Concerto.toml is not TOML',
    text: 'The file cannot be read beyond this place. Texts need quotes, and tables stand in brackets.',
  },
  C0501: {
    title: 'A key that the manifest does not know',
    text: 'Unknown keys are refused, because a misspelt one would do nothing in silence. `concerto schema` prints all of them.',
  },
  C0502: {
    title: 'A value that the manifest does not take',
    text: 'The key exists, but its value is missing or of the wrong kind.',
  },
  C0503: {
    title: 'A name in both [agents] and [hosts]',
    text: '`[hosts]` is the old name of `[agents]`; remove one of the two entries.',
  },
  C0504: {
    title: 'The manifest names what is not there',
    text: 'A file, a connection, a function or a server that an entry refers to does not exist.',
  },
  C0505: {
    title: 'The file is no program',
    text: 'The name of a program ends in `.conc`, that of a compiled one in `.conc-ir`.',
  },
} as const satisfies Readonly<Record<string, Explanation>>;
