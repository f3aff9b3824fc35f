import type { Expression, ListenHandler, StringLiteral } from '../syntax/expression.ts';
import { eatInstead, startsArrowFunction } from './foreign-words.ts';
import { closeBraces, endsBraces, opensBraces } from './item-start.ts';
import type { Apart } from './parameter-pattern.ts';
import { parseClosureBody, parseClosureParameters } from './parse-closure.ts';
import { parseArguments } from './parse-postfix.ts';
import type { Parser } from './parser.ts';

export function parseListen(p: Parser): Expression {
  const { start } = p;
  p.bump();
  const call = p.headExpression();
  const handlers: ListenHandler[] = [];
  const open = p.start;
  if (opensBraces(p, 'after the call to listen to')) {
    while (!endsBraces(p)) {
      const before = p.position;
      handlers.push(p.within({ inHead: false, inArm: false }, () => parseHandler(p)));
      p.eat(',');
      if (p.position === before) p.bump();
    }
    closeBraces(p, open);
  }
  return { kind: 'ListenExpression', id: p.newId(), span: p.spanFrom(start), call, handlers };
}

function parseHandler(p: Parser): ListenHandler {
  const { start } = p;
  const messages = parseMessageTypes(p);
  const options = p.at('(') ? parseArguments(p) : [];
  if (!eatInstead(p, ':', '=>', 'after the message type') && !p.expect('=>', 'after the message type')) {
    p.skipBalanced((kind) => kind === '=>' || kind === ',');
    p.eat('=>');
  }
  const hasParameters = p.at('|') || p.at('||') || startsArrowFunction(p);
  if (!hasParameters) {
    p.unexpected('expected the parameter of the handler: `|message|`', false, {
      help: 'where the message does not matter write `|_| …`',
    });
  }
  const apart: Apart[] = [];
  const parameters = hasParameters ? parseClosureParameters(p, apart) : [];
  const second = parameters[1];
  if (second !== undefined) p.report('C0100', second.span, 'a handler takes one parameter: the message');
  const { returnType, body } = parseClosureBody(p, apart);
  return {
    kind: 'ListenHandler',
    id: p.newId(),
    span: p.spanFrom(start),
    messages,
    options,
    parameter: parameters[0],
    returnType,
    body,
  };
}

/** `"a" | "b"`, or `_`, which gives none. */
function parseMessageTypes(p: Parser): StringLiteral[] {
  if (p.atWord('_')) {
    p.bump();
    return [];
  }
  const messages: StringLiteral[] = [];
  do {
    const message = parseMessageType(p);
    if (message !== undefined) messages.push(message);
  } while (p.eat('|'));
  return messages;
}

function parseMessageType(p: Parser): StringLiteral | undefined {
  if (!p.at('String') && !p.atName()) {
    p.unexpected('expected a message type such as `"question"`, or `_`');
    return undefined;
  }
  const span = p.tokenSpan;
  const value = p.at('String') ? (p.tokens.texts.get(p.position) ?? '') : p.text;
  if (!p.at('String')) {
    p.syntaxError('C0100', span, `the message type \`${value}\` needs quotes`, {
      help: `write \`"${value}"\``,
      fix: { title: 'add quotes', edits: [{ span, text: `"${value}"` }] },
    });
  }
  p.bump();
  return { kind: 'StringLiteral', id: p.newId(), span, value };
}
