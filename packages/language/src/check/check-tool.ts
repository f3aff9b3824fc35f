import type { FunctionItem, ToolItem } from '../syntax/item.ts';
import { fitOrReport } from './body.ts';
import { constantValue, outerBody } from './check-constant.ts';
import { settle } from './check-function.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import type { ModuleScope } from './module-scope.ts';
import { didYouMean } from './resolve-path.ts';
import { applied, STRING, type TypeCon } from './types.ts';

/** A model chooses a tool by its descriptions, so they must be there. */
export function checkTool(cx: Context, module: ModuleScope, item: ToolItem): void {
  const con = cx.declaredCons.get(item);
  const description = item.fields.find((field) => field.name.text === 'description');
  if (description === undefined) {
    cx.report.error(CODE.toolDescription, item.name.span, `tool \`${item.name.text}\` needs a \`description\``, {
      help: 'a model reads it to decide when to use the tool: `description: "…"`',
    });
  }
  checkFields(cx, module, item, con);
  for (const method of item.methods) checkMethodDocs(cx, method);
}

function checkFields(cx: Context, module: ModuleScope, item: ToolItem, con: TypeCon | undefined): void {
  const body = outerBody(cx, module, con === undefined ? undefined : applied(con));
  for (const field of item.fields) {
    const isDescription = field.name.text === 'description';
    const type = body.check(field.value, isDescription ? STRING : undefined);
    if (isDescription) fitOrReport(body, field.value, type, { type: STRING, what: '`description`' });
    const evaluation = cx.evaluation.current;
    if (!isDescription || evaluation === undefined) continue;
    const value = constantValue(cx, field.value, evaluation);
    if (value !== undefined) cx.facts.constants.set(field.value.id, value);
  }
  for (const field of item.state) {
    const info = con?.fields?.get(field.name.text);
    if (field.defaultValue === undefined || info === undefined) continue;
    const type = body.check(field.defaultValue, info.type);
    fitOrReport(body, field.defaultValue, type, { type: info.type, what: `default of \`${field.name.text}\`` });
  }
  settle(cx);
}

/** `@describe` and `@param` of a method that models may call. */
function checkMethodDocs(cx: Context, method: FunctionItem): void {
  // `@describe` alone says nothing, and a model would be shown nothing.
  const described = method.decorators.some(
    ({ name, arguments: words }) => name.text === 'describe' && words.length > 0,
  );
  if (method.isPublic && !described) {
    cx.report.error(
      CODE.toolDescription,
      method.name.span,
      `public method \`${method.name.text}\` needs \`@describe("…")\``,
      {
        help: 'say what it does, or leave `pub` out to keep it from models',
      },
    );
  }
  const docs = method.decorators.filter((decorator) => decorator.name.text === 'param');
  if (docs.length === 0) return;
  const names = method.parameters.map((parameter) => parameter.name.text);
  if (docs.length !== names.length) {
    cx.report.warning(
      CODE.parameterDocs,
      method.name.span,
      `\`${method.name.text}\` has ${names.length} parameters, but ${docs.length} \`@param\``,
    );
  }
  for (const doc of docs) {
    const first = doc.arguments[0]?.value;
    if (first?.kind !== 'StringLiteral' || names.includes(first.value)) continue;
    cx.report.warning(CODE.parameterDocs, first.span, `\`${method.name.text}\` has no parameter \`${first.value}\``, {
      help: didYouMean(first.value, names),
    });
  }
}
