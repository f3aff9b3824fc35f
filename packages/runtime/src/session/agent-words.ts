import type { AgentSpec } from '@concerto/agents';
import type { RunnerCommand } from '@concerto/protocol';
import { replyOf } from './agent-journal.ts';
import type { AgentLink } from './agent-link.ts';
import { type Speaker, sessionError } from './agent-report.ts';
import { respondMark } from './kept-agents.ts';
import type { OwnerWriter } from './owner-writer.ts';
import { errorEvent, replyTo } from './translate.ts';

type Command<Type> = Extract<RunnerCommand, { type: Type }>;

export type WordsOptions = {
  readonly session: string;
  /** What the agent speaks; our own wire unless given. */
  readonly protocol: AgentSpec['protocol'];
  readonly writer: OwnerWriter;
  readonly speaker: (live: AgentLink) => Speaker;
  readonly turnStarted: () => void;
  /** Work beside the command loop; never rejects. */
  readonly guard: (work: Promise<unknown>) => Promise<void>;
};

/** What an owner says to its agent, and that it was said. */
export class AgentWords {
  readonly #options: WordsOptions;
  /** The last of them is on record. */
  recorded: Promise<void> = Promise.resolve();

  constructor(options: WordsOptions) {
    this.#options = options;
  }

  deliver(live: AgentLink, command: Command<'deliver'>): void {
    const { writer, session, turnStarted } = this.#options;
    const { dispatchId, how } = command;
    const speaker = this.#options.speaker(live);
    // A repeat: when it was handed over, only the confirmation was lost.
    const before = live.handedOver(dispatchId);
    if (before === 'written') void this.#say(writer.tell({ type: 'delivered', ...speaker, dispatchId, how }));
    if (before !== undefined) return;
    live.turn = command.turn;
    if (how === 'prompt') turnStarted();
    this.recorded = this.#say(
      live.deliver(command, session).then(
        () => this.handedOver(live, command),
        (cause: unknown) => {
          const { message: reason } = sessionError(cause);
          const closing = how === 'prompt' ? [errorEvent(live.callId, reason)] : [];
          return writer.tell({ type: 'delivery-refused', ...speaker, dispatchId, reason, closing });
        },
      ),
    );
  }

  /** It has the message, by our own hand or by that of an owner before us. */
  async handedOver(live: AgentLink, command: Command<'deliver'>): Promise<void> {
    const { writer, speaker } = this.#options;
    const { dispatchId, how } = command;
    await writer.tell({ type: 'delivered', ...speaker(live), dispatchId, how, observed: live.heardAtOnce(command) });
  }

  answer(live: AgentLink, { requestId, response, line, reason }: Command<'answer'>): void {
    const question = live.questions.take(requestId);
    if (question === undefined) return;
    const replied =
      line !== undefined && live.takesLines
        ? live.replyLine(line, requestId)
        : live.reply(question, replyOf(line) ?? replyTo(question.event, { response, reason }, this.#options.protocol));
    this.recorded = this.#say(
      replied.then(async (written) => {
        if (written) await this.answered(live, requestId);
      }),
    );
  }

  async answered(live: AgentLink, requestId: string): Promise<void> {
    const { writer, speaker } = this.#options;
    await writer.tell({ type: 'answer-delivered', ...speaker(live), requestId });
  }

  respond(live: AgentLink, { line }: Command<'respond'>): void {
    this.recorded = this.#say(live.replyLine(line, `${respondMark}${++live.responds}`));
  }

  withdraw(live: AgentLink, { requestId, reason }: Command<'withdraw'>): void {
    const question = live.questions.take(requestId);
    if (question === undefined) return;
    this.recorded = this.#say(live.reply(question, { error: reason }));
  }

  #say(words: Promise<unknown>): Promise<void> {
    return this.#options.guard(words);
  }
}
