import { canonicalJson, type Json, type JsonObject } from '@concerto/base';
import {
  type CodexParams,
  chosenOption,
  type JsonRpcId,
  pathsOfChanges,
  type RequestOption,
  type ToolKind,
} from '@concerto/protocol';
import { FormRequest } from '@concerto/protocol/acp';
import type { CodexElicitation, CodexQuestion, CodexRequest, Item } from '@concerto/protocol/codex';
import { type FormQuestion, formAttemptsMax, formQuestions } from '../acp/acp-form.ts';
import { type DriverMessage, log, type Said, said } from '../driver-output.ts';
import { wireChange } from '../file-change.ts';
import { memberOf } from '../json-member.ts';
import { ruleOfTool, serverToolNames } from '../tool-rule.ts';
import { changesOf, commandOf, describeItem } from './codex-items.ts';
import { patchNames, shellNames } from './codex-params.ts';

type Answered = { readonly value: Json } | { readonly error: Json };

/** What an answer leads to: the program's request is served, or there is one more question to ask. */
export type CodexStep =
  | {
      readonly kind: 'respond';
      readonly requestId: JsonRpcId;
      readonly result: JsonObject;
      /** What the program's own refusal has no room for. */
      readonly reason?: string;
    }
  | { readonly kind: 'say'; readonly output: Said }
  /** An answer that nobody waits for is told as a message. */
  | { readonly kind: 'tell'; readonly text: string };

/** Something that waits for an answer of ours; asked again, or next, by what `answer` gives. */
type Open = { readonly requestId: JsonRpcId | undefined; readonly answer: (answered: Answered) => CodexStep };

type Approval = {
  readonly requestId: JsonRpcId;
  readonly description: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly accepted: JsonObject;
  readonly declined: JsonObject;
  /** The call that it is about, and what rules and people read of it. */
  readonly about: JsonObject & { readonly kind: ToolKind };
  /** Other answers that the program takes, each with what it is told then. */
  readonly who?: JsonObject;
  readonly others?: readonly (RequestOption & { readonly result: JsonObject })[];
};

type Setting = {
  /** What has begun and not ended: an approval only names it. */
  readonly work: readonly Item[];
  /** The sub-agent that asks. */
  readonly agent: string | undefined;
};

/** The calls that a request is about, by their ids. */
export function itemsAsked(request: CodexRequest, work: readonly Item[]): readonly string[] {
  if (request.method === 'item/tool/requestUserInput') return [];
  if (request.method !== 'mcpServer/elicitation/request') return [request.params.itemId];
  const { serverName, _meta: meta } = request.params;
  const call = calledItem(work, serverName, meta?.tool_params ?? {});
  return call === undefined ? [] : [call.id];
}

/** The approvals and questions that the program waits for, by the id under which we asked. */
export class CodexRequests {
  readonly #params: CodexParams;
  readonly #open = new Map<string, Open>();

  constructor(params: CodexParams) {
    this.#params = params;
  }

