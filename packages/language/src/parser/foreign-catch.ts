import type { Name } from '../syntax/node.ts';
import type { Parser } from './parser.ts';

/** At `e {` or `(Error e)` of a `catch`, where the name of the error stands alone between parentheses. */
export function startsForeignBinding(p: Parser): boolean {
  if (p.at('(')) return p.peek(1) === 'Identifier' && p.peek(2) === 'Identifier' && p.peek(3) === ')';
  return p.at('Identifier') && p.peek(1) === '{' && /^[a-z]/.test(p.text);
}

export function parseForeignBinding(p: Parser, takeName: (p: Parser) => Name): Name {
  const { start } = p;
  const isTyped = p.at('(');
  const type = isTyped ? p.textAt(p.position + 1) : '';
  const name = isTyped ? p.textAt(p.position + 2) : p.text;
  const end = p.tokens.ends[p.position + (isTyped ? 3 : 0)] ?? start;
  const text = `${type}(${name})`;
  p.syntaxError('C0100', { start, end }, 'the name of the error stands alone between parentheses', {
    help: `write \`catch ${text}\``,
    fix: { title: `write \`${text}\``, edits: [{ span: { start, end }, text }] },
  });
  if (isTyped) p.position += 2;
  const taken = takeName(p);
  p.eat(')');
  return taken;
}

/** `finally { … }` behind a `try`, which is passed over. */
export function passFinally(p: Parser): void {
  if (!p.atWord('finally') || p.peek(1) !== '{') return;
  p.syntaxError('C0101', p.tokenSpan, 'there is no `finally`', {
    help: 'what is to happen in any case stands behind the `try`',
  });
  p.bump();
  p.block();
}
