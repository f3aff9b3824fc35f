import type { Json, JsonObject } from '@concerto/base';
import { type AcpParams, chosenOption, type RequestOption, shortened } from '@concerto/protocol';
import type { PermissionOption, PermissionRequest, ToolCall } from '@concerto/protocol/acp';
import { wireChange } from '../file-change.ts';
import { memberOf } from '../json-member.ts';
import { toolKind } from '../tool-kind.ts';
import { contentOf } from './acp-content.ts';
import { serverOfTool } from './acp-tool-rules.ts';

type Approval = JsonObject & {
  readonly type: 'approval';
  readonly description: string;
};

/** The approval that stands for a permission, without its id. `call` is all that is known of the call. */
export function approvalOf(
  { options }: PermissionRequest,
  call: ToolCall,
  { callId, servers }: { readonly callId: string; readonly servers?: AcpParams['mcp_servers'] },
): Approval {
  const { kind, locations, rawInput, name } = call;
  const { text, changes } = contentOf(call);
  const paths = [...new Set([...(locations ?? []).map(({ path }) => path), ...changes.map(({ path }) => path)])];
  const command = memberOf(rawInput, 'command');
  const own = name == null ? undefined : serverOfTool(name, servers);
  return {
    type: 'approval',
    description: describeCall(call),
    kind: toolKind(kind),
    call: callId,
    ...(name == null ? {} : { tool: own === undefined ? name : `${own.server}.${own.tool}` }),
    ...(own === undefined ? {} : { server: own.server }),
    ...(rawInput === undefined ? {} : { input: rawInput }),
    ...(typeof command === 'string' ? { command } : {}),
    ...(paths.length === 0 ? {} : { paths }),
    ...(text === undefined ? {} : { details: text }),
    ...(changes.length === 0 ? {} : { changes: changes.map((change) => ({ ...wireChange(change) })) }),
    options: offered(options).map((option) => ({ ...option, name: option.label })),
  };
}

export type Decision = {
  readonly outcome: { readonly outcome: 'selected'; readonly optionId: string } | { readonly outcome: 'cancelled' };
  readonly isRefused: boolean;
  /** Said beside a no; the protocol has no place for it. */
  readonly reason?: string;
};

/** One of the options by its id or name, or a yes or no; everything that is neither is a no. */
export function decisionOf(answer: Json, options: readonly PermissionOption[]): Decision {
  const { option, isApproved, reason } = chosenOption(answer, offered(options));
  if (option !== undefined) return selected(option.id, !isApproved);
  if (isApproved) return pick(options, ['allow_once', 'allow_always'], false);
  const refused = pick(options, ['reject_once', 'reject_always'], true);
  return reason === undefined ? refused : { ...refused, reason };
}

/** What a person should read of a call: its title, and what it is about where the title does not say it. */
export function describeCall(call: ToolCall): string {
  const title = call.title ?? call.name ?? call.kind ?? 'a tool';
  const subject = subjectOf(call.rawInput);
  return shortened(subject === undefined || title.includes(subject) ? title : `${title}: ${subject}`);
}

function subjectOf(input: Json | undefined): string | undefined {
  for (const key of ['command', 'file_path', 'path', 'url', 'query']) {
    const value = memberOf(input, key);
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return undefined;
}

/** Of a kind that we do not know, an option allows nothing. */
function offered(options: readonly PermissionOption[]): readonly RequestOption[] {
  return options.map(({ optionId: id, name: label, kind }) => ({ id, label, kind: kindOf(kind) }));
}

function kindOf(kind: string): RequestOption['kind'] {
  return kind === 'allow_once' || kind === 'allow_always' || kind === 'reject_always' ? kind : 'reject_once';
}

/** An agent that offers no such option is told that nobody chose: never a yes in its place. */
function pick(options: readonly PermissionOption[], kinds: readonly string[], isRefused: boolean): Decision {
  for (const kind of kinds) {
    const option = options.find((candidate) => candidate.kind === kind);
    // An id that a yes has too would be taken for either.
    const isClear = options.every(({ optionId, kind: other }) => optionId !== option?.optionId || other === kind);
    if (option !== undefined && isClear) return selected(option.optionId, isRefused);
  }
  return { outcome: { outcome: 'cancelled' }, isRefused };
}

function selected(optionId: string, isRefused: boolean): Decision {
  return { outcome: { outcome: 'selected', optionId }, isRefused };
}
