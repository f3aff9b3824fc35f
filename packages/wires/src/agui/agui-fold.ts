import { type JsonObject, unreachable } from '@concerto/base';
import { type FoldedEvent, textOf, type UsageSum } from '@concerto/protocol';
import { plainOr } from '../files.ts';
import { Narration } from '../narration.ts';
import { frameOf, type Said } from '../said.ts';
import { type Call, type EventOf, resultText, resultValue, type Told } from '../told.ts';
import { type AguiEvent, type AguiMessage, type AguiOutcome, aguiContent, aguiVersion } from './agui-events.ts';
import { AguiTranscript, withCarried } from './agui-transcript.ts';
import {
  closing,
  custom,
  interruptOf,
  opening,
  standingKeys,
  standingValue,
  touchedOf,
  usageOf,
} from './agui-words.ts';

export type AguiRun = {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string;
  /** The session that is followed. */
  readonly session: string;
  /** What the client has that is not the session's: its own system messages, and what it has just said. */
  readonly carried: readonly AguiMessage[];
  /** The client's own state; ours stands in it under `session`. */
  readonly state: JsonObject;
  /** Parts of the input that nothing is done with. */
  readonly ignored: readonly string[];
};

/**
 * Whoever said it is not told; what is used is counted from where each reader began; to the messages of all each reader
 * has its own.
 */
export type AguiAbout = {
  readonly user?: string;
  readonly usage?: EventOf<'usage'>;
  readonly messages?: readonly AguiMessage[];
};

/** Of a run, what is its own: from where on it was told, and what was used since. */
export type AguiHeard = { readonly since: number; readonly usage: UsageSum };

/** A session as runs of AG-UI. It knows of nobody who listens: what it says is the same for all of them. */
export class AguiFold {
  readonly narration = new Narration();
  readonly #transcript = new AguiTranscript();
  /** Calls under which a sub-agent works, by their ids; whose they are. */
  readonly #subagents = new Map<string, Call>();
  readonly #owners = new Map<string, string>();
  #ended: (Extract<Told, { tell: 'turn-ended' }> & { readonly at: number }) | undefined;

  take(event: FoldedEvent): readonly AguiEvent[] {
    return this.narration.take(event).flatMap((told) => this.#saidOf(told));
  }

  /** The same as it is sent. */
  tell(event: FoldedEvent): readonly Said<AguiAbout>[] {
    return this.narration.take(event).map((told) => {
      const said = this.#saidOf(told);
      const snapshot = said.find(({ type }) => type === 'MESSAGES_SNAPSHOT');
      const about: AguiAbout = {
        ...(event.type === 'usage' ? { usage: event } : {}),
        ...(told.tell === 'user' ? { user: told.id } : {}),
        ...(snapshot?.type === 'MESSAGES_SNAPSHOT' ? { messages: snapshot.messages } : {}),
      };
      return { text: said.map(frameOf).join(''), ...(Object.keys(about).length === 0 ? {} : { about }) };
    });
  }

  #saidOf(told: Told): readonly AguiEvent[] {
    const events = this.#say(told);
    for (const said of events) this.#transcript.apply(said);
    return events;
  }

