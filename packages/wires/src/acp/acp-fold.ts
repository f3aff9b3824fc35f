import { unreachable } from '@concerto/base';
import {
  type AgentDetails,
  type CallOutcome,
  type FileChange,
  type FoldedEvent,
  fileOf,
  type Part,
  type RequestOption,
  type SuspendEvent,
  textOf,
  wordsOf,
} from '@concerto/protocol';
import { plainOr } from '../files.ts';
import { Narration } from '../narration.ts';
import { detailsOf, questionOf } from '../requests.ts';
import { type Call, resultText, type Told } from '../told.ts';

/** The `update` of a `session/update`, as ACP 1 has it. */
export type AcpUpdate = { readonly sessionUpdate: string; readonly [field: string]: unknown };

/** A session as an editor is told of it. */
export class AcpFold {
  readonly narration = new Narration();
  /** What the editor itself said: it shows that already. */
  readonly #known = new Set<string>();
  /** What the editor was last told of the agent. */
  #told: Pick<AgentDetails, 'mode' | 'commands'> = {};

  /** Of a message that comes from the editor. */
  know(messageId: string): void {
    this.#known.add(messageId);
  }

  take(event: FoldedEvent): { readonly updates: readonly AcpUpdate[]; readonly told: readonly Told[] } {
    const told = this.narration.take(event);
    return { told, updates: told.flatMap((each) => this.#say(each)) };
  }

  #say(told: Told): readonly AcpUpdate[] {
    switch (told.tell) {
      case 'user':
        return this.#known.has(told.id) ? [] : this.#user(told);
      case 'text':
        return [chunk('agent_message_chunk', told.id, told.delta)];
      case 'thought':
        return [chunk('agent_thought_chunk', told.id, told.delta)];
      case 'text-replaced':
        return [chunk('agent_message_chunk', `${told.id}-whole`, told.text)];
      case 'parts':
        return told.parts.flatMap((part) => blockChunk('agent_message_chunk', told.id, part));
      case 'call-began':
        return [{ sessionUpdate: 'tool_call', ...callFields(told.call), status: 'in_progress' }];
      case 'call-args':
      case 'call-retold':
        return [{ sessionUpdate: 'tool_call_update', ...callFields(told.call), rawInput: told.call.args }];
      case 'call-result':
        return [resultUpdate(told)];
      case 'standing':
        return this.#standing(told.key);
      case 'turn-began':
      case 'turn-ended':
      case 'text-began':
      case 'text-ended':
      case 'thought-began':
      case 'thought-ended':
      case 'call-status':
      case 'call-output':
      case 'asked':
      case 'routed':
      case 'settled':
      case 'note':
      case 'raw':
      case 'over':
        return [];
      default:
        return unreachable(told);
    }
  }

  #user({ id, content }: Extract<Told, { tell: 'user' }>): readonly AcpUpdate[] {
    const plain = plainOr(content);
    if (typeof plain === 'string') return [chunk('user_message_chunk', id, plain)];
    return content.parts.flatMap((part) => blockChunk('user_message_chunk', id, part));
  }

  #standing(key: Extract<Told, { tell: 'standing' }>['key']): readonly AcpUpdate[] {
    const { plan, agent, context, usage } = this.narration.standing;
    switch (key) {
      case 'plan':
        return [{ sessionUpdate: 'plan', entries: plan.map((entry) => ({ priority: 'medium', ...entry })) }];
      case 'agent':
        return this.#agent(agent);
      case 'context': {
        const micro = usage.total.costMicroUsd;
        const cost = micro === undefined ? {} : { cost: { amount: micro / 1_000_000, currency: 'USD' } };
        return context === undefined ? [] : [{ sessionUpdate: 'usage_update', ...context, ...cost }];
      }
      case 'status':
      case 'queue':
      case 'usage':
        return [];
      default:
        return unreachable(key);
    }
  }

  #agent({ mode, commands }: AgentDetails): readonly AcpUpdate[] {
    const before = this.#told;
    this.#told = { mode, commands };
    return [
      ...(mode === undefined || mode === before.mode
        ? []
        : [{ sessionUpdate: 'current_mode_update', currentModeId: mode }]),
      ...(commands === undefined || commands === before.commands
        ? []
        : [{ sessionUpdate: 'available_commands_update', availableCommands: commands.map(commandOf) }]),
    ];
  }
}

function commandOf({
  name,
  description,
  hint,
}: {
  name: string;
  description?: string | undefined;
  hint?: string | undefined;
}) {
  return { name, description: description ?? '', ...(hint === undefined ? {} : { input: { hint } }) };
}

function chunk(sessionUpdate: string, messageId: string, text: string): AcpUpdate {
  return { sessionUpdate, messageId, content: { type: 'text', text } };
}

