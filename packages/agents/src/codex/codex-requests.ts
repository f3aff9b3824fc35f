import { canonicalJson, type Json, type JsonObject } from '@concerto/base';
import { type CodexParams, type Decision, type JsonRpcId, readDecision } from '@concerto/protocol';
import { FormRequest } from '@concerto/protocol/acp';
import type { CodexElicitation, CodexQuestion, CodexRequest, Item } from '@concerto/protocol/codex';
import { type FormQuestion, formAttemptsMax, formQuestions } from '../acp/acp-form.ts';
import { type DriverMessage, log, type Said, said } from '../driver-output.ts';
import { ruleOfTool, serverToolNames } from '../tool-rule.ts';
import { commandOf, describeItem } from './codex-items.ts';
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
  | { readonly kind: 'say'; readonly output: Said };

/** Something that waits for an answer of ours; asked again, or next, by what `answer` gives. */
type Open = { readonly requestId: JsonRpcId; readonly answer: (answered: Answered) => CodexStep };

type Approval = {
  readonly requestId: JsonRpcId;
  readonly description: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly risk: 'low' | 'medium' | 'high';
  readonly accepted: JsonObject;
  readonly declined: JsonObject;
};

/** The approvals and questions that the program waits for, by the id under which we asked. */
export class CodexRequests {
  readonly #params: CodexParams;
  readonly #open = new Map<string, Open>();

  constructor(params: CodexParams) {
    this.#params = params;
  }

  /** `work` is what has begun and not ended: an approval only names it. */
  serve(requestId: JsonRpcId, request: CodexRequest, work: readonly Item[]): readonly CodexStep[] {
    switch (request.method) {
      case 'item/commandExecution/requestApproval': {
        const { command, cwd, reason, networkApprovalContext: network } = request.params;
        const item = { command, commandActions: request.params.commandActions };
        const input = {
          command: commandOf(item),
          ...(cwd == null ? {} : { cwd }),
          ...(reason == null ? {} : { reason }),
          ...(network == null ? {} : { network }),
        };
        const what = network == null ? commandOf(item) : `network access for ${commandOf(item)}`;
        const approval = {
          requestId,
          description: `shell: ${what}`,
          tool: 'shell',
          input,
          risk: 'high',
          ...decisions,
        } as const;
        return this.#approve(approval, shellNames);
      }
      case 'item/fileChange/requestApproval': {
        const { itemId, reason, grantRoot } = request.params;
        const item = work.find(({ id }) => id === itemId);
        const changes = (item?.changes ?? []).map(({ path, diff }) => ({
          path,
          ...(typeof diff === 'string' ? { diff } : {}),
        }));
        const input = {
          changes,
          ...(reason == null ? {} : { reason }),
          ...(grantRoot == null ? {} : { grant_root: grantRoot }),
        };
        const description = item === undefined ? 'apply_patch' : describeItem(item);
        return this.#approve(
          { requestId, description, tool: 'apply_patch', input, risk: 'medium', ...decisions },
          patchNames,
        );
      }
      case 'item/permissions/requestApproval': {
        const { permissions, reason } = request.params;
        const description = `more permissions${reason == null ? '' : `: ${reason}`}`;
        const accepted = { permissions, scope: 'turn' };
        const declined = { permissions: {}, scope: 'turn' };
        return this.#approve({
          requestId,
          description,
          tool: 'permissions',
          input: permissions,
          risk: 'high',
          accepted,
          declined,
        });
      }
      case 'item/tool/requestUserInput':
        return [this.#askNext(requestId, request.params.questions, {})];
      case 'mcpServer/elicitation/request':
        return this.#elicit(requestId, request.params, work);
    }
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
    const { requestId, description, tool, input, risk, declined } = approval;
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
    return [{ kind: 'say', output: said({ type: 'approval', id, description, risk_level: risk, tool, input }) }];
  }

  /** A tool of a server is asked for by an elicitation without a form. */
  #elicit(requestId: JsonRpcId, request: CodexElicitation, work: readonly Item[]): readonly CodexStep[] {
    const { serverName: server, message, url, _meta: meta } = request;
    const results = { accepted: { action: 'accept', content: null }, declined: { action: 'decline', content: null } };
    if (meta?.codex_approval_kind === 'mcp_tool_call') {
      const input = meta.tool_params ?? {};
      const tool = calledTool(work, server, input);
      const names = tool === undefined ? [] : serverToolNames(server, tool);
      const { tools } = this.#params;
      // They were asked for only so that the rules can answer.
      if (tools !== undefined && tool !== undefined && ruleOfTool(tools, names) === undefined) {
        return [{ kind: 'respond', requestId, result: results.accepted }];
      }
      const description = tool === undefined ? message : `${server}.${tool}: ${JSON.stringify(input)}`;
      return this.#approve(
        { requestId, description, tool: names[0] ?? server, input, risk: 'high', ...results },
        names,
      );
    }
    const form = FormRequest.safeParse({ message, requestedSchema: request.requestedSchema });
    const questions = form.success ? formQuestions(form.data) : [];
    if (questions.length > 0) return [this.#askForm(requestId, questions, { content: {}, attempt: 1 })];
    const input = url == null ? {} : { url };
    const description = `${server}: ${message}${url == null ? '' : ` ${url}`}`;
    return this.#approve({ requestId, description, tool: server, input, risk: 'medium', ...results });
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
    { content, attempt }: { readonly content: JsonObject; readonly attempt: number },
  ): CodexStep {
    const [current, ...rest] = questions;
    if (current === undefined) return { kind: 'respond', requestId, result: { action: 'accept', content } };
    const id = `${requestId}.${current.key}.${attempt}`;
    const answer = (answered: Answered): CodexStep => {
      const read = 'error' in answered ? undefined : current.read(answered.value);
      if (read === undefined) return { kind: 'respond', requestId, result: { action: 'cancel', content: null } };
      if (read.ok) return this.#askForm(requestId, rest, { content: { ...content, ...read.value }, attempt: 1 });
      if (attempt < formAttemptsMax) return this.#askForm(requestId, questions, { content, attempt: attempt + 1 });
      return { kind: 'respond', requestId, result: { action: 'decline', content: null } };
    };
    this.#open.set(id, { requestId, answer });
    const { question, options, context } = current;
    return {
      kind: 'say',
      output: said({
        type: 'question',
        id,
        question,
        ...(options === undefined ? {} : { options: [...options] }),
        ...(context === undefined ? {} : { context }),
      }),
    };
  }
}

const decisions = { accepted: { decision: 'accept' }, declined: { decision: 'decline' } };

function decided({ requestId, accepted, declined }: Approval, answered: Answered): CodexStep {
  const decision: Decision = 'error' in answered ? { isApproved: false } : readDecision(answered.value);
  if (decision.isApproved) return { kind: 'respond', requestId, result: accepted };
  const { reason } = decision;
  return { kind: 'respond', requestId, result: declined, ...(reason === undefined ? {} : { reason }) };
}

/** The request does not name the tool, but the call has begun. */
function calledTool(work: readonly Item[], server: string, input: JsonObject): string | undefined {
  const calls = work.filter((item) => item.type === 'mcpToolCall' && item.server === server);
  const same = calls.find((item) => canonicalJson(item.arguments ?? {}) === canonicalJson(input));
  return (same ?? (calls.length === 1 ? calls[0] : undefined))?.tool ?? undefined;
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
