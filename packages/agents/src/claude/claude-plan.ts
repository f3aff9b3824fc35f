import type { Json, JsonObject } from '@concerto/base';
import type { PlanEntry } from '@concerto/protocol';
import { plan, type Said } from '../driver-output.ts';
import { memberOf } from '../json-member.ts';
import { planStatus, todoEntries } from './claude-tools.ts';

/** Tools that only keep the list of steps, which is shown as the plan that it is. */
export const planTools: ReadonlySet<string> = new Set(['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet']);

/** The steps as they stand, which the program tells one by one. */
export class ClaudePlan {
  readonly #steps = new Map<string, PlanEntry>();

  /** What a call that was done makes of it. */
  planned(
    { name, input }: { readonly name: string; readonly input: JsonObject },
    told: Json | undefined,
  ): readonly Said[] {
    const whole = name === 'TodoWrite' ? todoEntries(input) : undefined;
    if (whole !== undefined) return [plan(whole)];
    const named = memberOf(memberOf(told, 'task'), 'id') ?? input.taskId;
    const key = typeof named === 'string' ? named : String(this.#steps.size + 1);
    const before = this.#steps.get(key);
    if (name === 'TaskUpdate' && input.status === 'deleted') this.#steps.delete(key);
    else if (name === 'TaskCreate' || (name === 'TaskUpdate' && before !== undefined)) {
      const content = typeof input.subject === 'string' ? input.subject : (before?.content ?? key);
      const status = input.status === undefined ? (before?.status ?? 'pending') : planStatus(input.status);
      this.#steps.set(key, { content, status });
    } else return [];
    return [plan([...this.#steps.values()])];
  }
}
