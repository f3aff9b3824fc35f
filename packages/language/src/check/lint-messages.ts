import { MESSAGE_TYPES, type MessageType } from '@concerto/ir';
import type { Span } from '../source/span.ts';
import type { FieldExpression } from '../syntax/expression.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { didYouMean } from './resolve-path.ts';
import { builtinName, type Type } from './types.ts';

const TYPES: Readonly<Record<string, MessageType>> = MESSAGE_TYPES;
const TYPE_NAMES = new Set(Object.values(TYPES).map(({ type }) => type ?? ''));

/** `Question`, `Approval`, …: what agents send, as the language knows it. */
export function isBuiltinMessage(type: Type): boolean {
  return TYPE_NAMES.has(builtinName(type)) && builtinName(type) !== '';
}

/** An agent may send whatever it likes; what is almost a message everybody knows was meant to be that one. */
export function checkMessageName(body: Body, name: string, span: Span): void {
  if (Object.hasOwn(TYPES, name)) return;
  const help = didYouMean(name, Object.keys(TYPES));
  if (help === undefined) return;
  body.cx.report.warning(CODE.misspeltMessage, span, `no agent is known to send \`${name}\``, { help });
}

/** `msg.mesage` where `msg` is the message of a handler and has no type. */
export function checkMessageField(body: Body, node: FieldExpression): void {
  if (node.receiver.kind !== 'NameExpression') return;
  const resolved = body.cx.facts.names.get(node.receiver.id);
  const names = resolved?.kind === 'local' ? body.cx.messages.get(resolved.local) : undefined;
  if (names === undefined || names.length === 0) return;
  const known = names.map((name) => (Object.hasOwn(TYPES, name) ? TYPES[name] : undefined));
  if (known.includes(undefined)) return;
  warnMisspeltField(body, node, new Set(known.flatMap((type) => Object.keys(type?.fields ?? {}).map(plainName))));
}

/** A message may have more fields than are known; what is almost one of those was meant to be it. */
export function warnMisspeltField(body: Body, node: FieldExpression, fields: Iterable<string>): void {
  const known = [...fields];
  const name = node.name.text;
  const help = known.includes(name) ? undefined : didYouMean(name, known);
  if (help === undefined) return;
  body.cx.report.warning(CODE.misspeltMessage, node.name.span, `the message has no field \`${name}\``, { help });
}

function plainName(written: string): string {
  return written.replace(/\?$/, '');
}
