import type { AgentSteer } from '../agent-connection.ts';
import type { Alarm } from '../agent-process.ts';
import { type Said, said } from '../driver-output.ts';
import type { ClaudeCharge } from './claude-account.ts';
import { type ClaudePart, claudeResult } from './claude-result.ts';
import type { ClaudeEnd } from './claude-translator.ts';

/** After a part of a turn: for the program to tell that it goes on, with a message that came late or with news. */
const goesOnWithinMs = 3_000;

/** A prompt that is being worked on: one part after another, until nothing of it is left. */
export class ClaudeTurn {
  /** Messages that steer, by id, and that the program has not taken up yet: its work is not done before. */
  readonly #steered = new Map<string, AgentSteer>();
  readonly #parts: ClaudePart[] = [];
  /** What was charged before the bill of the part that runs. */
  readonly early: ClaudeCharge[] = [];
  #last: ClaudeEnd | undefined;
  /** It works at a part now, or is about to. */
  #isGoingOn = true;
  #waitsFor = 0;
  /** Nobody has prompted it. */
  readonly isItsOwn: boolean;
  readonly #later: (ms: number, call: () => void) => Alarm;
  #timer: Alarm | undefined;

  constructor(later: (ms: number, call: () => void) => Alarm, isItsOwn: boolean) {
    this.#later = later;
    this.isItsOwn = isItsOwn;
  }

  /** How the last part ended. */
  get outcome(): ClaudeEnd['outcome'] | undefined {
    return this.#last?.outcome;
  }

  /** It has said its word, and works at nothing that we know of. */
  get isAtRest(): boolean {
    return this.#last !== undefined && !this.#isGoingOn;
  }

  get isSteered(): boolean {
    return this.#steered.size > 0;
  }

  get steeredIds(): readonly string[] {
    return [...this.#steered.keys()];
  }

  get steered(): readonly AgentSteer[] {
    return [...this.#steered.values()];
  }

  steer(uuid: string, steer: AgentSteer): void {
    this.#steered.set(uuid, steer);
  }

  takenUp(uuid: string): void {
    if (this.#steered.delete(uuid)) this.begun();
  }

  drop(uuid: string): AgentSteer | undefined {
    const dropped = this.#steered.get(uuid);
    this.#steered.delete(uuid);
    return dropped;
  }

  begun(): void {
    this.#isGoingOn = true;
    this.#waitsFor = 0;
    this.#timer?.cancel();
  }

  ended(end: ClaudeEnd, charges: readonly ClaudeCharge[]): void {
    this.#isGoingOn = false;
    this.#last = end;
    this.#parts.push({ result: end.result, charges: [...this.early.splice(0), ...charges] });
  }

  /** Says so, when what it waits for has changed. */
  waits(tasks: number): readonly Said[] {
    if (this.#waitsFor === tasks) return [];
    this.#waitsFor = tasks;
    const message = `waits for ${tasks === 1 ? 'one piece' : `${tasks} pieces`} of work in the background`;
    return [said({ type: 'progress', message, stage: 'background', tasks })];
  }

  /** Whether it was stopped while it only waited: its last word was not its answer. */
  wasWaiting(isStopped: boolean): boolean {
    return isStopped && this.#waitsFor > 0;
  }

  soon(act: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#later(goesOnWithinMs, act);
  }

  over(): void {
    this.#timer?.cancel();
  }

  result(conversation: string | undefined) {
    const { outcome, message } = this.#last ?? {};
    return claudeResult(outcome?.ok === true ? outcome.text : '', this.#parts, { conversation, message });
  }
}
