import type { ConfigField } from '../syntax/item.ts';
import { eatInstead } from './foreign-words.ts';
import { closeBraces, endsBraces, opensBraces } from './item-start.ts';
import { parseAnyName } from './parse-name.ts';
import type { Parser } from './parser.ts';

/** `{ name: value … }` with optional commas. */
export function parseConfigBlock(p: Parser): ConfigField[] {
  const fields: ConfigField[] = [];
  const open = p.start;
  if (!opensBraces(p)) return fields;
  while (!endsBraces(p)) {
    const before = p.position;
    if (p.atName()) fields.push(parseConfigField(p));
    else p.unexpected('expected a field name or `}`');
    p.eat(',');
    if (p.position === before) {
      p.skipBalanced((kind) => kind === ',');
      if (!p.eat(',')) break;
    }
  }
  closeBraces(p, open);
  return fields;
}

export function parseConfigField(p: Parser): ConfigField {
  const { start } = p;
  const name = parseAnyName(p, 'a field name');
  const where = `after \`${name.text}\``;
  if (!eatInstead(p, '=', ':', where)) p.expect(':', where);
  const value = p.freeExpression();
  return { kind: 'ConfigField', id: p.newId(), span: p.spanFrom(start), name, value, oldSpelling: undefined };
}
