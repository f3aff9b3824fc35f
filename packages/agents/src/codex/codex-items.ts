import type { Json, JsonObject } from '@concerto/base';
import { type FileChange, type Location, type Part, shortened, type ToolKind } from '@concerto/protocol';
import type { CodexChange, Item } from '@concerto/protocol/codex';
import { type Said, type ToolOutcome, toolCall, toolResult } from '../driver-output.ts';
import { changeOf, changeOfPatch } from '../file-change.ts';
import { isJsonObject, memberOf } from '../json-member.ts';
import { serverToolNames } from '../tool-rule.ts';

/** Items that are not work but words, or that are told in another way. */
const wordless: ReadonlySet<string> = new Set([
  'userMessage',
  'hookPrompt',
  'agentMessage',
  'plan',
  'reasoning',
  'contextCompaction',
  'enteredReviewMode',
  'exitedReviewMode',
  'functionCallOutput',
]);

/** The call of a sub-agent, which ends when its thread does. */
export function isDelegation({ type, kind, agentThreadId }: Item): boolean {
  return type === 'subAgentActivity' && kind === 'started' && agentThreadId != null;
}

export function isWork(item: Item): boolean {
  return !wordless.has(item.type) && (item.type !== 'subAgentActivity' || isDelegation(item));
}

/** `parent`: the call whose sub-agent does it. */
export function itemStarted(item: Item, parent: string | undefined): Said {
  const { id } = item;
  return toolCall({
    id,
    name: nameOf(item),
    input: inputOf(item),
    what: describeItem(item),
    kind: kindOf(item),
    ...touches(item),
    ...(parent === undefined ? {} : { parentCallId: parent }),
  });
}

export function itemCompleted(item: Item, isStopped = false): Said {
  const { exitCode, status } = item;
  // It did not come to an end of its own; what it wrote before it was ended is shown all the same.
  if (isStopped && status === 'failed' && (exitCode == null || exitCode < 0)) return itemCancelled(item);
  return toolResult({ id: item.id, name: nameOf(item) }, outcomeOf(item));
}

/** Its end was never told, and will not be. */
export function itemCancelled(item: Item): Said {
  return toolResult(
    { id: item.id, name: nameOf(item) },
    { text: item.aggregatedOutput || 'cancelled', failed: true, outcome: 'cancelled', ...touches(item) },
  );
}

