import { typeOfText } from './builtins.ts';
import type { McpValueShape } from './check-mcp.ts';
import type { Context } from './context.ts';
import { CON, isCon, isDynamic, prune, showType, type Type } from './types.ts';
import { assign } from './unify.ts';

/** What a declared type and a server's schema disagree about, as the rest of a sentence that begins with the tool. */
type Misfit = string | undefined;

/** Would the server take every value of the type? */
export function argumentMisfit(cx: Context, raw: Type, shape: McpValueShape, at: string): Misfit {
  const type = plain(raw);
  const fields = declaredFields(type);
  if (fields !== undefined && shape.fields !== undefined) {
    for (const wanted of shape.fields) {
      const field = fields.get(wanted.name);
      const path = `${at}.${wanted.name}`;
      if (field === undefined && wanted.optional) continue;
      if (field === undefined) return `also needs \`${path}: ${wanted.shape.type}\``;
      const misfit = argumentMisfit(cx, field.type, wanted.shape, path);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }
  if (isCon(type, CON.Array) && shape.items !== undefined) {
    return argumentMisfit(cx, type.args[0] ?? type, shape.items, `${at}[]`);
  }
  if (isOpaque(type) || fields !== undefined) return undefined;
  const real = typeOfText(cx.builtins, shape.type);
  if (assign(cx, type, real).ok || assign(cx, raw, real).ok) return undefined;
  return `takes \`${showType(real)}\` for \`${at}\`, found \`${showType(raw)}\``;
}

/** Does everything the server gives fit the type? A text or nil can be made of anything. */
export function resultMisfit(cx: Context, raw: Type, shape: McpValueShape, at: string): Misfit {
  const type = plain(raw);
  if (at === '' && (isCon(type, CON.String) || isCon(type, CON.Nil))) return undefined;
  const fields = declaredFields(type);
  if (fields !== undefined && shape.fields !== undefined) {
    for (const field of fields.values()) {
      const path = at === '' ? field.name : `${at}.${field.name}`;
      const given = shape.fields.find((candidate) => candidate.name === field.name);
      const mayMiss = field.optional || field.hasDefault || isCon(prune(field.type), CON.Option);
      if (given === undefined && mayMiss) continue;
      if (given === undefined) return `gives no \`${path}\``;
      if (given.optional && !mayMiss) return `does not always give \`${path}\`: make it optional`;
      const misfit = resultMisfit(cx, field.type, given.shape, path);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }
  if (isCon(type, CON.Array) && shape.items !== undefined) {
    return resultMisfit(cx, type.args[0] ?? type, shape.items, `${at}[]`);
  }
  if (isOpaque(type)) return undefined;
  const real = typeOfText(cx.builtins, shape.type);
  if (assign(cx, real, type).ok || assign(cx, real, raw).ok) return undefined;
  return `gives \`${showType(real)}\`${at === '' ? '' : ` for \`${at}\``}, found \`${showType(raw)}\``;
}

/** An absent optional value is not sent, and null is none. */
function plain(raw: Type): Type {
  const type = prune(raw);
  return isCon(type, CON.Option) ? prune(type.args[0] ?? type) : type;
}

function declaredFields(type: Type) {
  if (type.kind !== 'applied') return undefined;
  return type.con.family === 'struct' || type.con.family === 'schema' ? type.con.fields : undefined;
}

/** Only the run decides. */
function isOpaque(type: Type): boolean {
  return isDynamic(type) || type.kind !== 'applied' || type.con.family === 'enum';
}
