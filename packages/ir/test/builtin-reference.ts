import { BUILTIN_STRUCTS } from '../src/builtin-types.ts';
import { BUILTIN_NAMES, type BuiltinName, builtinSpec } from '../src/builtins.ts';
import { MESSAGE_TYPES, type MessageType } from '../src/message-types.ts';

/** The reference of all built-ins as a Markdown page, out of the table that the checker and the VM read. */
export function builtinReference(): string {
  const public_ = BUILTIN_NAMES.filter((name) => !name.startsWith('$'));
  const functions = public_.filter((name) => !name.includes('.') && !name.startsWith('std::'));
  const lines = [
    '# Built-in functions, methods and types',
    '',
    '<!-- Written by packages/ir/test/builtin-reference.test.ts out of the table of built-ins: run it with UPDATE=1. -->',
    '',
    'A method whose `self` is `mut` changes the variable it is called on. *Waits*: the program is suspended until the world',
    'has answered, or something leaves it.',
    '',
    ...table('Functions', functions, (name) => name),
  ];
  for (const module of groups(public_, (name) =>
    name.startsWith('std::') ? name.split('::').slice(0, 2).join('::') : undefined,
  )) {
    lines.push(...table(module.key, module.names, (name) => name.slice(module.key.length + 2)));
  }
  for (const type of groups(public_, (name) => (name.includes('.') ? name.slice(0, name.indexOf('.')) : undefined))) {
    lines.push(...table(`Methods of ${type.key}`, type.names, (name) => name.slice(type.key.length + 1)));
  }
  lines.push('## Types', '', '| type | fields | |', '| --- | --- | --- |');
  for (const [name, spec] of Object.entries(BUILTIN_STRUCTS)) {
    const caught = 'parent' in spec && spec.parent !== undefined ? ` (also caught as ${spec.parent})` : '';
    lines.push(`| ${name} | ${Object.keys(spec.fields).join(', ')} | ${spec.help}${caught} |`);
  }
  lines.push('', '## Messages of agents', '', '| message | type | fields | |', '| --- | --- | --- | --- |');
  for (const [name, spec] of Object.entries<MessageType>(MESSAGE_TYPES)) {
    lines.push(`| \`"${name}"\` | ${spec.type ?? ''} | ${Object.keys(spec.fields).join(', ')} | ${spec.help} |`);
  }
  return `${lines.join('\n')}\n`;
}

function groups(
  names: readonly BuiltinName[],
  keyOf: (name: BuiltinName) => string | undefined,
): { readonly key: string; readonly names: readonly BuiltinName[] }[] {
  const found = new Map<string, BuiltinName[]>();
  for (const name of names) {
    const key = keyOf(name);
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), name]);
  }
  return [...found].map(([key, members]) => ({ key, names: members }));
}

function table(title: string, names: readonly BuiltinName[], short: (name: BuiltinName) => string): string[] {
  const rows = names.map((name) => {
    const { signature, effect, help } = builtinSpec(name);
    const shown = signature.slice('fn'.length).replaceAll('|', '\\|');
    return `| \`${short(name)}${shown}\` | ${help}${effect === true ? ' *Waits*' : ''} |`;
  });
  return [`## ${title}`, '', '| | |', '| --- | --- |', ...rows, ''];
}
