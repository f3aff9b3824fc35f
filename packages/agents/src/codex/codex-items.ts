import type { Json, JsonObject } from '@concerto/base';
import { shortened } from '@concerto/protocol';
import type { Item } from '@concerto/protocol/codex';
import { type Said, toolCall, toolResult } from '../driver-output.ts';

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
]);

export function isWork({ type }: Item): boolean {
  return !wordless.has(type);
}

export function itemStarted(item: Item): Said {
  const { id } = item;
  return toolCall({ id, name: nameOf(item), input: inputOf(item), what: describeItem(item) });
}

export function itemCompleted(item: Item): Said {
  const failed = item.status === 'failed' || item.status === 'declined';
  return toolResult({ id: item.id, name: nameOf(item) }, { text: outputOf(item), failed });
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
    default:
      return tool ?? type;
  }
}

function subjectOf(item: Item): string {
  switch (item.type) {
    case 'commandExecution':
      return commandOf(item);
    case 'fileChange':
      return (item.changes ?? []).map(({ path }) => path).join(', ');
    case 'webSearch':
      return item.query ?? '';
    default:
      return item.arguments === undefined || item.arguments === null ? '' : JSON.stringify(item.arguments);
  }
}

function inputOf(item: Item): JsonObject {
  switch (item.type) {
    case 'commandExecution':
      return { command: commandOf(item), ...(item.cwd == null ? {} : { cwd: item.cwd }) };
    case 'fileChange':
      return { changes: (item.changes ?? []).map(changeOf) };
    case 'webSearch':
      return { query: item.query ?? '' };
    default:
      return isObject(item.arguments) ? item.arguments : { arguments: item.arguments ?? null };
  }
}

function changeOf({ path, diff }: { readonly path: string; readonly diff?: unknown }): JsonObject {
  return { path, ...(typeof diff === 'string' ? { diff } : {}) };
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
  const content = isObject(result) ? result.content : undefined;
  if (!Array.isArray(content)) return JSON.stringify(result);
  return content
    .map((part: Json) => (isObject(part) && typeof part.text === 'string' ? part.text : `[${kindOf(part)}]`))
    .join('\n');
}

function kindOf(part: Json): string {
  return isObject(part) && typeof part.type === 'string' ? part.type : 'content';
}

function isObject(value: Json | null | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
