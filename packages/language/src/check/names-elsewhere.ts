/** What methods are called in Rust, TypeScript and Python. */
const METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  ['length', ['len']],
  ['size', ['len']],
  ['append', ['push', 'set', 'insert']],
  ['push_back', ['push']],
  ['add', ['push', 'insert']],
  ['put', ['set']],
  ['includes', ['contains', 'has']],
  ['contains', ['has', 'contains_key']],
  ['has', ['contains']],
  ['some', ['any']],
  ['every', ['all']],
  ['shift', ['remove', 'dequeue']],
  ['substr', ['substring']],
  ['char_at', ['get']],
  ['at', ['get']],
  ['nth', ['get']],
  ['strip', ['trim']],
  ['upper', ['to_upper']],
  ['lower', ['to_lower']],
  ['to_str', ['to_string']],
  ['str', ['to_string']],
  ['sorted', ['sort']],
  ['reversed', ['reverse']],
  ['rev', ['reverse']],
  ['position', ['find_index', 'index_of']],
  ['is_nothing', ['is_none']],
  ['unwrap_or_default', ['unwrap_or']],
  ['items', ['entries']],
  ['then', ['and_then']],
  ['parse', ['parse_int']],
  ['ask', ['execute']],
  ['call', ['execute', 'run']],
  ['complete', ['execute']],
  ['generate', ['execute']],
  ['invoke', ['execute', 'run']],
  ['prompt', ['execute']],
  ['run', ['execute']],
  ['send', ['execute']],
  ['execute', ['run']],
]);

/** What Rust needs and a language of values does not. */
const NOT_NEEDED = new Set([
  'clone',
  'cloned',
  'copied',
  'iter',
  'iter_mut',
  'into_iter',
  'collect',
  'as_str',
  'as_ref',
  'as_mut',
  'to_owned',
  'into',
  'borrow',
]);

/** What to write for a method that is called so in another language: `indexOf`, `length()`, `iter()`. */
export function methodElsewhere(name: string, known: readonly string[]): string | undefined {
  const snake = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  const found = [snake, ...(METHODS.get(snake) ?? [])].find((candidate) => known.includes(candidate));
  if (found !== undefined) return `write \`.${found}(…)\``;
  return NOT_NEEDED.has(name)
    ? `leave \`.${name}()\` out: values are copied, and lists have \`map\` and \`filter\``
    : undefined;
}

const EMPTY: ReadonlyMap<string, string> = new Map([
  ['Array', '`[]`'],
  ['Map', '`{}`'],
  ['String', '`""`'],
]);

/** `Array::new()`, `String::from(x)`, `Option::Some(x)`, `Int::parse("1")` of Rust. */
export function constructorElsewhere({ name: type }: { readonly name: string }, name: string): string | undefined {
  const empty = EMPTY.get(type);
  if (name === 'new' && empty !== undefined) return `an empty one is written ${empty}`;
  if (type === 'String' && name.startsWith('from')) return 'a template turns any value into text: `"${value}"`';
  if ((type === 'Int' || type === 'Float') && /^(?:parse|from)/.test(name)) {
    return `a text is read with \`text.parse_${type.toLowerCase()}()\``;
  }
  if (type === 'Option' && (name === 'Some' || name === 'None')) return `write \`${name}\` alone`;
  return type === 'Result' && (name === 'Ok' || name === 'Err') ? `write \`${name}(…)\` alone` : undefined;
}
