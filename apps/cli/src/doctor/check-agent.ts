import { AgentError, type AgentSpec, agentLaunch } from '@concerto/agents';
import type { CatalogEntry } from '@concerto/runtime';
import { type AgentEnd, AgentRun } from './agent-run.ts';
import { answer, askOf, endOf, readTurn, type Turn } from './agent-turn.ts';
import { checkVerbs, request } from './check-verbs.ts';
import { within } from './deadline.ts';
import { describeProcesses } from './describe-processes.ts';
import { type CheckTask, type Finding, failed, messageOf, passed, warned } from './finding.ts';
import { startFailure } from './start-failure.ts';
import { capabilityFindings, WireCheck } from './wire-check.ts';
import { shorten } from './wire-shape.ts';

export const defaultPrompt =
  'This is a check of the connection by `concerto doctor`. Use no tools, change nothing, and answer with the one word: ready';

/** So long a process that was not asked may still announce what it can. */
const announceMs = 1_000;
/** For what an agent says or does of its own accord after its turn. */
const afterTurnMs = 300;
/** For an agent that takes anybody's answer to show it. */
const decoyMs = 2_000;
const stderrLines = 3;
/** Shorter values are not struck out: they would blot out half of any text. */
const secretLengthMin = 6;

export type AgentEntry = Extract<CatalogEntry, { kind: 'agent' }>;

export type AgentCheckOptions = {
  /** Undefined: it is started and ended, and not asked anything. */
  readonly prompt: string | undefined;
  readonly timeoutMs: number;
  readonly calledOff: AbortSignal;
};

export function agentTask(entry: AgentEntry, options: AgentCheckOptions): CheckTask {
  const name = `agent.${entry.name}`;
  return { name, run: (say) => new AgentCheck(entry, { ...options, say }).run() };
}

/** The checks of one agent: several runs of it, and what they have shown. */
class AgentCheck {
  readonly #name: string;
  readonly #spec: AgentSpec;
  readonly #startOptions: { readonly initTimeoutMs?: number; readonly signal: AbortSignal };
  readonly #options: AgentCheckOptions & { readonly say: (doing: string) => void };
  readonly #findings: Finding[] = [];
  readonly #knownFaults = new Set<string>();

  constructor(entry: AgentEntry, options: AgentCheckOptions & { readonly say: (doing: string) => void }) {
    this.#name = `agent.${entry.name}`;
    this.#spec = entry.spec;
    const { initTimeoutMs } = entry;
    this.#startOptions = { signal: options.calledOff, ...(initTimeoutMs === undefined ? {} : { initTimeoutMs }) };
    this.#options = options;
  }

  /** Whoever speaks another protocol is read by its driver, and only what that makes of it can be checked. */
  get #speaksOurWire(): boolean {
    return (this.#spec.protocol ?? 'ndjson') === 'ndjson';
  }

