import type { Json, JsonObject } from '@concerto/base';
import {
  type ClaudeBlock,
  describeTool,
  type FileChange,
  type Location,
  type Part,
  type PlanEntry,
  shortened,
} from '@concerto/protocol';
import { type Said, type ToolOutcome, toolCall } from '../driver-output.ts';
import { changeOf, changeOfHunks, type Hunk, textOfFile } from '../file-change.ts';
import { isJsonObject, memberOf } from '../json-member.ts';
import { kindOfTool } from '../tool-kind.ts';

export type ClaudeCall = {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly messageId: string | undefined;
  /** The call whose sub-agent makes this one. */
  readonly parent: string | undefined;
};

/** What a call shows when it begins. `folder` is where the program works. */
export function claudeCall({ id, name, input, messageId, parent }: ClaudeCall, folder: string): Said {
  return toolCall({
    id,
    name,
    input,
    what: describeTool(name, input),
    kind: kindOfTool(name),
    ...claudeTouches(name, input, folder),
    ...(messageId === undefined ? {} : { messageId }),
    ...(parent === undefined ? {} : { parentCallId: parent }),
  });
}

/** The files that a call is about, and what is to become of them as far as its input tells. */
export function claudeTouches(
  name: string,
  input: JsonObject,
  folder: string,
): { readonly locations?: readonly Location[]; readonly changes?: readonly FileChange[] } {
  const path = textAt(input, 'file_path') ?? textAt(input, 'notebook_path') ?? textAt(input, 'path');
  if (path === undefined) return {};
  const line = typeof input.offset === 'number' && input.offset > 0 ? Math.floor(input.offset) : undefined;
  const changes = plannedChange(name, input, path, folder);
  return {
    locations: [{ path, ...(line === undefined ? {} : { line }) }],
    ...(changes === undefined ? {} : { changes: [changes] }),
  };
}

function plannedChange(name: string, input: JsonObject, path: string, folder: string): FileChange | undefined {
  if (name === 'Write') return changeOf(path, textOfFile(folder, path), textAt(input, 'content') ?? '');
  const edits = editsOf(name, input);
  if (edits.length === 0) return undefined;
  const before = textOfFile(folder, path);
  const applied = before === undefined ? undefined : edits.reduce<string>(edited, before);
  // What cannot be found in the file is shown as it was asked for.
  if (before !== undefined && applied !== undefined && applied !== before) return changeOf(path, before, applied);
  const join = (key: string): string => edits.map((edit) => textAt(edit, key) ?? '').join('\n');
  return changeOf(path, `${join('old_string')}\n`, `${join('new_string')}\n`);
}

function editsOf(name: string, input: JsonObject): readonly Json[] {
  if (name === 'Edit') return [input];
  return name === 'MultiEdit' && Array.isArray(input.edits) ? input.edits : [];
}

function edited(text: string, edit: Json): string {
  const [from, to] = [textAt(edit, 'old_string') ?? '', textAt(edit, 'new_string') ?? ''];
  if (from === '') return text === '' ? to : text;
  return memberOf(edit, 'replace_all') === true ? text.replaceAll(from, () => to) : text.replace(from, () => to);
}

/** What came of a call: its words and pictures, what the tool tells of it, and how it was decided. */
export function claudeOutcome(
  block: ClaudeBlock,
  told: Json | undefined,
  decision: JsonObject | undefined,
): ToolOutcome {
  const failed = block.is_error === true;
  const denied = decision?.decision === 'reject' || decision?.decision === 'deny';
  const parts = partsIn(block.content);
  const hasPicture = parts.some((part) => 'inlineData' in part);
  const { changes, locations, extra } = toldOf(told);
  return {
    text: parts.map((part) => ('text' in part ? part.text : '[picture]')).join('\n'),
    failed,
    ...(denied ? { outcome: 'denied' as const } : {}),
    ...(hasPicture ? { parts } : {}),
    ...(changes === undefined ? {} : { changes }),
    ...(locations === undefined ? {} : { locations }),
    ...(extra === undefined ? {} : { extra }),
  };
}

/** The steps of a todo list, which replaces the one before. */
export function todoEntries(input: JsonObject): readonly PlanEntry[] | undefined {
  if (!Array.isArray(input.todos)) return undefined;
  return input.todos.flatMap((todo: Json) => {
    const content = textAt(todo, 'content') ?? textAt(todo, 'activeForm');
    return content === undefined ? [] : [{ content, status: planStatus(memberOf(todo, 'status')) }];
  });
}

export function planStatus(status: Json | undefined): PlanEntry['status'] {
  return status === 'completed' || status === 'in_progress' ? status : 'pending';
}

/** Longer fields of what a tool tells are in its words already. */
const toldCharactersMax = 2_000;
/** Said by the patch, or in the words of the result. */
const toldElsewhere = new Set([
  'structuredPatch',
  'originalFile',
  'oldString',
  'newString',
  'content',
  'stdout',
  'file',
]);

function toldOf(told: Json | undefined): Pick<ToolOutcome, 'changes' | 'locations' | 'extra'> {
  if (!isJsonObject(told)) return {};
  const path = textAt(told, 'filePath') ?? textAt(told.file, 'filePath');
  const hunks = Array.isArray(told.structuredPatch) ? told.structuredPatch.filter(isHunk) : [];
  const isNew = told.type === 'create' || (told.originalFile === null && textAt(told, 'content') !== undefined);
  const created = isNew && path !== undefined ? [changeOf(path, undefined, textAt(told, 'content') ?? '')] : [];
  const changes = path !== undefined && hunks.length > 0 ? [changeOfHunks(path, 'edit', hunks)] : created;
  const line = memberOf(told.file, 'startLine');
  const kept = Object.entries(told).filter(
    ([key, value]) => !toldElsewhere.has(key) && JSON.stringify(value).length <= toldCharactersMax,
  );
  return {
    ...(changes.length === 0 ? {} : { changes }),
    ...(path === undefined ? {} : { locations: [{ path, ...(typeof line === 'number' ? { line } : {}) }] }),
    ...(kept.length === 0 ? {} : { extra: { ...Object.fromEntries(kept), ...linesOf(told.file) } }),
  };
}

function linesOf(file: Json | undefined): JsonObject {
  const { startLine, numLines, totalLines } = isJsonObject(file) ? file : {};
  return startLine === undefined ? {} : { startLine, numLines: numLines ?? null, totalLines: totalLines ?? null };
}

function isHunk(value: Json): value is Json & Hunk {
  return (
    ['oldStart', 'oldLines', 'newStart', 'newLines'].every((key) => typeof memberOf(value, key) === 'number') &&
    Array.isArray(memberOf(value, 'lines'))
  );
}

function partsIn(content: Json | undefined): readonly Part[] {
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ text: content }];
  return (Array.isArray(content) ? content : [content]).map(partOf);
}

function partOf(part: Json): Part {
  const text = textAt(part, 'text');
  if (text !== undefined) return { text };
  const source = memberOf(part, 'source');
  const data = textAt(source, 'data');
  if (data !== undefined) return { inlineData: { mimeType: textAt(source, 'media_type') ?? 'image/png', data } };
  return { text: isJsonObject(part) ? `[${textAt(part, 'type') ?? 'content'}]` : shortened(JSON.stringify(part)) };
}

function textAt(value: Json | undefined, key: string): string | undefined {
  const found = memberOf(value, key);
  return typeof found === 'string' ? found : undefined;
}