  serve(requestId: JsonRpcId, request: CodexRequest, setting: Setting): readonly CodexStep[] {
    const who = setting.agent === undefined ? {} : { agent: setting.agent };
    switch (request.method) {
      case 'item/commandExecution/requestApproval':
        return this.#approve({ ...commandApproval(requestId, request.params), who }, shellNames);
      case 'item/fileChange/requestApproval': {
        const item = setting.work.find(({ id }) => id === request.params.itemId);
        return this.#approve({ ...patchApproval(requestId, request.params, item), who }, patchNames);
      }
      case 'item/permissions/requestApproval': {
        const { permissions, reason, itemId } = request.params;
        return this.#approve({
          requestId,
          description: `more permissions${reason == null ? '' : `: ${reason}`}`,
          tool: 'permissions',
          input: permissions,
          accepted: { permissions, scope: 'turn' },
          declined: { permissions: {}, scope: 'turn' },
          about: { kind: 'other', call: itemId },
          who,
        });
      }
      case 'item/tool/requestUserInput':
        return [this.#askNext(requestId, request.params.questions, {})];
      case 'mcpServer/elicitation/request':
        return this.#elicit(requestId, request.params, setting.work, who);
    }
  }

  /** Questions that the program does not wait for: it works on, and hears the answer as a message. */
  askAside({ id, questions }: Item): readonly Said[] {
    return (questions ?? []).map(({ title, options }, index) => {
      const key = `${id}.${index + 1}`;
      const answer = (answered: Answered): CodexStep => ({
        kind: 'tell',
        text: 'error' in answered ? `Nobody answered: ${title}` : `${title}: ${textsOf(answered.value).join(', ')}`,
      });
      this.#open.set(key, { requestId: undefined, answer });
      return said({
        type: 'question',
        id: key,
        question: title,
        ...(options == null || options.length === 0 ? {} : { options }),
      });
    });
  }

  /** Undefined when nothing waits for it. Without an id it is for what was asked first. */
  answer(id: string | number | undefined, answered: Answered): CodexStep | undefined {
    const key = id === undefined ? this.#open.keys().next().value : String(id);
    const open = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || open === undefined) return undefined;
    this.#open.delete(key);
    return open.answer(answered);
  }

  /** The program waits no more; gives the id under which we asked. */
  withdraw(requestId: JsonRpcId): string | undefined {
    for (const [id, open] of this.#open) {
      if (open.requestId !== requestId) continue;
      this.#open.delete(id);
      return id;
    }
    return undefined;
  }

  clear(): void {
    this.#open.clear();
  }

  /** The session's rules first; what they leave open a person decides. */
  #approve(approval: Approval, names: readonly string[] = []): readonly CodexStep[] {
    const { requestId, description, tool, input, declined } = approval;
    if (names.length > 0 && ruleOfTool(this.#params.tools, names) === 'deny') {
      const output = log('warn', `the session's rules do not allow it: ${description}`);
      const reason = `the session's rules do not allow ${names[0] ?? tool}`;
      return [
        { kind: 'say', output },
        { kind: 'respond', requestId, result: declined, reason },
      ];
    }
    const id = String(requestId);
    this.#open.set(id, { requestId, answer: (answered) => decided(approval, answered) });
    const options = optionsOf(approval).map(({ id: option, label, kind }) => ({ id: option, label, kind }));
    const { about, who = {} } = approval;
    const message = { type: 'approval', id, description, tool, input, ...about, ...who } as const;
    return [{ kind: 'say', output: said({ ...message, options }) }];
  }

  /** A tool of a server is asked for by an elicitation without a form. */
  #elicit(
    requestId: JsonRpcId,
    request: CodexElicitation,
    work: readonly Item[],
    who: JsonObject,
  ): readonly CodexStep[] {
    const { serverName: server, message, url, _meta: meta } = request;
    const results = { accepted: { action: 'accept', content: null }, declined: { action: 'decline', content: null } };
    if (meta?.codex_approval_kind === 'mcp_tool_call') {
      const input = meta.tool_params ?? {};
      const call = calledItem(work, server, input);
      const tool = call?.tool ?? undefined;
      const names = tool === undefined ? [] : serverToolNames(server, tool);
      const { tools } = this.#params;
      // They were asked for only so that the rules can answer.
      if (tools !== undefined && tool !== undefined && ruleOfTool(tools, names) === undefined) {
        return [{ kind: 'respond', requestId, result: results.accepted }];
      }
      const description = tool === undefined ? message : `${server}.${tool}: ${JSON.stringify(input)}`;
      const about = { kind: 'other', server, ...(call === undefined ? {} : { call: call.id }) } as const;
      return this.#approve({ requestId, description, tool: names[0] ?? server, input, ...results, about, who }, names);
    }
    const form = FormRequest.safeParse({ message, requestedSchema: request.requestedSchema });
    const questions = form.success ? formQuestions(form.data) : [];
    if (questions.length > 0) return [this.#askForm(requestId, questions, { content: {}, attempt: 1 })];
    const input = url == null ? {} : { url };
    const description = `${server}: ${message}${url == null ? '' : ` ${url}`}`;
    const about = { kind: 'other', server } as const;
    return this.#approve({ requestId, description, tool: server, input, ...results, about, who });
  }

  /** One question at a time, as a person would be asked. */
  #askNext(requestId: JsonRpcId, questions: readonly CodexQuestion[], answers: JsonObject): CodexStep {
    const [current, ...rest] = questions;
    if (current === undefined) return { kind: 'respond', requestId, result: { answers } };
    const id = idOf(requestId, Object.keys(answers).length);
    const answer = (answered: Answered): CodexStep => {
      // Nobody answers: it goes on with what it has.
      if ('error' in answered) return { kind: 'respond', requestId, result: { answers } };
      return this.#askNext(requestId, rest, { ...answers, [current.id]: { answers: textsOf(answered.value) } });
    };
    this.#open.set(id, { requestId, answer });
    return { kind: 'say', output: said(questionMessage(id, current)) };
  }

  #askForm(
    requestId: JsonRpcId,
    questions: readonly FormQuestion[],
    { content, attempt, hint }: { readonly content: JsonObject; readonly attempt: number; readonly hint?: string },
  ): CodexStep {
    const [current, ...rest] = questions;
    if (current === undefined) return { kind: 'respond', requestId, result: { action: 'accept', content } };
    const id = `${requestId}.${current.key}.${attempt}`;
    const answer = (answered: Answered): CodexStep => {
      const read = 'error' in answered ? undefined : current.read(answered.value);
      if (read === undefined) return { kind: 'respond', requestId, result: { action: 'cancel', content: null } };
      if (read.ok) return this.#askForm(requestId, rest, { content: { ...content, ...read.value }, attempt: 1 });
      if (attempt < formAttemptsMax) {
        const again = `Please answer with ${read.error}.`;
        return this.#askForm(requestId, questions, { content, attempt: attempt + 1, hint: again });
      }
      return { kind: 'respond', requestId, result: { action: 'decline', content: null } };
    };
    this.#open.set(id, { requestId, answer });
    const { question, options, multiple } = current;
    const lines = [current.context, hint].filter((line) => line !== undefined);
    return {
      kind: 'say',
      output: said({
        type: 'question',
        id,
        question,
        ...(options === undefined ? {} : { options: [...options] }),
        ...(multiple ? { multiple } : {}),
        ...(lines.length === 0 ? {} : { context: lines.join('\n') }),
      }),
    };
  }
}

