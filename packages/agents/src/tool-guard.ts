import type { ToolRules } from '@concerto/protocol';
import type { Alarm } from './agent-process.ts';
import { ruleOfTool } from './tool-rule.ts';

/** A tool that the rules deny, and that its agent has begun: so long we wait for it to ask, which is refused. */
const asksWithinMs = 1_000;

type Later = (ms: number, call: () => void) => Alarm;
type Watched = { readonly tool: string; readonly rule: 'deny' | 'ask'; timer: Alarm | undefined };

/**
 * Holds the session's rules after the fact: an agent that uses what is denied, or uses without asking what is to be asked
 * for, is found out. Before the fact they are held where it asks; this is for all that it does without.
 */
export class ToolGuard {
  readonly #rules: ToolRules | undefined;
  readonly #broken: (reason: string) => void;
  readonly #later: Later;
  readonly #watched = new Map<string, Watched>();

  /** `broken` is told once what was used against the rules; the turn must then be stopped. */
  constructor(rules: ToolRules | undefined, later: Later, broken: (reason: string) => void) {
    this.#rules = rules;
    this.#later = later;
    this.#broken = broken;
  }

  /** A call has begun, of a tool with these names; without any nobody knows what it is. */
  began(callId: string, names: readonly string[]): void {
    if (this.#rules === undefined || this.#watched.has(callId)) return;
    const rule = ruleOfTool(this.#rules, names);
    if (rule === undefined) return;
    const tool = names[0] ?? 'a tool whose name the agent does not tell';
    const timer = rule === 'deny' ? this.#later(asksWithinMs, () => this.#found(callId)) : undefined;
    this.#watched.set(callId, { tool, rule, timer });
  }

  /** Its agent asks before it: the answer holds the rule. */
  asked(callId: string): void {
    this.#watched.get(callId)?.timer?.cancel();
    this.#watched.delete(callId);
  }

  /** `wasUsed`: it did what it does; a call that failed or was refused did not. */
  ended(callId: string, wasUsed: boolean): void {
    if (wasUsed) this.#found(callId);
    else this.asked(callId);
  }

  /** The turn is over. */
  clear(): void {
    for (const { timer } of this.#watched.values()) timer?.cancel();
    this.#watched.clear();
  }

  #found(callId: string): void {
    const watched = this.#watched.get(callId);
    if (watched === undefined) return;
    this.clear();
    const { tool, rule } = watched;
    this.#broken(
      rule === 'deny'
        ? `the agent used ${tool}, which the session's rules deny; its turn was stopped`
        : `the agent used ${tool} without asking, which the session's rules want; its turn was stopped`,
    );
  }
}
