import type { Item } from '@concerto/protocol/codex';
import { type Said, said, toolCall, toolResult } from '../driver-output.ts';

type Thread = {
  readonly name: string;
  readonly model: string | undefined;
  /** The call that it works for. */
  callId: string;
  turnId: string | undefined;
  isWorking: boolean;
  lastWord: string;
};

/** The sub-agents of a conversation: each works in a thread of its own, also when its agent has said its word. */
export class CodexThreads {
  readonly #threads = new Map<string, Thread>();

  has(thread: string): boolean {
    return this.#threads.has(thread);
  }

  callOf(thread: string): string | undefined {
    return this.#threads.get(thread)?.callId;
  }

  modelOf(thread: string): string | undefined {
    return this.#threads.get(thread)?.model;
  }

  nameOf(thread: string): string {
    return this.#threads.get(thread)?.name ?? thread;
  }

  /** Those that work, with the turns that they work at. */
  get working(): readonly { readonly threadId: string; readonly turnId: string | undefined }[] {
    return [...this.#threads].flatMap(([threadId, { isWorking, turnId }]) => (isWorking ? [{ threadId, turnId }] : []));
  }

  delegated({ id, agentThreadId, agentPath, model }: Item): void {
    if (agentThreadId == null) return;
    this.#threads.set(agentThreadId, {
      name: agentPath ?? agentThreadId,
      model: model ?? undefined,
      callId: id,
      turnId: undefined,
      isWorking: true,
      lastWord: '',
    });
  }

  /** One that has ended its work may be given more, which is a call of its own. */
  started(threadId: string, turnId: string): readonly Said[] {
    const thread = this.#threads.get(threadId);
    if (thread === undefined) return [];
    thread.turnId = turnId;
    if (thread.isWorking) return [];
    thread.isWorking = true;
    thread.callId = turnId;
    const { name } = thread;
    return [toolCall({ id: turnId, name: 'followup_task', input: { agent: name }, what: `followup_task: ${name}` })];
  }

  said(threadId: string, text: string): readonly Said[] {
    const thread = this.#threads.get(threadId);
    if (thread === undefined || text === '') return [];
    thread.lastWord = text;
    const { callId } = thread;
    return [
      said({ type: 'log', level: 'debug', message: text, stage: 'subagent', call_id: callId }, [
        { type: 'subagentAddJson', callId, title: 'text', data: text },
      ]),
    ];
  }

  completed(threadId: string, turn: { readonly status: string }): readonly Said[] {
    const thread = this.#threads.get(threadId);
    if (thread === undefined || !thread.isWorking) return [];
    thread.isWorking = false;
    const isDone = turn.status === 'completed';
    const outcome = turn.status === 'interrupted' ? { outcome: 'cancelled' as const } : {};
    const text = thread.lastWord === '' ? turn.status : thread.lastWord;
    return [toolResult({ id: thread.callId, name: 'spawn_agent' }, { text, failed: !isDone, ...outcome })];
  }

  /** The turn is over, and with it what they did for it. */
  clear(): void {
    for (const thread of this.#threads.values()) thread.isWorking = false;
  }
}