function outcomeOf(item: Item): ToolOutcome {
  const failed = item.status === 'failed' || item.status === 'declined';
  const parts = partsOf(item.result);
  const extra = extraOf(item);
  return {
    text: outputOf(item),
    failed,
    ...(item.status === 'declined' ? { outcome: 'denied' as const } : {}),
    ...(parts.length === 0 ? {} : { parts }),
    ...touches(item),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** What a person should read before a yes. */
export function describeItem(item: Item): string {
  const subject = subjectOf(item);
  return subject === '' ? nameOf(item) : `${nameOf(item)}: ${shortened(subject)}`;
}

/** The program wraps a command in a shell; its own reading of it is what was meant. */
export function commandOf({ command, commandActions }: Pick<Item, 'command' | 'commandActions'>): string {
  const parts = (commandActions ?? []).flatMap((action) => (action.command ? [action.command] : []));
  return parts.length > 0 ? parts.join(' && ') : (command ?? '');
}

/** The names by which the session's rules may speak of what an item does. */
export function ruleNames(item: Item): readonly string[] {
  if (item.type === 'mcpToolCall') return serverToolNames(item.server ?? 'mcp', item.tool ?? 'tool');
  return [nameOf(item)];
}

export function changesOf(changes: readonly CodexChange[]): readonly FileChange[] {
  return changes.map(({ path, diff, kind }) => {
    const text = diff ?? '';
    if (kind?.type === 'add') return changeOf(path, undefined, text);
    if (kind?.type === 'delete') return changeOf(path, text, undefined);
    const movedTo = kind?.move_path ?? undefined;
    return changeOfPatch(
      path,
      movedTo === undefined ? 'edit' : 'move',
      text.replace(/\n+Moved to: .*$/, '\n'),
      movedTo,
    );
  });
}

function nameOf({ type, server, tool }: Item): string {
  switch (type) {
    case 'commandExecution':
      return 'shell';
    case 'fileChange':
      return 'apply_patch';
    case 'mcpToolCall':
      return `${server ?? 'mcp'}.${tool ?? 'tool'}`;
    case 'webSearch':
      return 'web_search';
    case 'imageView':
      return 'view_image';
    case 'subAgentActivity':
      return 'spawn_agent';
    default:
      return tool ?? type;
  }
}

function kindOf({ type, commandActions }: Item): ToolKind {
  switch (type) {
    case 'commandExecution': {
      const actions = new Set((commandActions ?? []).map((action) => action.type));
      if (actions.size !== 1) return 'execute';
      if (actions.has('read')) return 'read';
      return actions.has('search') || actions.has('listFiles') ? 'search' : 'execute';
    }
    case 'fileChange':
      return 'edit';
    case 'webSearch':
      return 'fetch';
    case 'imageView':
      return 'read';
    default:
      return 'other';
  }
}

function touches(item: Item): { readonly locations?: readonly Location[]; readonly changes?: readonly FileChange[] } {
  if (item.type === 'fileChange') {
    const changes = item.changes ?? [];
    return { locations: changes.map(({ path }) => ({ path })), changes: changesOf(changes) };
  }
  const paths = (item.commandActions ?? []).flatMap(({ path }) => (path == null ? [] : [path]));
  const all = [...new Set([...paths, ...(item.path == null ? [] : [item.path])])];
  return all.length === 0 ? {} : { locations: all.map((path) => ({ path })) };
}

function subjectOf(item: Item): string {
  switch (item.type) {
    case 'commandExecution':
      return commandOf(item);
    case 'fileChange':
      return (item.changes ?? []).map(({ path }) => path).join(', ');
    case 'webSearch':
      return item.query ?? '';
    case 'imageView':
      return item.path ?? '';
    case 'subAgentActivity':
      return item.agentPath ?? '';
    default:
      return item.arguments == null ? (item.prompt ?? '') : JSON.stringify(item.arguments);
  }
}

function inputOf(item: Item): JsonObject {
  switch (item.type) {
    case 'commandExecution':
      return { command: commandOf(item), ...(item.cwd == null ? {} : { cwd: item.cwd }) };
    case 'fileChange':
      return { paths: (item.changes ?? []).map(({ path }) => path) };
    case 'webSearch':
      return { query: item.query ?? '' };
    case 'imageView':
      return { path: item.path ?? '' };
    case 'subAgentActivity':
      return {
        agent: item.agentPath ?? '',
        ...(item.model == null ? {} : { model: item.model }),
        ...(item.reasoningEffort == null ? {} : { effort: item.reasoningEffort }),
        ...(item.agentThreadId == null ? {} : { thread: item.agentThreadId }),
      };
    default:
      if (item.arguments != null && isJsonObject(item.arguments)) return item.arguments;
      return {
        ...(item.arguments == null ? {} : { arguments: item.arguments }),
        ...(item.prompt == null ? {} : { prompt: item.prompt }),
      };
  }
}

function extraOf({ exitCode, durationMs, processId }: Item): JsonObject {
  return {
    ...(exitCode == null ? {} : { exit_code: exitCode }),
    ...(durationMs == null ? {} : { duration_ms: durationMs }),
    ...(processId == null ? {} : { process_id: processId }),
  };
}

function outputOf(item: Item): string {
  if (item.error?.message != null) return item.error.message;
  switch (item.type) {
    case 'commandExecution': {
      const code = item.exitCode == null || item.exitCode === 0 ? '' : `\n[exit code ${item.exitCode}]`;
      return item.status === 'declined' ? 'declined' : `${item.aggregatedOutput ?? ''}${code}`;
    }
    case 'fileChange':
      return item.status ?? 'completed';
    default:
      return contentText(item.result);
  }
}

/** The content of a tool of a server, or whatever there is. */
function contentText(result: Json | null | undefined): string {
  if (result === undefined || result === null) return '';
  const content = memberOf(result, 'content');
  if (!Array.isArray(content)) return JSON.stringify(result);
  return content.map((part: Json) => textAt(part, 'text') ?? `[${textAt(part, 'type') ?? 'content'}]`).join('\n');
}

/** None where all of it is text. */
function partsOf(result: Json | null | undefined): readonly Part[] {
  const content = memberOf(result ?? undefined, 'content');
  if (!Array.isArray(content) || content.every((part: Json) => textAt(part, 'data') === undefined)) return [];
  return content.map((part: Json): Part => {
    const data = textAt(part, 'data');
    if (data === undefined) return { text: textAt(part, 'text') ?? `[${textAt(part, 'type') ?? 'content'}]` };
    return { inlineData: { mimeType: textAt(part, 'mimeType') ?? 'image/png', data } };
  });
}

function textAt(value: Json | undefined, key: string): string | undefined {
  const found = memberOf(value, key);
  return typeof found === 'string' ? found : undefined;
}
