import { createInterface, type Interface, type Key } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { harmless, harmlessDeep } from '@concerto/base';
import { ClientError, type ConcertoClient, type FollowedEvent } from '@concerto/client';
import { LiveScreen } from '../terminal/live-screen.ts';
import { paint } from '../terminal/paint.ts';
import type { Asked, Audience } from './audience.ts';
import { childrenText } from './connect.ts';
import { Narration, questionText } from './narration.ts';
import { promptOf } from './response-of.ts';
import { answerOffered, RuleOffer } from './rule-offer.ts';
import { obey } from './typed-lines.ts';
import { TypedText } from './typed-text.ts';

/** A person at a terminal: text goes on above what is being typed, which answers what waits longest. */
export class PersonAt implements Audience {
  readonly #client: ConcertoClient;
  readonly #id: string;
  readonly #leave: AbortController;
  readonly #input: Interface;
  readonly #screen: LiveScreen;
  readonly #narration: Narration;
  readonly #typed = new TypedText();
  readonly #offer = new RuleOffer();
  readonly #questions: Asked[] = [];
  /** The question that stands right above what is typed. */
  #above: string | undefined;
  readonly #onClose = (): void => this.#leave.abort();
  readonly #onKey = (_: string | undefined, { name }: Key): void => {
    if (name === 'paste-start') this.#typed.pasteBegins();
    if (name === 'paste-end') this.#pasteEnds();
  };

  constructor(client: ConcertoClient, id: string, leave: AbortController) {
    this.#client = client;
    this.#id = id;
    this.#leave = leave;
    this.#input = createInterface({ input: process.stdin, output: process.stdout });
    this.#screen = new LiveScreen(this.#input, () => this.#aboutText());
    this.#input.setPrompt('');
    this.#input.on('SIGINT', this.#onClose);
    this.#input.on('close', this.#onClose);
    this.#input.on('line', (line) => this.#take(line));
    process.stdin.on('keypress', this.#onKey);
    this.#narration = new Narration({
      print: (text) => this.#say(text),
      write: (piece) => {
        this.#above = undefined;
        this.#screen.write(piece);
      },
      fresh: () => this.#screen.fresh(),
      progress: (text) => this.#screen.progress(text),
    });
  }

  tell(event: FollowedEvent): void {
    this.#narration.tell(event);
  }

  ask(event: Asked): void {
    this.#above = event.requestId;
    this.#turn(() => this.#questions.push(event));
  }

  settled(requestId: string): void {
    const at = this.#questions.findIndex((question) => question.requestId === requestId);
    if (at < 0) return;
    this.#turn(() => this.#questions.splice(at, 1));
    const [next] = this.#questions;
    // It was asked above all that came since.
    if (at === 0 && next !== undefined) this.#show(next);
  }

  interrupted(wasCut: boolean): void {
    this.#screen.progress(undefined);
    const how = wasCut
      ? 'its turn was cut: /resume takes its conversation up where that can be loaded, /again says its message once more'
      : 'type the next message, /resume goes on with what is queued, /again says the last message once more';
    this.#remark(how);
  }

  rest(): boolean {
    this.#screen.progress(undefined);
    this.#remark('type the next message, /help, or leave with Ctrl-C');
    return false;
  }

  total(): string | undefined {
    return this.#narration.totalText();
  }

  close(): void {
    // By name: it has listeners of its own there, without which it goes on hearing what is typed after us.
    this.#input.off('close', this.#onClose);
    process.stdin.off('keypress', this.#onKey);
    this.#screen.end();
    this.#input.close();
  }

  /** What comes first may be another after this. */
  #turn(change: () => void): void {
    const before = this.#questions[0]?.requestId;
    change();
    const [first] = this.#questions;
    if (first?.requestId !== before) this.#typed.turns(before, this.#input.line);
    this.#prompt();
  }

  #prompt(): void {
    const [first] = this.#questions;
    const text = this.#offer.isOpen ? 'add this rule? [y; anything else leaves it] ' : first && promptOf(first);
    this.#screen.prompt(text === undefined ? '' : paint('bold', text));
  }

  #show(question: Asked, most?: number): void {
    const shown = harmlessDeep(question);
    this.#above = question.requestId;
    if (shown.type === 'waitForInput' || shown.type === 'waitForChoice' || shown.type === 'queryConsent')
      this.#screen.print(questionText(shown, most));
  }

  /** Which question an answer goes to, unless it stands right there. */
  #aboutText(): string | undefined {
    const [first] = this.#questions;
    if (first === undefined || this.#above === first.requestId) return undefined;
    const shown = harmlessDeep(first);
    if (shown.type !== 'waitForInput' && shown.type !== 'waitForChoice' && shown.type !== 'queryConsent')
      return undefined;
    const count = this.#questions.length === 1 ? '' : `1 of ${this.#questions.length} `;
    return `${count}${stripVTControlCharacters(questionText(shown, 0)).split('\n', 1)[0] ?? ''}`;
  }

  #take(line: string): void {
    const taken = this.#typed.take(line, this.#questions[0]?.requestId);
    if (taken.kind === 'pasted') return this.#remark(`┊ ${taken.line}`);
    if (taken.kind === 'dropped') return this.#remark('forgotten');
    if (taken.kind === 'late') {
      this.#remark('this was asked after you began to write: Enter again if it is your answer');
      const [first] = this.#questions;
      if (first !== undefined) this.#show(first);
      this.#input.write(taken.line);
      return;
    }
    this.#obey(taken.text);
  }

  #obey(line: string): void {
    const said = this.#offer.hear(line);
    if (said.kind !== 'nothing-offered') this.#prompt();
    if (said.kind === 'added') return this.#do(() => answerOffered(this.#client, said.offered));
    if (said.kind === 'left') {
      this.#remark('no rule was added, and nothing was answered');
      // A command is one, whatever it left; any other line was about the rule.
      if (!line.startsWith('/')) return;
    }
    if (line === '/more') return this.#more();
    this.#do(() =>
      obey(line, {
        client: this.#client,
        id: this.#id,
        question: () => this.#questions[0],
        say: (text) => this.#say(text),
        offer: (rule) => {
          this.#offer.show(rule);
          this.#prompt();
        },
        leave: this.#onClose,
      }),
    );
  }

  #do(act: () => Promise<void>): void {
    act().catch((cause: unknown) => {
      // Somebody else was faster, it was withdrawn, or the server is away: the stream says how it goes on.
      const which = cause instanceof ClientError ? childrenText(cause) : '';
      this.#say(paint('dim', `(${harmless(cause instanceof Error ? cause.message : String(cause))}${which})`));
    });
  }

  #more(): void {
    const [first] = this.#questions;
    if (first === undefined) this.#remark('nothing waits for an answer');
    else this.#show(first, Number.POSITIVE_INFINITY);
  }

  #pasteEnds(): void {
    this.#typed.pasteEnds();
    if (this.#typed.pasted > 0) this.#remark('Enter sends these lines with what stands below, /drop forgets them');
  }

  #remark(text: string): void {
    this.#say(paint('dim', `  ${harmless(text)}`));
  }

  #say(text: string): void {
    this.#above = undefined;
    this.#screen.print(text);
  }
}
