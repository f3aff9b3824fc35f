import type { Span } from '../source/span.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import { type AppliedType, ERROR, prune, type Type } from './types.ts';

/**
 * Parts of a type, written out. Far more than anyone means: a pair of pairs of pairs doubles with each step, and whoever
 * walks it would take as long as it is large.
 */
const MOST_TYPE_PARTS = 20_000;

/** The type itself, or an error where it is larger than the checker is willing to walk. */
export function limitType(cx: Context, type: Type, span: Span): Type {
  const known = prune(type);
  if (known.kind !== 'applied' || !isNested(known) || sizeOf(cx, known, new Map()) <= MOST_TYPE_PARTS) return type;
  cx.report.error(CODE.cycle, span, `the type of this has more than ${MOST_TYPE_PARTS} parts`, {
    help: 'give the parts names: a struct of its own, or `Any` where the type does not matter',
  });
  return ERROR;
}

/** Most types are not, and need no measure. */
function isNested({ args }: AppliedType): boolean {
  for (const arg of args) {
    const part = prune(arg);
    if (part.kind === 'applied' && part.args.length > 0) return true;
  }
  return args.length > MOST_TYPE_PARTS;
}

/** Each part is looked at once, however often it occurs; what is fully known is remembered. */
function sizeOf(cx: Context, type: AppliedType, open: Map<AppliedType, number>): number {
  const known = cx.typeSizes.get(type) ?? open.get(type);
  if (known !== undefined) return known;
  let size = 1;
  let isClosed = true;
  for (const arg of type.args) {
    const part = prune(arg);
    if (part.kind === 'var') isClosed = false;
    if (part.kind !== 'applied' || part.args.length === 0) {
      size++;
      continue;
    }
    size += sizeOf(cx, part, open);
    isClosed &&= cx.typeSizes.has(part);
  }
  if (isClosed) cx.typeSizes.set(type, size);
  else open.set(type, size);
  return size;
}