const decisions = { accepted: { decision: 'accept' }, declined: { decision: 'decline' } };

type CommandParams = Extract<CodexRequest, { method: 'item/commandExecution/requestApproval' }>['params'];
type PatchParams = Extract<CodexRequest, { method: 'item/fileChange/requestApproval' }>['params'];

function commandApproval(requestId: JsonRpcId, params: CommandParams): Approval {
  const { cwd, reason, networkApprovalContext: network, itemId } = params;
  const command = commandOf(params);
  const what = network == null ? command : `network access for ${command}`;
  return {
    requestId,
    description: `shell: ${what}`,
    tool: 'shell',
    input: {
      command,
      ...(cwd == null ? {} : { cwd }),
      ...(reason == null ? {} : { reason }),
      ...(network == null ? {} : { network }),
    },
    ...decisions,
    about: { kind: network == null ? 'execute' : 'fetch', call: itemId, command },
    others: otherDecisions(params.availableDecisions ?? [], command),
  };
}

function patchApproval(requestId: JsonRpcId, params: PatchParams, item: Item | undefined): Approval {
  const { itemId, reason, grantRoot } = params;
  const changes = changesOf(item?.changes ?? []);
  const paths = [...pathsOfChanges(changes)];
  return {
    requestId,
    description: item === undefined ? 'apply_patch' : describeItem(item),
    tool: 'apply_patch',
    input: {
      paths,
      ...(reason == null ? {} : { reason }),
      ...(grantRoot == null ? {} : { grant_root: grantRoot }),
    },
    ...decisions,
    about: {
      kind: 'edit',
      call: itemId,
      paths,
      changes: changes.map((change) => ({ ...wireChange(change) })),
    },
    others: otherDecisions(params.availableDecisions ?? ['acceptForSession'], 'these files'),
  };
}