  /** For a client that listens from here on: what it has to know first. */
  begin(run: AguiRun): readonly AguiEvent[] {
    const messages = withCarried(this.#transcript.snapshot, run);
    const { threadId, runId, parentRunId, session, ignored } = run;
    return [
      {
        type: 'RUN_STARTED',
        threadId,
        runId,
        protocolVersion: aguiVersion,
        ...(parentRunId === undefined ? {} : { parentRunId }),
        metadata: { session, ...(ignored.length === 0 ? {} : { ignored: [...ignored] }) },
      },
      { type: 'MESSAGES_SNAPSHOT', messages },
      { type: 'STATE_SNAPSHOT', snapshot: { ...run.state, session: { id: session, ...this.#standing() } } },
      ...this.#reopened(),
    ];
  }

  /** How the run ends, given where the session stands; everything that is open is closed first. */
  finish({ threadId, runId }: Pick<AguiRun, 'threadId' | 'runId'>, heard: AguiHeard): readonly AguiEvent[] {
    const usage = usageOf(heard.usage);
    const ended = this.#ended !== undefined && this.#ended.at > heard.since ? this.#ended : undefined;
    const figures = usage.length === 0 ? {} : { usage };
    const closed = this.#closed();
    const interrupts = this.narration.waiting.map(interruptOf);
    const outcome = (interrupts.length > 0 ? { type: 'interrupt', interrupts } : this.#outcome(ended)) satisfies
      | AguiOutcome
      | { type: 'error' };
    if (outcome.type === 'error') {
      return [...closed, { type: 'RUN_ERROR', message: outcome.message, code: outcome.code, ...figures }];
    }
    const result = outcome.type === 'success' ? ended?.result : undefined;
    const given = result === undefined ? {} : { result: resultValue(result) };
    return [...closed, { type: 'RUN_FINISHED', threadId, runId, outcome, ...given, ...figures }];
  }

  #outcome(
    ended: Extract<Told, { tell: 'turn-ended' }> | undefined,
  ): AguiOutcome | { readonly type: 'error'; readonly message: string; readonly code: string } {
    const { end, standing } = this.narration;
    if (ended === undefined) {
      if (standing.status === 'cancelled') return { type: 'cancelled' };
      return end?.kind === 'failed' ? { type: 'error', message: end.message, code: 'failed' } : { type: 'success' };
    }
    switch (ended.outcome) {
      case 'done':
        return { type: 'success' };
      case 'interrupted':
      case 'cancelled':
        return { type: 'cancelled' };
      case 'failed':
      case 'lost':
        return { type: 'error', message: ended.reason ?? `the turn is ${ended.outcome}`, code: ended.outcome };
      default:
        return unreachable(ended.outcome);
    }
  }

  /** A client that joins in the middle has not seen these begin. */
  #reopened(): readonly AguiEvent[] {
    const { open, calls } = this.narration;
    const told: AguiEvent[] = [];
    for (const call of this.#subagents.values()) told.push(this.#subagentStarted(call));
    if (open !== undefined) told.push(...opening(open.kind, open.id));
    for (const { call, isTold } of calls.values()) if (!isTold) told.push(this.#callStarted(call));
    return told;
  }

  #closed(): readonly AguiEvent[] {
    const { open, calls } = this.narration;
    const told: AguiEvent[] = [];
    if (open !== undefined) told.push(...closing(open.kind, open.id));
    for (const { call, isTold } of calls.values()) {
      if (!isTold) told.push({ type: 'TOOL_CALL_END', toolCallId: call.callId });
    }
    const outcome = { type: this.narration.waiting.length > 0 ? 'suspended' : 'success' } as const;
    for (const subagentRunId of [...this.#subagents.keys()].reverse()) {
      told.push({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome });
    }
    return told;
  }

  #standing(): object {
    const { standing } = this.narration;
    return Object.fromEntries(standingKeys.map((key) => [key, standingValue(standing, key)]));
  }

  #say(told: Told): readonly AguiEvent[] {
    switch (told.tell) {
      case 'user':
        return this.#user(told);
      case 'text-began':
        return opening('text', told.id);
      case 'thought-began':
        return opening('thought', told.id);
      case 'text':
        return [{ type: 'TEXT_MESSAGE_CONTENT', messageId: told.id, delta: told.delta }];
      case 'thought':
        return [{ type: 'REASONING_MESSAGE_CONTENT', messageId: told.id, delta: told.delta }];
      case 'text-ended':
        return closing('text', told.id);
      case 'thought-ended':
        return closing('thought', told.id);
      case 'text-replaced':
        this.#transcript.replaceText(told.id, told.text);
        return this.#snapshot();
      case 'parts':
        return [
          {
            type: 'ACTIVITY_SNAPSHOT',
            messageId: `${told.id}-parts-${this.narration.position}`,
            activityType: 'content',
            content: { messageId: told.id, parts: told.parts },
          },
        ];
      case 'call-began':
      case 'call-args':
      case 'call-retold':
      case 'call-result':
        return this.#call(told);
      default:
        return this.#aside(told);
    }
  }

  #call(
    told: Extract<Told, { tell: 'call-began' | 'call-args' | 'call-retold' | 'call-result' }>,
  ): readonly AguiEvent[] {
    const { call } = told;
    const { callId: toolCallId } = call;
    switch (told.tell) {
      case 'call-began':
        return [...this.#subagentOf(call), this.#callStarted(call)];
      case 'call-args':
        return [
          { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(call.args) },
          { type: 'TOOL_CALL_END', toolCallId },
        ];
      case 'call-retold':
        this.#transcript.replaceArguments(toolCallId, JSON.stringify(call.args));
        return this.#snapshot();
      case 'call-result': {
        const owner = this.#owners.get(toolCallId);
        return [
          ...this.#subagentEnded(toolCallId, told),
          {
            type: 'TOOL_CALL_RESULT',
            messageId: `result-${toolCallId}`,
            toolCallId,
            content: resultText(told.content),
            role: 'tool',
            ...(owner === undefined ? {} : { subagentRunId: owner }),
            metadata: { outcome: told.outcome, ...touchedOf(call) },
          },
        ];
      }
      default:
        return unreachable(told);
    }
  }

  #aside(
    told: Exclude<
      Told,
      {
        tell:
          | 'user'
          | `${'text' | 'thought'}-${'began' | 'ended'}`
          | 'text'
          | 'thought'
          | 'text-replaced'
          | 'parts'
          | 'call-began'
          | 'call-args'
          | 'call-retold'
          | 'call-result';
      }
    >,
  ): readonly AguiEvent[] {
    switch (told.tell) {
      case 'turn-began':
        this.#ended = undefined;
        return [];
      case 'turn-ended':
        this.#ended = { ...told, at: this.narration.position };
        return [];
      case 'over':
        return [];
      case 'call-status': {
        const { callId, status } = told;
        return [custom('toolStatus', { ...(callId === undefined ? {} : { toolCallId: callId }), status })];
      }
      case 'call-output':
        return [custom('toolOutput', { toolCallId: told.callId, text: told.text })];
      case 'asked':
        return [custom('request', interruptOf(told.event))];
      case 'routed':
        return [custom('requestRouted', { requestId: told.requestId, to: told.to })];
      case 'settled': {
        const { requestId, outcome, by, reason, response } = told.settlement;
        return [custom('requestSettled', { requestId, outcome, by, reason, response })];
      }
      case 'standing': {
        const value = standingValue(this.narration.standing, told.key);
        return [{ type: 'STATE_DELTA', delta: [{ op: 'add', path: `/session/${told.key}`, value }] }];
      }
      case 'note': {
        const { title, data, callId } = told;
        return [custom('note', { title, data, ...(callId === undefined ? {} : { toolCallId: callId }) })];
      }
      case 'raw':
        return [{ type: 'RAW', event: told.event, source: 'concerto' }];
      default:
        return unreachable(told);
    }
  }

  #user({ id, content }: Extract<Told, { tell: 'user' }>): readonly AguiEvent[] {
    if (typeof plainOr(content) !== 'string') {
      // Files cannot be told piece by piece.
      this.#transcript.addUser(id, aguiContent(content));
      return this.#snapshot();
    }
    return [
      { type: 'TEXT_MESSAGE_START', messageId: id, role: 'user' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: textOf(content) },
      { type: 'TEXT_MESSAGE_END', messageId: id },
    ];
  }

  #snapshot(): readonly AguiEvent[] {
    return [{ type: 'MESSAGES_SNAPSHOT', messages: this.#transcript.snapshot }];
  }

  /** A sub-agent is there from the first call that it makes. */
  #subagentOf(call: Call): readonly AguiEvent[] {
    const { parentCallId, callId } = call;
    const parent = parentCallId === undefined ? undefined : this.narration.calls.get(parentCallId)?.call;
    if (parent === undefined) return [];
    this.#owners.set(callId, parent.callId);
    if (this.#subagents.has(parent.callId)) return [];
    this.#subagents.set(parent.callId, parent);
    return [this.#subagentStarted(parent)];
  }

  #subagentStarted(call: Call): AguiEvent {
    const parent = this.#owners.get(call.callId);
    return {
      type: 'SUBAGENT_STARTED',
      subagentRunId: call.callId,
      name: call.title ?? call.name,
      parentToolCallId: call.callId,
      ...(parent === undefined ? {} : { parentSubagentRunId: parent }),
    };
  }

  #subagentEnded(subagentRunId: string, told: Extract<Told, { tell: 'call-result' }>): readonly AguiEvent[] {
    if (!this.#subagents.delete(subagentRunId)) return [];
    if (told.outcome === 'ok') return [{ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' } }];
    return [{ type: 'SUBAGENT_ERROR', subagentRunId, message: resultText(told.content) || told.outcome }];
  }

  #callStarted(call: Call): AguiEvent {
    const { callId, name, title, kind, childSession, messageId } = call;
    const subagentRunId = this.#owners.get(callId);
    const metadata = {
      ...(title === undefined ? {} : { title }),
      ...(kind === undefined ? {} : { kind }),
      ...(childSession === undefined ? {} : { childSession }),
      ...touchedOf(call),
    };
    return {
      type: 'TOOL_CALL_START',
      toolCallId: callId,
      toolCallName: name,
      // What a sub-agent calls belongs to no message of the agent that it works for.
      ...(messageId === undefined || subagentRunId !== undefined ? {} : { parentMessageId: messageId }),
      ...(subagentRunId === undefined ? {} : { subagentRunId }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    };
  }
}
