import type { Json, JsonObject } from '@concerto/base';
import { type Chosen, type ClaudeQuestion, chosenOption, describeTool, type RequestOption } from '@concerto/protocol';
import { type DriverMessage, type Said, said } from '../driver-output.ts';
import { wireChange } from '../file-change.ts';
import { memberOf } from '../json-member.ts';
import { kindOfTool } from '../tool-kind.ts';
import type { ClaudeRequest } from './claude-request.ts';
import { claudeTouches } from './claude-tools.ts';

type Answered = { readonly value: Json } | { readonly error: Json };

type Open =
  | {
      readonly kind: 'tool';
      readonly requestId: string;
      readonly input: JsonObject;
      readonly options: readonly RequestOption[];
      readonly suggestions: readonly JsonObject[];
    }
  | {
      readonly kind: 'question';
      readonly requestId: string;
      readonly input: JsonObject;
      readonly questions: readonly ClaudeQuestion[];
      readonly answers: Readonly<Record<string, string>>;
    };

/** What an answer of ours leads to: the program's own request is served, or there is one more question to ask. */
export type ClaudeStep =
  | { readonly kind: 'respond'; readonly requestId: string; readonly decision: JsonObject }
  | { readonly kind: 'ask'; readonly output: Said };

/** The permissions and questions that the program waits for, by the id under which we asked. */
export class ClaudeRequests {
  readonly #folder: string;
  readonly #open = new Map<string, Open>();

  /** `folder` is where the program works. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  ask(requestId: string, request: Extract<ClaudeRequest, { kind: 'tool' | 'questions' }>): Said {
    if (request.kind === 'questions') {
      const { input, questions } = request;
      return this.#next({ kind: 'question', requestId, input, questions, answers: {} });
    }
    const { tool, input, callId, suggestions, extra } = request;
    const options = optionsOf(tool, suggestions);
    this.#open.set(requestId, { kind: 'tool', requestId, input, options, suggestions });
    const { locations, changes } = claudeTouches(tool, input, this.#folder);
    const [, server, ofServer] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
    const name = server === undefined ? tool : `${server}.${ofServer}`;
    return said({
      type: 'approval',
      id: requestId,
      description: describeTool(name, input),
      tool: name,
      kind: kindOfTool(tool),
      input,
      ...(typeof input.command === 'string' ? { command: input.command } : {}),
      ...(locations === undefined ? {} : { paths: locations.map(({ path }) => path) }),
      ...(changes === undefined ? {} : { changes: changes.map(wireChange) }),
      ...(server === undefined ? {} : { server }),
      ...(callId === undefined ? {} : { call: callId }),
      ...extra,
      options: options.map((option) => ({ ...option })),
    });
  }

  /** Undefined when nothing waits for it. Without an id it is for what was asked first. */
  answer(id: string | number | undefined, answered: Answered): ClaudeStep | undefined {
    const key = id === undefined ? this.#open.keys().next().value : String(id);
    const open = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || open === undefined) return undefined;
    this.#open.delete(key);
    const { requestId, input } = open;
    if ('error' in answered) {
      const message = `Nobody decided about this: ${textOf(answered.error)}`;
      return { kind: 'respond', requestId, decision: { behavior: 'deny', message } };
    }
    if (open.kind === 'tool') {
      return { kind: 'respond', requestId, decision: permission(open, chosenOption(answered.value, open.options)) };
    }
    const [current, ...questions] = open.questions;
    const answers = {
      ...open.answers,
      ...(current === undefined ? {} : { [current.question]: textOf(answered.value) }),
    };
    if (questions.length > 0) return { kind: 'ask', output: this.#next({ ...open, questions, answers }) };
    return { kind: 'respond', requestId, decision: { behavior: 'allow', updatedInput: { ...input, answers } } };
  }

  /** The program waits no more; gives the id under which we asked. */
  withdraw(requestId: string): string | undefined {
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

  /** One question at a time, as a person would be asked. */
  #next(open: Extract<Open, { kind: 'question' }>): Said {
    const asked = Object.keys(open.answers).length;
    const id = asked === 0 ? open.requestId : `${open.requestId}.${asked}`;
    this.#open.set(id, open);
    return said(questionMessage(id, open.questions[0]));
  }
}

function permission(
  { input, suggestions }: Extract<Open, { kind: 'tool' }>,
  { isApproved, reason, option }: Chosen,
): JsonObject {
  if (isApproved) {
    const always = option?.kind === 'allow_always' ? { updatedPermissions: [...suggestions] } : {};
    return { behavior: 'allow', updatedInput: input, ...always };
  }
  const message =
    reason === undefined
      ? 'The supervisor refused this. Go on without it, or ask what to do instead.'
      : `The supervisor refused this: ${reason}`;
  return { behavior: 'deny', message };
}

function optionsOf(tool: string, suggestions: readonly JsonObject[]): readonly RequestOption[] {
  return [
    { id: 'allow', label: 'Allow', kind: 'allow_once' },
    ...(suggestions.length === 0
      ? []
      : [{ id: 'always', label: alwaysLabel(tool, suggestions), kind: 'allow_always' } as const]),
    { id: 'deny', label: 'Deny', kind: 'reject_once' },
  ];
}

/** What the program proposes to allow from now on, in words. */
function alwaysLabel(tool: string, suggestions: readonly JsonObject[]): string {
  const allowed = suggestions.flatMap(({ type, rules, mode, directories }) => {
    if (type === 'setMode' && typeof mode === 'string') return [`everything that the mode ${mode} allows`];
    if (Array.isArray(directories)) return directories.map((directory: Json) => `access to ${textOf(directory)}`);
    if (!Array.isArray(rules)) return [];
    return rules.map((rule: Json) => {
      const content = memberOf(rule, 'ruleContent');
      return typeof content === 'string' ? `${tool}(${content})` : tool;
    });
  });
  return `Always allow ${allowed.length === 0 ? tool : allowed.join(' and ')}`;
}

function questionMessage(id: string, question: ClaudeQuestion | undefined): DriverMessage {
  const { question: text = '', header, options = [], multiSelect } = question ?? {};
  const lines = [
    ...(header === undefined ? [] : [header]),
    ...options.flatMap(({ label, description = '' }) => (description === '' ? [] : [`${label}: ${description}`])),
  ];
  return {
    type: 'question',
    id,
    question: text,
    ...(options.length === 0 ? {} : { options: options.map(({ label }) => label) }),
    ...(multiSelect === true ? { multiple: true } : {}),
    ...(lines.length === 0 ? {} : { context: lines.join('\n') }),
  };
}

/** The program takes one text for each question; several choices are joined. */
function textOf(answer: Json): string {
  if (typeof answer === 'string') return answer;
  if (Array.isArray(answer)) return answer.map(textOf).join(', ');
  return JSON.stringify(answer);
}
