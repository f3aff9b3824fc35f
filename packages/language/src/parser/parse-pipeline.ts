import type { Item, Stage } from '../syntax/item.ts';
import type { ItemHead } from './item-head.ts';
import { parseMembers } from './parse-data-item.ts';
import { parseParameter, parseParameters } from './parse-function.ts';
import { parseList, parseName } from './parse-name.ts';
import { endStatement } from './parse-statement.ts';
import { parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

export function parsePipeline(p: Parser, head: ItemHead): Item {
  p.bump();
  const name = parseName(p, 'the name of the pipeline');
  const parameters = p.eat('(') ? parseList(p, ')', (parser) => parseParameter(parser)) : [];
  const second = parameters[1];
  if (second !== undefined) p.report('C0100', second.span, 'a pipeline takes one input');
  const returnType = p.eat('->') ? parseType(p) : undefined;
  const stages = parseMembers(p, (own) => (p.at('stage') ? parseStage(p, own) : undefined), 'a stage');
  const { start, ...rest } = head;
  const span = p.spanFrom(start);
  return { kind: 'PipelineItem', id: p.newId(), span, ...rest, name, parameter: parameters[0], returnType, stages };
}

function parseStage(p: Parser, head: ItemHead): Stage {
  p.bump();
  const name = parseName(p, 'the name of the stage');
  const { start, ...rest } = head;
  if (p.eat('=')) {
    const value = p.expression();
    endStatement(p, 'the stage');
    return { kind: 'ValueStage', id: p.newId(), span: p.spanFrom(start), ...rest, name, value };
  }
  const { self, parameters } = parseParameters(p);
  if (self !== undefined) p.report('C0100', self.span, 'a stage has no `self`');
  const returnType = p.eat('->') ? parseType(p) : undefined;
  const body = p.block();
  return { kind: 'FunctionStage', id: p.newId(), span: p.spanFrom(start), ...rest, name, parameters, returnType, body };
}