/** What else the program would take for an answer than a yes or a no. */
function otherDecisions(
  available: readonly Json[],
  what: string,
): readonly (RequestOption & { readonly result: JsonObject })[] {
  return available.flatMap((decision): (RequestOption & { readonly result: JsonObject })[] => {
    const result = { decision };
    if (decision === 'acceptForSession') {
      return [{ id: 'session', label: 'Allow for this session', kind: 'allow_always', result }];
    }
    if (memberOf(decision, 'acceptWithExecpolicyAmendment') !== undefined) {
      return [{ id: 'always', label: `Always allow ${what}`, kind: 'allow_always', result }];
    }
    if (memberOf(decision, 'applyNetworkPolicyAmendment') !== undefined) {
      return [{ id: 'always', label: 'Always allow this host', kind: 'allow_always', result }];
    }
    return decision === 'cancel' ? [{ id: 'stop', label: 'Deny and stop', kind: 'reject_once', result }] : [];
  });
}

function optionsOf({ accepted, declined, others = [] }: Approval) {
  return [
    { id: 'allow', label: 'Allow', kind: 'allow_once', result: accepted } as const,
    ...others.filter(({ kind }) => kind.startsWith('allow')),
    { id: 'deny', label: 'Deny', kind: 'reject_once', result: declined } as const,
    ...others.filter(({ kind }) => kind.startsWith('reject')),
  ];
}

function decided(approval: Approval, answered: Answered): CodexStep {
  const { requestId, accepted, declined } = approval;
  if ('error' in answered) return { kind: 'respond', requestId, result: declined };
  const options = optionsOf(approval);
  const { option, isApproved, reason } = chosenOption(answered.value, options);
  const chosen = options.find(({ id }) => id === option?.id)?.result ?? (isApproved ? accepted : declined);
  return {
    kind: 'respond',
    requestId,
    result: chosen,
    ...(isApproved || reason === undefined ? {} : { reason }),
  };
}

/** The request does not name the tool, but the call has begun. */
function calledItem(work: readonly Item[], server: string, input: JsonObject): Item | undefined {
  const calls = work.filter((item) => item.type === 'mcpToolCall' && item.server === server);
  const same = calls.find((item) => canonicalJson(item.arguments ?? {}) === canonicalJson(input));
  return same ?? (calls.length === 1 ? calls[0] : undefined);
}

function idOf(requestId: JsonRpcId, asked: number): string {
  return asked === 0 ? String(requestId) : `${requestId}.${asked}`;
}

function questionMessage(id: string, { question, header, options }: CodexQuestion): DriverMessage {
  const lines = [
    ...(header == null || header === '' ? [] : [header]),
    ...(options ?? []).flatMap(({ label, description }) => (description ? [`${label}: ${description}`] : [])),
  ];
  return {
    type: 'question',
    id,
    question,
    ...(options == null || options.length === 0 ? {} : { options: options.map(({ label }) => label) }),
    ...(lines.length === 0 ? {} : { context: lines.join('\n') }),
  };
}

function textsOf(answer: Json): string[] {
  if (typeof answer === 'string') return [answer];
  if (Array.isArray(answer)) return answer.flatMap(textsOf);
  return [JSON.stringify(answer)];
}
