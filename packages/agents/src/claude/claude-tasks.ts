import type { ClaudeMessage } from '@concerto/protocol';
import { type Said, said, type ToolOutcome } from '../driver-output.ts';

type System = Extract<ClaudeMessage, { type: 'system' }>;

type Task = { readonly id: string; readonly callId: string | undefined };

/** What the program does in the background: sub-agents and commands that go on after the model has said its word. */
export class ClaudeTasks {
  readonly #running = new Map<string, Task>();
  /** One has ended, and the model has not been asked since: it will be told, which begins a part of the turn. */
  #hasNews = false;
  /** The call that asked for the model to be woken at a time, which is still to come. There is one such time. */
  #sleeping: string | undefined;

  get ids(): readonly string[] {
    return [...this.#running.keys()];
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  get isAsleep(): boolean {
    return this.#sleeping !== undefined;
  }

  /** How much is still to come: what runs, and the time at which the model is woken. */
  get count(): number {
    return this.#running.size + (this.#sleeping === undefined ? 0 : 1);
  }

  get hasNews(): boolean {
    return this.#hasNews;
  }

  /** From now on the model is to be woken for this call, or for none; gives the one before, which waits no more. */
  sleeps(callId: string | undefined): string | undefined {
    const before = this.#sleeping;
    this.#sleeping = callId;
    return before;
  }

  /** The model is asked, and hears what has come up to now. */
  told(): void {
    this.#hasNews = false;
  }

  /** Whether the result of this call is still to come, whatever the program says of it at once. */
  holds(callId: string): boolean {
    return [...this.#running.values()].some((task) => task.callId === callId);
  }

  /** How the call of a task has ended, if this says so. */
  read(message: System): { readonly callId: string; readonly outcome: ToolOutcome } | undefined {
    const { subtype, task_id: id, tool_use_id: callId, status, summary = '' } = message;
    switch (subtype) {
      case 'background_tasks_changed': {
        const left = new Set((message.tasks ?? []).map(({ task_id }) => task_id));
        for (const known of this.#running.keys()) if (!left.has(known)) this.#running.delete(known);
        for (const added of left) {
          if (!this.#running.has(added)) this.#running.set(added, { id: added, callId: undefined });
        }
        return undefined;
      }
      case 'task_started':
        // Some (workflows) are told to be in the background before they are told to have started, and only so.
        if (id !== undefined && (message.is_backgrounded === true || this.#running.has(id)))
          this.#running.set(id, { id, callId });
        return undefined;
      case 'task_notification': {
        const task = id === undefined ? undefined : this.#running.get(id);
        if (task === undefined || id === undefined) return undefined;
        this.#running.delete(id);
        this.#hasNews = true;
        if (task.callId === undefined) return undefined;
        const extra = {
          ...message.usage,
          ...(message.output_file ? { output_file: message.output_file } : {}),
        };
        return { callId: task.callId, outcome: { text: summary, ...outcomeOf(status), extra } };
      }
      default:
        return undefined;
    }
  }

  /** They end with the turn. */
  clear(): void {
    this.#running.clear();
    this.#hasNews = false;
    this.#sleeping = undefined;
  }
}

/** What a task does now, told of the call that began it. */
export function taskProgress({ tool_use_id: callId, description }: System): Said | undefined {
  if (callId === undefined || description === undefined) return undefined;
  return said({ type: 'progress', message: description, stage: 'subagent', call_id: callId }, [
    { type: 'functionCallUpdate', callId, status: description },
  ]);
}

function outcomeOf(status: string | undefined): Pick<ToolOutcome, 'failed' | 'outcome'> {
  if (status === 'completed') return { failed: false };
  return status === 'failed' ? { failed: true } : { failed: true, outcome: 'cancelled' };
}
