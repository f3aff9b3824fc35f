import { clearScreenDown, createInterface, cursorTo, type Interface } from 'node:readline';
import { harmless, harmlessJson } from '@concerto/base';
import { ClientError, type ConcertoClient } from '@concerto/client';
import { defineCommand, parseArguments } from '../arguments.ts';
import { paint } from '../terminal/paint.ts';
import { print, printError } from '../terminal/print.ts';
import { screenSize } from '../terminal/table.ts';
import { wrapped } from '../terminal/wrap.ts';
import { attach } from './attach.ts';
import { connect, connectionOptions, failureText } from './connect.ts';
import { answerIn } from './response-of.ts';
import { answerOffered, howToAdd, type OfferedRule, RuleOffer, ruleText } from './rule-offer.ts';
import { WatchBoard, watchLine } from './watch-board.ts';

const drawEveryMs = 100;
const enterScreen = '\u001b[?1049h';
const leaveScreen = '\u001b[?1049l';

export const spec = defineCommand({
  name: 'watch',
  summary: 'All sessions in one view; answer what waits for you from there.',
  usage: '',
  options: connectionOptions,
  maxPositionals: 0,
  details: [
    'On a terminal: `1 y` answers the question with the number 1, `1 y always` the very same from now on too',
    '(the rule is shown first); `/attach 1` goes there, `/attach ID` to any session; `q` or Ctrl-C leaves.',
    'Elsewhere each change is a line; with --json an event.',
  ].join('\n'),
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  try {
    const client = connect(values);
    // A watch waits for a server that went away; one that never was there, or lets nobody in, is said at once.
    await client.pool();
    const isPerson = process.stdin.isTTY && process.stdout.isTTY && !values.json;
    return isPerson ? await watchHere(client) : await tellAll(client, values.json);
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(failureText(cause, values));
    return 1;
  }
}

async function tellAll(client: ConcertoClient, json: boolean): Promise<number> {
  const leave = new AbortController();
  process.once('SIGINT', () => leave.abort());
  for await (const event of client.watch({ signal: leave.signal }))
    print(json ? harmlessJson(event) : watchLine(event));
  return 0;
}

/** Until the person leaves; a session that they go to is attached in between. */
async function watchHere(client: ConcertoClient): Promise<number> {
  for (;;) {
    const next = await watchOnce(client);
    if (next === undefined) return 0;
    await attach(client, next, { json: false });
  }
}

/** Resolves with the session to go to, or undefined to leave. */
async function watchOnce(client: ConcertoClient): Promise<string | undefined> {
  const leave = new AbortController();
  const board = new WatchBoard();
  const input = createInterface({ input: process.stdin, output: process.stdout });
  const screen = new BoardScreen(board, input);
  const offer = new RuleOffer();
  let next: string | undefined;
  const go = (session: string | undefined): void => {
    next = session;
    leave.abort();
  };
  input.on('SIGINT', () => go(undefined));
  const onClose = (): void => leave.abort();
  input.on('close', onClose);
  input.on('line', (line) => {
    const said = offer.hear(line);
    const answered = said.kind === 'added' ? add(client, said.offered) : obey(line.trim(), { board, client, go });
    answered.then(
      (told) => {
        // What came of an earlier line does not take the place of a rule that is to be read.
        if (typeof told === 'string') return offer.isOpen ? undefined : screen.say(told);
        screen.say(`${told.rule}; ${howToAdd}`);
        offer.show(told.offered);
      },
      (cause: unknown) => {
        offer.leave();
        screen.say(harmless(cause instanceof Error ? cause.message : String(cause)));
      },
    );
  });
  screen.open();
  try {
    for await (const event of client.watch({ signal: leave.signal, onState: ({ kind }) => screen.state(kind) })) {
      const unknown = board.take(event);
      screen.changed();
      if (unknown === undefined) continue;
      const { requests } = await client.requests(unknown);
      board.asked(
        unknown,
        requests.map((request) => request.event),
      );
      screen.changed();
    }
  } finally {
    // By name: it has listeners of its own there, without which it goes on hearing what is typed to the next one.
    input.off('close', onClose);
    screen.close();
    input.close();
  }
  return next;
}

/** A rule that is to be seen before it is added. */
type Told = { readonly rule: string; readonly offered: OfferedRule };

type Surroundings = {
  readonly board: WatchBoard;
  readonly client: ConcertoClient;
  readonly go: (session: string | undefined) => void;
};

async function add(client: ConcertoClient, offered: OfferedRule): Promise<string> {
  await answerOffered(client, offered);
  return 'it was answered, and the rule added';
}

/** What it came to, for the line above the prompt; or the rule that the answer would add. */
async function obey(line: string, { board, client, go }: Surroundings): Promise<string | Told> {
  if (line === '') return '';
  if (line === 'q' || line === '/quit') {
    go(undefined);
    return '';
  }
  const [, wanted] = /^\/attach(?:\s+(.*))?$/.exec(line) ?? [];
  if (line.startsWith('/attach')) return attachWanted(wanted ?? '', { board, go });
  const [, number, rest = ''] = /^(\d+)(?:\s+([\s\S]+))?$/.exec(line) ?? [];
  const waiting = board.numbered(Number(number));
  if (waiting === undefined)
    return `${number === undefined ? '' : `nothing waits as ${number}; `}write the number of a question and its answer, such as \`1 y\`; q leaves`;
  if (rest === '') return `what is the answer to ${number}?`;
  const { session, request } = waiting;
  const answer = answerIn(request, rest);
  const rule = ruleText(request, answer);
  if (rule !== undefined) {
    const { rows, columns } = screenSize();
    // The half of a rule is none that somebody has seen.
    if (wrapped(rule, columns).length > rows / 2) return `the rule is too long to be shown here: /attach ${number}`;
    return { rule, offered: { session, request, answer } };
  }
  await client.answer(session, request.requestId, answer.response, answer.remember);
  return `${number} was answered`;
}

/** By the number of a question, or by the session's id: also one that waits for nobody. */
function attachWanted(wanted: string, { board, go }: Pick<Surroundings, 'board' | 'go'>): string {
  const waiting = /^\d+$/.test(wanted) ? board.numbered(Number(wanted)) : undefined;
  const ids = waiting === undefined && wanted !== '' ? board.idsMeant(wanted) : [];
  const session = waiting?.session ?? (ids.length === 1 ? ids[0] : undefined);
  if (session === undefined) {
    const isNumber = /^\d+$/.test(wanted);
    const none = isNumber ? `nothing waits as ${wanted}` : `there is no session ${wanted}`;
    const why = ids.length > 1 ? `${ids.length} sessions begin with ${wanted}` : none;
    return `${wanted === '' ? '' : `${why}; `}write /attach with the number of a question or the beginning of an ID`;
  }
  go(session);
  return '';
}

/** The board on a screen of its own, which leaves the terminal as it was. */
class BoardScreen {
  readonly #board: WatchBoard;
  readonly #input: Interface;
  readonly #out = process.stdout;
  readonly #onResize = (): void => this.changed();
  #said = '';
  #isOpen = false;
  #state = 'connecting';
  #timer: NodeJS.Timeout | undefined;

  constructor(board: WatchBoard, input: Interface) {
    this.#board = board;
    this.#input = input;
    input.setPrompt(paint('bold', 'NUMBER ANSWER, /attach NUMBER|ID, q: '));
  }

  open(): void {
    this.#isOpen = true;
    this.#out.write(enterScreen);
    this.#out.on('resize', this.#onResize);
    this.changed();
  }

  say(text: string): void {
    this.#said = text;
    this.changed();
  }

  state(kind: string): void {
    this.#state = kind;
    this.changed();
  }

  changed(): void {
    if (this.#isOpen) this.#timer ??= setTimeout(() => this.#draw(), drawEveryMs);
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#out.off('resize', this.#onResize);
    this.#out.write(leaveScreen);
  }

  #draw(): void {
    this.#timer = undefined;
    const { rows: height, columns } = screenSize();
    const said =
      { live: this.#said, connecting: 'connecting …' }[this.#state] ?? 'the connection was lost; trying again …';
    const note = wrapped(said, columns);
    const rows = this.#board.rows({ rows: Math.max(5, height - 1 - note.length), columns });
    cursorTo(this.#out, 0, 0);
    clearScreenDown(this.#out);
    this.#out.write(`${[...rows, ...note.map((row) => paint('dim', row))].join('\n')}\n`);
    this.#input.prompt(true);
  }
}
