import type { Json, JsonObject } from '@concerto/base';
import { shortened } from '@concerto/protocol';
import type { PermissionOption, PermissionRequest, ToolCall } from '@concerto/protocol/acp';
import { contentFields } from './acp-content.ts';
import { memberOf } from './json-object.ts';

/** What runs a command can do anything, and so can what we do not know. */
const risks: Readonly<Record<string, 'low' | 'medium'>> = {
  read: 'low',
  search: 'low',
  think: 'low',
  fetch: 'low',
  edit: 'medium',
  move: 'medium',
};

type Approval = JsonObject & {
  readonly type: 'approval';
  readonly description: string;
  readonly risk_level: string;
};

/** The approval that stands for a permission, without its id. `call` is all that is known of the call. */
export function approvalOf({ options }: PermissionRequest, call: ToolCall): Approval {
  const { kind, locations, rawInput } = call;
  const tool = toolName(call);
  const paths = (locations ?? []).map(({ path }) => path);
  return {
    type: 'approval',
    description: describeCall(call),
    risk_level: risks[kind ?? ''] ?? 'high',
    ...(tool === undefined ? {} : { tool }),
    ...(rawInput === undefined ? {} : { input: rawInput }),
    ...(paths.length === 0 ? {} : { paths }),
    ...contentFields(call),
    options: options.map(({ optionId: id, name, kind: effect }) => ({ id, name, kind: effect })),
  };
}

export type Decision = {
  readonly outcome: { readonly outcome: 'selected'; readonly optionId: string } | { readonly outcome: 'cancelled' };
  readonly isRefused: boolean;
  /** Said beside a no; the protocol has no place for it. */
  readonly reason?: string;
};

const yes = /^(y|yes|true|ok|approved?|allow)$/i;
/** A no, and what may follow it: `no, use git mv`. Of any other text all is the reason. */
const no = /^(?:(?:n|no|false|den(?:y|ied)|refused?|reject(?:ed)?)\b[\s,.:;!–—-]*)?/i;

/** One of the options by its id or name, or a yes or no; everything that is neither is a no. */
export function decisionOf(answer: Json, options: readonly PermissionOption[]): Decision {
  const named = optionNamed(answer, options);
  if (named !== undefined) return selected(named);
  if (isYes(answer)) return pick(options, ['allow_once', 'allow_always'], false);
  const reason = typeof answer === 'string' ? answer.trim().replace(no, '') : reasonOf(answer);
  const refused = pick(options, ['reject_once', 'reject_always'], true);
  return reason === '' ? refused : { ...refused, reason };
}

/** The name a tool has for its agent, as far as the agent tells. */
export function toolName({ name, _meta, toolCallId }: ToolCall): string | undefined {
  return name ?? _meta?.claudeCode?.toolName ?? nameInId(toolCallId);
}

/** Gemini CLI tells the name nowhere else: `run_shell_command__1f2e3d`. */
function nameInId(toolCallId: string): string | undefined {
  const end = toolCallId.lastIndexOf('__');
  return end > 0 ? toolCallId.slice(0, end) : undefined;
}

/** What a person should read of a call: its title, and what it is about where the title does not say it. */
export function describeCall(call: ToolCall): string {
  const title = call.title ?? toolName(call) ?? call.kind ?? 'a tool';
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

function optionNamed(answer: Json, options: readonly PermissionOption[]): PermissionOption | undefined {
  const wanted = typeof answer === 'string' ? answer : (memberOf(answer, 'optionId') ?? memberOf(answer, 'option'));
  // Nothing said is a no, whatever an agent calls its options.
  if (typeof wanted !== 'string' || wanted.trim() === '') return undefined;
  return (
    options.find(({ optionId }) => optionId === wanted) ??
    options.find(({ name }) => name.trim().toLowerCase() === wanted.trim().toLowerCase())
  );
}

function isYes(answer: Json): boolean {
  if (typeof answer === 'string') return yes.test(answer.trim());
  return answer === true || memberOf(answer, 'approved') === true || memberOf(answer, 'allowed') === true;
}

function reasonOf(answer: Json): string {
  const said = memberOf(answer, 'reason') ?? memberOf(answer, 'message');
  return typeof said === 'string' ? said : '';
}

/** An agent that offers no such option is told that nobody chose: never a yes in its place. */
function pick(options: readonly PermissionOption[], kinds: readonly string[], isRefused: boolean): Decision {
  for (const kind of kinds) {
    const option = options.find((candidate) => candidate.kind === kind);
    if (option !== undefined) return selected(option);
  }
  return { outcome: { outcome: 'cancelled' }, isRefused };
}

function selected({ optionId, kind }: PermissionOption): Decision {
  return { outcome: { outcome: 'selected', optionId }, isRefused: kind.startsWith('reject') };
}
