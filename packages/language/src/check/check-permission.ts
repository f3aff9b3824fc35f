import type { Decorator } from '../syntax/item.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import { didYouMean } from './resolve-path.ts';

/** What `@permission` can say about a model that calls the method. */
export const PERMISSIONS = ['allow', 'ask', 'deny'] as const;

const FORM = 'write `@permission("allow")`, `@permission("ask")` or `@permission("deny")`';

/** What it stands on: something a model can call, a method of a tool that it does not see, or anything else. */
export type PermissionPlace = 'callable' | 'hidden' | 'other';

/** `@permission` stands on what a model can call, once, with one of its three words. Its values were evaluated before. */
export function checkPermission(cx: Context, decorators: readonly Decorator[], place: PermissionPlace): void {
  const [first, ...more] = decorators.filter((decorator) => decorator.name.text === 'permission');
  if (first === undefined) return;
  for (const again of more) {
    cx.report.error(CODE.duplicate, again.span, 'there are two `@permission` here', {
      labels: [{ span: first.span, message: 'the first one' }],
    });
  }
  if (place !== 'callable') {
    const hidden = place === 'hidden';
    const message = hidden ? 'no model can call this method' : '`@permission` is for the methods of tools';
    cx.report.error(CODE.decoratorArgument, first.span, message, {
      help: hidden
        ? 'add `@describe("…")`, by which a model finds it'
        : 'put it on a method of a `tool` or `mcp` block',
    });
  }
  const [argument] = first.arguments;
  if (argument === undefined) {
    cx.report.error(CODE.decoratorArgument, first.span, '`@permission` needs a value', { help: FORM });
    return;
  }
  const value = cx.facts.constants.get(argument.value.id);
  if (value === undefined || (value.kind === 'string' && PERMISSIONS.some((known) => known === value.value))) return;
  const written = value.kind === 'string' ? value.value : '';
  cx.report.error(CODE.decoratorArgument, argument.span, `\`@permission\` takes "allow", "ask" or "deny"`, {
    help: didYouMean(written, PERMISSIONS) ?? FORM,
  });
}