/** A part of a message; what an editor cannot be shown is told in words. */
function blockChunk(sessionUpdate: string, messageId: string, part: Part): readonly AcpUpdate[] {
  const file = fileOf(part);
  const [kind] = file?.mimeType.split('/') ?? [];
  if (file?.at.kind === 'inline' && (kind === 'image' || kind === 'audio')) {
    return [{ sessionUpdate, messageId, content: { type: kind, mimeType: file.mimeType, data: file.at.data } }];
  }
  if (file?.at.kind === 'link') {
    const { mimeType, title, at } = file;
    const content = {
      type: 'resource_link',
      uri: at.uri,
      name: title ?? at.uri,
      ...(mimeType === '' ? {} : { mimeType }),
    };
    return [{ sessionUpdate, messageId, content }];
  }
  const text = wordsOf({ parts: [part] });
  return text === '' ? [] : [chunk(sessionUpdate, messageId, text)];
}

function callFields(call: Call): Readonly<Record<string, unknown>> {
  return {
    toolCallId: call.callId,
    title: call.title ?? call.name,
    kind: call.kind ?? 'other',
    ...(call.locations.length === 0 ? {} : { locations: call.locations }),
    ...(call.changes.length === 0 ? {} : { content: call.changes.flatMap(diffsOf) }),
  };
}

const statuses: Readonly<Record<CallOutcome, string>> = {
  ok: 'completed',
  failed: 'failed',
  denied: 'failed',
  cancelled: 'failed',
};

function resultUpdate({ call, content, outcome }: Extract<Told, { tell: 'call-result' }>): AcpUpdate {
  const text = resultText(content);
  const shown = text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }];
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: call.callId,
    status: statuses[outcome],
    content: [...call.changes.flatMap(diffsOf), ...shown],
    ...(call.locations.length === 0 ? {} : { locations: call.locations }),
  };
}

/** A diff for each hunk of the patch: the text before and after, as far as the patch has it. */
export function diffsOf({ path, kind, patch }: FileChange): readonly object[] {
  const hunks = patch.split(/^@@.*@@.*$/m).slice(1);
  const sides = hunks.map((hunk) => {
    const lines = hunk.split('\n').slice(1, -1);
    const side = (sign: string): string =>
      lines
        .filter((line) => line.startsWith(sign) || line.startsWith(' '))
        .map((line) => line.slice(1))
        .join('\n');
    return { before: side('-'), after: side('+') };
  });
  return sides.map(({ before, after }) => ({
    type: 'diff',
    path,
    oldText: kind === 'create' ? null : before,
    newText: after,
  }));
}

/** A permission or a choice, as `session/request_permission` asks for it; undefined for what needs words. */
export function permissionOf(
  event: SuspendEvent,
  call: Call | undefined,
): { readonly toolCall: object; readonly options: readonly object[] } | undefined {
  if (event.type !== 'queryConsent' && event.type !== 'waitForChoice') return undefined;
  const about = call === undefined ? { toolCallId: event.requestId } : callFields(call);
  const changes = event.type === 'queryConsent' ? (event.changes ?? []) : [];
  const toolCall = {
    ...about,
    title: questionOf(event),
    status: 'pending',
    ...(call === undefined ? {} : { rawInput: call.args }),
    ...contentOf(changes.length > 0 ? changes.flatMap(diffsOf) : wordsAbout(event, call)),
  };
  const options =
    event.type === 'waitForChoice'
      ? event.choices.map(({ id, content }) => ({ optionId: id, name: textOf(content), kind: 'allow_once' }))
      : permissionOptions(event.options ?? []);
  return { toolCall, options };
}

function contentOf(content: readonly object[]): { readonly content?: readonly object[] } {
  return content.length === 0 ? {} : { content };
}

/** Of a permission that is about no call, nothing else says what it is for. */
function wordsAbout(event: SuspendEvent, call: Call | undefined): readonly object[] {
  const text = call === undefined && event.type === 'queryConsent' ? detailsOf(event) : '';
  return text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }];
}

const usualOptions: readonly RequestOption[] = [
  { id: 'allow', label: 'Allow', kind: 'allow_once' },
  { id: 'allow-session', label: 'Allow for this session', kind: 'allow_always' },
  { id: 'deny', label: 'Deny', kind: 'reject_once' },
];

function permissionOptions(options: readonly RequestOption[]): readonly object[] {
  return (options.length === 0 ? usualOptions : options).map(({ id, label, kind }) => ({
    optionId: id,
    name: label,
    kind,
  }));
}

/** What was chosen, as an answer in our words. */
export function chosenAnswer(
  event: SuspendEvent,
  optionId: string,
): { readonly response: boolean | { selected: string[] }; readonly remember?: 'session' } {
  if (event.type === 'waitForChoice') return { response: { selected: [optionId] } };
  const offered = event.options ?? [];
  const option = (offered.length === 0 ? usualOptions : offered).find(({ id }) => id === optionId);
  const isAllowed = option?.kind.startsWith('allow') === true;
  return { response: isAllowed, ...(option?.kind === 'allow_always' ? { remember: 'session' } : {}) };
}