  async run(): Promise<readonly Finding[]> {
    let secrets: readonly string[] = [];
    try {
      const launch = await agentLaunch(this.#spec);
      secrets = launch.secrets.filter((secret) => secret.length >= secretLengthMin);
      this.#add(passed(`${this.#name}.command`, `${launch.program} in ${launch.workingDir}`));
    } catch (cause) {
      this.#add(startFailure(`${this.#name}.command`, this.#spec, cause));
      // Where the protocol itself cannot be spoken, starting it says so.
      if (this.#speaksOurWire) return this.#findings;
    }
    try {
      await this.#runs();
    } catch (cause) {
      if (!this.#options.calledOff.aborted) throw cause;
    }
    return this.#findings.map((finding) => concealed(finding, secrets));
  }

  async #runs(): Promise<void> {
    const { prompt } = this.#options;
    const first = await this.#start('start');
    if (first === undefined) return;
    if (!this.#speaksOurWire && !(await this.#introduced(first))) {
      this.#ended(await first.end());
      return;
    }
    if (prompt === undefined) {
      await this.#onlyStarted(first);
      return;
    }
    const turn = await this.#converse(first, prompt);
    if (turn === undefined || this.#options.calledOff.aborted) return;
    if (first.connection.capabilities.size > 0) await this.#verbs(prompt);
    if (turn.asks.some(({ id }) => id !== undefined)) await this.#correlation(prompt);
  }

  /** Undefined when it does not start; what is wrong is then among the findings. */
  async #start(check: string): Promise<AgentRun | undefined> {
    const { say, calledOff } = this.#options;
    const hasParams = this.#speaksOurWire && Object.keys(this.#spec.params ?? {}).length > 0;
    const wire = new WireCheck(this.#spec.plainText ?? 'result', this.#knownFaults);
    say(hasParams ? 'waits for `init_ack`' : 'starts');
    try {
      const run = await AgentRun.start(this.#spec, wire, this.#startOptions);
      if (check === 'start') {
        const { version } = run.connection;
        const said = hasParams ? `; \`init_ack\`${version === undefined ? '' : ` of version ${version}`}` : '';
        const form = this.#speaksOurWire ? `; ${promptForm(this.#spec)}` : '';
        this.#add(passed(`${this.#name}.start`, `started in ${run.startedInMs} ms${said}${form}`));
      }
      return run;
    } catch (cause) {
      if (calledOff.aborted) throw cause;
      const isInit = cause instanceof AgentError && cause.code.startsWith('init');
      const found = startFailure(`${this.#name}.${isInit ? 'init' : 'start'}`, this.#spec, cause);
      // What is known of the command is told there.
      if (!this.#findings.some(({ status, message }) => status === 'fail' && message === found.message))
        this.#add(found);
      this.#addLines(wire, ['warn', 'fail']);
      return undefined;
    }
  }

  /** Which program it is; false when nobody is logged in, and there is no sense in asking it anything. */
  async #introduced(run: AgentRun): Promise<boolean> {
    const { info, warnings } = await run.introduced(within(announceMs, this.#options.calledOff));
    const version = run.connection.version ?? info?.version;
    const known = [
      ...(version === undefined ? [] : [`version ${version}`]),
      ...(info?.model === undefined ? [] : [`model ${info.model}`]),
    ];
    if (known.length > 0) this.#add(passed(`${this.#name}.program`, known.join(', ')));
    const others = warnings.filter((warning) => !warning.startsWith('not logged in'));
    this.#add(...others.map((warning) => warned(`${this.#name}.start`, warning, warningHelp)));
    if (info?.login === undefined || info.login === '') return true;
    this.#add(failed(`${this.#name}.login`, 'it is not logged in', info.login));
    return false;
  }

  async #onlyStarted(run: AgentRun): Promise<void> {
    const deadline = within(announceMs, this.#options.calledOff);
    for (;;) {
      const said = await run.next(deadline);
      if (said === undefined) break;
      if (said.kind !== 'exit') continue;
      const help = 'an agent waits for prompts on stdin until it is closed; try its command by hand';
      this.#add(failed(`${this.#name}.start`, said.error.message, help));
      break;
    }
    const announced = this.#announced(run);
    if (announced !== undefined) this.#add(...capabilityFindings(`${this.#name}.capabilities`, announced));
    this.#addLines(run.wire, ['ok', 'warn', 'fail']);
    this.#ended(await run.end());
  }

  /** The first run: one prompt, read to its end. Undefined when there is no sense in more. */
  async #converse(run: AgentRun, prompt: string): Promise<Turn | undefined> {
    const { say, timeoutMs, calledOff } = this.#options;
    const check = `${this.#name}.turn`;
    say('waits for its result');
    const started = Date.now();
    try {
      await run.prompt(prompt, 'doctor-1');
    } catch (cause) {
      this.#add(failed(check, `it did not take the prompt: ${messageOf(cause)}`, turnHelp.lost));
      await run.end(true);
      return undefined;
    }
    const turn = await readTurn(run, within(timeoutMs, calledOff));
    if (calledOff.aborted) {
      await run.end(true);
      return undefined;
    }
    for (const { type, text, answer: value } of turn.asks.slice(0, 5))
      this.#add(passed(`${this.#name}.${type}`, `asked "${text}"; answered "${value}" for you`));
    const found = await this.#turnFinding(run, turn, Date.now() - started);
    this.#add(found);
    // Only what keeps an agent from working on is a failure; one that obeyed an interrupt waits for its next prompt.
    const isOver = found.status !== 'fail';
    if (isOver) await run.next(within(afterTurnMs, calledOff));
    const announced = this.#announced(run);
    // Of an agent that was lost before it could speak nothing is known.
    if (isOver || announced !== undefined) this.#add(...capabilityFindings(`${this.#name}.capabilities`, announced));
    const wasSilent = run.wire.lines === 0;
    const end = await run.end(!isOver && !wasSilent);
    if (wasSilent && run.wire.lines > 0)
      this.#add(failed(`${this.#name}.buffering`, 'its lines came only when its stdin was closed', flushHelp));
    this.#addLines(run.wire, ['ok', 'warn', 'fail']);
    if (isOver) this.#ended(end);
    return isOver ? turn : undefined;
  }

  async #turnFinding(run: AgentRun, { end, asks }: Turn, tookMs: number): Promise<Finding> {
    const check = `${this.#name}.turn`;
    const took = `${(tookMs / 1000).toFixed(1)} s`;
    switch (end.kind) {
      case 'result': {
        const text = end.text === '' ? 'without text' : `"${shorten(end.text.trim().replaceAll('\n', ' '), 60)}"`;
        return passed(check, `${end.plain ? 'plain text as its result' : '`result`'} after ${took}: ${text}`);
      }
      case 'error':
        return warned(check, `answered with \`error\` after ${took}: ${end.message}`, turnHelp.error);
      case 'lost':
        return failed(check, end.message, turnHelp.lost);
      case 'broken':
        return failed(check, `${end.message}, which ends its turn`, turnHelp.broken);
      case 'asks-on':
        return failed(check, `asked ${asks.length} times and was answered each time`, turnHelp.asks);
      case 'late':
        return this.#late(run, end.lastHeardAt);
    }
  }

  /** Long work is no fault in an agent that can be stopped; one that cannot, or that is silent, looks hung. */
  async #late(run: AgentRun, lastHeardAt: number | undefined): Promise<Finding> {
    const check = `${this.#name}.turn`;
    const { timeoutMs, say } = this.#options;
    const late = `no \`result\` or \`error\` within ${timeoutMs / 1000} s`;
    const heard =
      lastHeardAt === undefined
        ? 'it said nothing at all'
        : `it last spoke ${((Date.now() - lastHeardAt) / 1000).toFixed(0)} s before`;
    if (lastHeardAt === undefined || !run.connection.capabilities.has('interrupt'))
      return failed(check, `${late}; ${heard}`, turnHelp.late);
    say('waits for the `ack` of interrupt');
    const outcome = await request(run, 'interrupt', this.#options);
    if (outcome.kind !== 'acked') return failed(check, `${late}, and no \`ack\` of interrupt; ${heard}`, turnHelp.late);
    return warned(check, `${late}; ${heard}, and it obeyed an interrupt in ${outcome.ms} ms`, turnHelp.long);
  }

  /** The second run: what it has announced. */
  async #verbs(prompt: string): Promise<void> {
    const run = await this.#start('verbs');
    if (run === undefined) return;
    try {
      this.#add(...(await checkVerbs(this.#name, run, { ...this.#options, prompt })));
    } catch (cause) {
      this.#lostAgain(cause);
    } finally {
      await run.end(true);
    }
    this.#addLines(run.wire, ['fail']);
  }

  /** The third run: an answer to a question that it has not asked must not be taken for the answer to its own. */
  async #correlation(prompt: string): Promise<void> {
    const { say, calledOff, timeoutMs } = this.#options;
    const run = await this.#start('correlation');
    if (run === undefined) return;
    say('waits for a question, to see whose answers it takes');
    try {
      await run.prompt(prompt, 'doctor-4');
      const ask = await firstAsk(run, within(timeoutMs, calledOff));
      if (ask === undefined) return;
      await answer(run, ask, 'doctor-nobody-asked');
      const tookIt = await goesOn(run, within(decoyMs, calledOff));
      const check = `${this.#name}.correlation`;
      this.#add(
        tookIt
          ? warned(check, 'takes an answer with another `in_reply_to_id` for its own', correlationHelp)
          : passed(check, `waits for the answer with its own id (${JSON.stringify(ask.id)})`),
      );
    } catch (cause) {
      this.#lostAgain(cause);
    } finally {
      await run.end(true);
    }
  }

  /** What went well once and not again. */
  #lostAgain(cause: unknown): void {
    if (!(cause instanceof AgentError)) throw cause;
    this.#add(failed(`${this.#name}.again`, `started once more, it was lost: ${cause.message}`, turnHelp.lost));
  }

  #ended({ exit, by, leftovers }: AgentEnd): void {
    const check = `${this.#name}.exit`;
    if (by === 'itself') this.#add(passed(check, 'ends after its answer; each message starts a new process'));
    else if (by === 'stdin') this.#add(passed(check, 'ends when its stdin is closed'));
    else if (exit.signal === 'SIGKILL')
      this.#add(failed(check, 'ends neither with its stdin nor at SIGTERM; it was killed', exitHelp));
    else this.#add(warned(check, 'does not end when its stdin is closed; SIGTERM ended it', exitHelp));
    if (leftovers.length > 0) {
      const message = `left ${leftovers.length} of its processes running; Concerto ended them: ${describeProcesses(leftovers)}`;
      this.#add(warned(`${this.#name}.children`, message, 'end what the agent starts before it exits'));
    }
    const stderr = exit.stderr.trimEnd().split('\n').filter(Boolean);
    if (stderr.length === 0) return;
    const tail = stderr.slice(-stderrLines).map((line) => shorten(line, 120));
    this.#add(
      passed(`${this.#name}.stderr`, `${stderr.length} lines, kept for error messages; the end:\n${tail.join('\n')}`),
    );
  }

  #announced({ wire, connection }: AgentRun): readonly string[] | undefined {
    return this.#speaksOurWire ? wire.announced : [...connection.capabilities];
  }

  #addLines(wire: WireCheck, statuses: readonly Finding['status'][]): void {
    if (!this.#speaksOurWire) return;
    this.#add(...wire.findings(`${this.#name}.wire`).filter(({ status }) => statuses.includes(status)));
  }

  #add(...findings: readonly Finding[]): void {
    this.#findings.push(...findings);
  }
}

