import type { Json, JsonObject } from '@concerto/base';
import type { Risk, SuspendEvent, TriedRequest } from '@concerto/protocol';
import { pathsOfChanges, textOf } from '@concerto/protocol';
import { type CommandLine, readCommand } from './shell-command.ts';

/** What is asked, as every driver says it; no vendor's field is read by a rule. */
export type RuleRequest = {
  readonly ask: 'approval' | 'question' | 'budget';
  readonly tool?: string | undefined;
  /** The MCP server whose tool it is. */
  readonly server?: string | undefined;
  readonly kind?: string | undefined;
  readonly command?: { readonly text: string; readonly line: CommandLine } | undefined;
  readonly paths: readonly string[];
  /** What it would reach over the network, where that is said. */
  readonly hosts?: readonly string[] | undefined;
  /** Where each path leads when links are followed; undefined when nobody looked. */
  readonly resolved?: readonly string[] | undefined;
  /** The folder to which paths are relative. */
  readonly folder?: string | undefined;
  /** What the agent says itself. */
  readonly claimed?: Risk | undefined;
  readonly text?: string | undefined;
  readonly agent: string;
  readonly template?: string | undefined;
};

/** Where it is asked, which the event itself does not say. */
export type Asking = {
  readonly agent: string;
  readonly template?: string | undefined;
  readonly folder?: string | undefined;
  readonly resolved?: readonly string[] | undefined;
};

/** What an agent waits for, as rules see it. */
export function requestOf(event: SuspendEvent, asking: Asking): RuleRequest {
  switch (event.type) {
    case 'queryConsent': {
      if (event.consentType === 'budget') return { ask: 'budget', kind: 'budget', paths: [], ...asking };
      const locations = (event.locations ?? []).map(({ path }) => path);
      return ofFields(event.scope, [...locations, ...pathsOfChanges(event.changes ?? [])], asking);
    }
    case 'waitForInput':
    case 'waitForChoice':
      return { ask: 'question', text: textOf(event.prompt), paths: [], ...asking };
    case 'applyEdits':
      return { ask: 'question', text: event.label, paths: [], ...asking };
    case 'readGraph':
    case 'inspectNode':
      return { ask: 'question', paths: [], ...asking };
  }
}

/** An approval as an agent words it, before it is an event. */
export function approvalRequest(fields: JsonObject, asking: Asking): RuleRequest {
  const changes = (Array.isArray(fields.changes) ? fields.changes : []).flatMap((change: Json) => {
    if (!isObject(change) || typeof change.path !== 'string') return [];
    const movedTo = textIn(change.moved_to);
    return [{ path: change.path, patch: textIn(change.patch) ?? '', ...(movedTo === undefined ? {} : { movedTo }) }];
  });
  return ofFields(fields, pathsOfChanges(changes), asking);
}

/** A request that somebody wrote down to see what rules make of it. */
export function triedRequest(tried: TriedRequest, asking: Pick<Asking, 'agent'>): RuleRequest {
  const { folder, resolved, template, scope, ...fields } = tried;
  const where = { ...asking, folder, resolved, template };
  if (isQuestion(tried)) return { ask: 'question', text: tried.question ?? tried.text, paths: [], ...where };
  if (tried.kind === 'budget') return { ask: 'budget', kind: 'budget', paths: [], ...where };
  const text: JsonObject = tried.text === undefined ? {} : { description: tried.text };
  const said: JsonObject = { ...scope, ...text, ...asJson(fields) };
  return ofFields({ risk_level: tried.risk ?? null, ...said }, [], where);
}

/** It says so, or says nothing that only an approval has. */
function isQuestion({ question, type, text, ...others }: TriedRequest): boolean {
  if (question !== undefined || type === 'question') return true;
  const { folder: _, template: __, ...named } = others;
  return text !== undefined && type === undefined && Object.keys(named).length === 0;
}

function asJson(fields: Record<string, unknown>): JsonObject {
  const known: Record<string, Json> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'string') known[key] = value;
    else if (Array.isArray(value)) known[key] = value.filter((item) => typeof item === 'string');
  }
  return known;
}

function ofFields(scope: JsonObject, locations: readonly string[], asking: Asking): RuleRequest {
  const named = nameOf(scope);
  const command = commandOf(scope);
  const said = strings(scope.paths);
  const description = textIn(scope.description);
  const hosts = hostsOf(scope);
  return {
    ask: 'approval',
    ...named,
    ...(textIn(scope.kind) === undefined ? {} : { kind: textIn(scope.kind) }),
    ...(command === undefined ? {} : { command }),
    paths: [...new Set([...said, ...locations])],
    ...(hosts.length === 0 ? {} : { hosts }),
    ...(riskIn(scope.risk_level) === undefined ? {} : { claimed: riskIn(scope.risk_level) }),
    ...(description === undefined ? {} : { text: description }),
    ...asking,
  };
}

/** A server's tool is `SERVER.TOOL`, or `mcp__SERVER__TOOL` as some agents name it. */
function nameOf(scope: JsonObject): Pick<RuleRequest, 'tool' | 'server'> {
  const tool = textIn(scope.tool);
  const said = textIn(scope.server);
  const composed = tool === undefined ? null : /^mcp__(.+?)__(.+)$/.exec(tool);
  const server = said ?? composed?.[1];
  if (tool === undefined) return server === undefined ? {} : { server };
  if (server === undefined) return { tool };
  return { tool: composed?.[2] ?? (tool.startsWith(`${server}.`) ? tool.slice(server.length + 1) : tool), server };
}

function commandOf(scope: JsonObject): RuleRequest['command'] {
  const { command } = scope;
  if (typeof command === 'string' && command !== '') return { text: command, line: readCommand(command) };
  const words = strings(command);
  return words.length === 0 ? undefined : { text: words.join(' '), line: readCommand(words) };
}

/** Of a page that is asked for, or of a host that a command wants to reach. An address that cannot be read is kept whole. */
function hostsOf(scope: JsonObject): readonly string[] {
  const input = isObject(scope.input) ? scope.input : {};
  const network = isObject(input.network) ? input.network : {};
  const urls = [scope.url, input.url].flatMap((url) => textIn(url) ?? []);
  return [...urls.map((url) => hostIn(url) ?? url), ...[network.host].flatMap((host) => textIn(host) ?? [])];
}

/** `user@` before a host is none of it. */
function hostIn(url: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]+)/i.exec(url.trim())?.[1];
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function strings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** An unknown word is taken as the worst: it was said for a reason. */
function riskIn(value: Json | undefined): Risk | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const word = value.toLowerCase();
  return word === 'low' || word === 'medium' ? word : 'high';
}
