import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, CapabilityHandlers, Prompt, Turn } from '@concerto/agent-kit';
import { type Json, unreachable } from '@concerto/base';
import { type Script, ScriptError, type Step } from './script.ts';

export type PlayOptions = {
  /** Delays are divided by it: 2 is twice as fast, 0 waits for nothing. */
  readonly speed: number;
  /** Where gates are looked for. */
  readonly gates: string | undefined;
};

const gatePollMs = 10;
/** Between two looks at whether the agent was paused or stopped. */
const delaySliceMs = 50;

/** What a step ends, if anything: the turn with an answer, or with an error. */
type Outcome = { readonly answer: Answer } | undefined;

/** An agent that plays a script. */
export class ScriptPlayer {
  readonly #script: Script;
  readonly #options: PlayOptions;
  #turns = 0;
  #texts: Record<string, Json> = {};

  constructor(script: Script, options: PlayOptions) {
    this.#script = script;
    this.#options = options;
  }

  /** The handlers of exactly the capabilities that the script announces. */
  get handlers(): CapabilityHandlers {
    const all = {
      steer: (text: string): void => {
        this.#texts.steer = text;
      },
      interrupt: (): void => {},
      pause: (): void => {},
      resume: (): void => {},
      cancel: (): void => {},
    };
    return Object.fromEntries(this.#script.capabilities.map((capability) => [capability, all[capability]]));
  }

  async prompt(prompt: Prompt, turn: Turn): Promise<Answer> {
    const steps = this.#script.turns[this.#turns % this.#script.turns.length] ?? [];
    this.#turns++;
    this.#texts = { prompt: prompt.text, turn: this.#turns, answer: '', steer: '' };
    const outcome = await this.#play(steps, turn);
    return outcome === undefined ? 'Done.' : outcome.answer;
  }

  async #play(steps: readonly Step[], turn: Turn): Promise<Outcome> {
    for (const step of steps) {
      await turn.checkpoint();
      const outcome = await this.#playStep(step, turn);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** One arm for each kind of step. */
  async #playStep(step: Step, turn: Turn): Promise<Outcome> {
    switch (step.type) {
      case 'progress': {
        const { percent, stage } = step;
        turn.progress(this.#fill(step.message), {
          ...(percent === undefined ? {} : { percent }),
          ...(stage === undefined ? {} : { stage }),
        });
        return undefined;
      }
      case 'partial':
        turn.partial(this.#fill(step.text));
        return undefined;
      case 'log':
        turn.log(this.#fill(step.message), step.level);
        return undefined;
      case 'question':
        return this.#ask(step, turn);
      case 'approval': {
        const { risk_level, fields } = step;
        const risk = risk_level === undefined ? {} : { riskLevel: risk_level };
        const isAllowed = await turn.approve(this.#fill(step.description), { ...fields, ...risk });
        return this.#play((isAllowed ? step.yes : step.no) ?? [], turn);
      }
      case 'custom':
        turn.send(step.name, step.fields);
        return undefined;
      case 'result':
        return { answer: { ...(step.text === undefined ? {} : { text: this.#fill(step.text) }), ...step.fields } };
      case 'error':
        throw Object.assign(new Error(this.#fill(step.message)), step.code === undefined ? {} : { code: step.code });
      case 'delay':
        await this.#delay(step.ms, turn);
        return undefined;
      case 'gate':
        await this.#awaitGate(step.name, turn);
        return undefined;
      case 'hang':
        for (;;) {
          await sleep(delaySliceMs);
          await turn.checkpoint();
        }
      case 'repeat':
        return this.#repeat(step, turn);
      case 'raw':
        process.stdout.write(`${this.#fill(step.line)}\n`);
        return undefined;
      case 'stderr':
        process.stderr.write(`${this.#fill(step.text)}\n`);
        return undefined;
      case 'exit':
        return process.exit(step.code);
      default:
        return unreachable(step);
    }
  }

  async #ask(step: Extract<Step, { type: 'question' }>, turn: Turn): Promise<Outcome> {
    const { options, context, answers = {} } = step;
    const answer = await turn.ask(this.#fill(step.question), {
      ...(options === undefined ? {} : { options }),
      ...(context === undefined ? {} : { context }),
    });
    this.#texts.answer = answer;
    if (step.as !== undefined) this.#texts[step.as] = answer;
    const text = textOf(answer);
    return this.#play((Object.hasOwn(answers, text) ? answers[text] : answers['*']) ?? [], turn);
  }

  async #repeat(step: Extract<Step, { type: 'repeat' }>, turn: Turn): Promise<Outcome> {
    for (let n = 1; n <= step.times; n++) {
      this.#texts.n = n;
      const outcome = await this.#play(step.steps, turn);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  async #delay(ms: number, turn: Turn): Promise<void> {
    let left = this.#options.speed === 0 ? 0 : ms / this.#options.speed;
    while (left > 0) {
      const slice = Math.min(left, delaySliceMs);
      await sleep(slice);
      await turn.checkpoint();
      left -= slice;
    }
  }

  async #awaitGate(name: string, turn: Turn): Promise<void> {
    const { gates } = this.#options;
    if (gates === undefined)
      throw new ScriptError(`the gate "${name}" needs a folder: --gates FOLDER, or the param \`gates\``);
    while (!existsSync(join(gates, name))) {
      await sleep(gatePollMs);
      await turn.checkpoint();
    }
  }

  #fill(text: string): string {
    return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) =>
      Object.hasOwn(this.#texts, name) ? textOf(this.#texts[name] ?? null) : whole,
    );
  }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