/** What a prompt is to an agent of our own wire. */
function promptForm({ params = {}, inputFormat }: AgentSpec): string {
  if (Object.keys(params).length > 0 || inputFormat === 'json') return 'prompts are JSON objects';
  if (inputFormat === 'text') return 'prompts are bare lines, and several lines are one with \\n between them';
  return 'prompts are JSON objects in a session, and in a program bare lines unless they have several';
}

async function firstAsk(run: AgentRun, deadline: AbortSignal): Promise<ReturnType<typeof askOf>> {
  for (;;) {
    const said = await run.next(deadline);
    if (said === undefined || endOf(said) !== undefined) return undefined;
    const ask = askOf(said);
    if (ask?.id !== undefined) return ask;
    if (ask !== undefined) await answer(run, ask);
  }
}

/** Whether its turn goes on: it asks something else, or it ends. */
async function goesOn(run: AgentRun, deadline: AbortSignal): Promise<boolean> {
  for (;;) {
    const said = await run.next(deadline);
    if (said === undefined) return false;
    if (endOf(said) !== undefined || askOf(said) !== undefined) return true;
  }
}

function concealed(finding: Finding, secrets: readonly string[]): Finding {
  const conceal = (text: string): string => secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
  const { help, message } = finding;
  return { ...finding, message: conceal(message), ...(help === undefined ? {} : { help: conceal(help) }) };
}

const turnHelp = {
  error: 'if this is not what a harmless prompt should give, read its message; --prompt chooses another prompt',
  lost: 'send {"type":"result","text":"…"} or {"type":"error","message":"…"} before ending; read the end of its stderr',
  broken: 'do what is said below of its lines',
  late: 'end each turn with `result` or `error`, and flush stdout after each line; --timeout SECONDS waits longer',
  long: '--timeout SECONDS waits longer, --prompt chooses shorter work',
  asks: 'read {"type":"response",…,"value":…} as the answer to the question, and go on',
} as const;

const correlationHelp =
  'keep waiting while `in_reply_to_id` is not the `id` of your question; with several questions open the answers come in any order';
const flushHelp =
  'its stdout is buffered: flush after each line (`print(…, flush=True)` or `python3 -u`, `fflush(stdout)`, `stdbuf -oL`)';
const warningHelp = 'do what it says, or read what docs/guide/agents.md says of this agent';
const exitHelp = 'end when reading stdin gives the end of the file, and at SIGTERM';
