import type { AgentVerb } from '@concerto/agents';
import type { AgentCapability } from '@concerto/protocol';
import type { AgentRun } from './agent-run.ts';
import { answer, askOf, endOf } from './agent-turn.ts';
import { within } from './deadline.ts';
import { type Finding, failed, passed } from './finding.ts';

/** As long as a session waits for each before it takes other measures. */
const ackWithinMs: Readonly<Record<AgentVerb, number>> = {
  interrupt: 10_000,
  pause: 20_000,
  resume: 10_000,
  cancel: 10_000,
};
/** For the agent to get into its work, where stopping means something. */
const underWayMs = 3_000;
/** For the `ack` of a request that crossed with the turn's own end. */
const crossedMs = 1_000;

type Outcome =
  | { readonly kind: 'acked'; readonly ms: number }
  /** The turn was over before the request could mean anything. */
  | { readonly kind: 'too-late' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'silent'; readonly ms: number };

export type VerbOptions = {
  readonly prompt: string;
  readonly timeoutMs: number;
  readonly calledOff: AbortSignal;
  readonly say: (doing: string) => void;
};

/** Asks for everything the agent has announced, in a turn of its own, and waits for each `ack`. */
export async function checkVerbs(check: string, run: AgentRun, options: VerbOptions): Promise<readonly Finding[]> {
  const { prompt, say, calledOff } = options;
  const findings: Finding[] = [];
  const can = (capability: AgentCapability): boolean => run.connection.capabilities.has(capability);
  const ask = async (verb: AgentVerb): Promise<void> => {
    say(`waits for the \`ack\` of ${verb}`);
    findings.push(verbFinding(`${check}.${verb}`, verb, await request(run, verb, options)));
  };
  await run.prompt(prompt, 'doctor-2');
  await untilUnderWay(run, calledOff);
  if (can('steer')) {
    const text = 'This is a check by `concerto doctor`: change nothing.';
    run.wire.requested('steer', 'doctor-steer');
    await run.connection.steer({ id: 'doctor-steer', text });
    findings.push(passed(`${check}.steer`, 'sent into the turn; it needs no `ack`'));
  }
  if (can('pause')) await ask('pause');
  if (can('pause') && can('resume')) await ask('resume');
  if (can('interrupt')) await ask('interrupt');
  if (can('interrupt') && can('cancel')) {
    await run.prompt(prompt, 'doctor-3');
    await untilUnderWay(run, calledOff);
  }
  if (can('cancel')) await ask('cancel');
  return findings;
}

/** Until its first message of the turn; what it announces by the way is no work yet. */
async function untilUnderWay(run: AgentRun, calledOff: AbortSignal): Promise<void> {
  const deadline = within(underWayMs, calledOff);
  for (;;) {
    const said = await run.next(deadline);
    if (said === undefined) return;
    const ask = askOf(said);
    if (ask !== undefined) await answer(run, ask);
    if (said.kind === 'message' || said.kind === 'exit') return;
  }
}

/** Asks, and reads until the `ack` of just this request. */
export async function request(
  run: AgentRun,
  verb: AgentVerb,
  { timeoutMs, calledOff }: { readonly timeoutMs: number; readonly calledOff: AbortSignal },
): Promise<Outcome> {
  const id = `doctor-${verb}`;
  const limitMs = Math.min(ackWithinMs[verb], timeoutMs);
  const started = Date.now();
  run.wire.requested(verb, id);
  try {
    await run.connection.request(verb, id);
  } catch {
    return { kind: 'gone' }; // Its pipe is closed: it has ended, or is about to.
  }
  let deadline = within(limitMs, calledOff);
  let isOver = false;
  for (;;) {
    const said = await run.next(deadline);
    if (said === undefined) return isOver ? { kind: 'too-late' } : { kind: 'silent', ms: limitMs };
    if (said.kind === 'exit') return { kind: 'gone' };
    if (said.kind === 'message' && said.message.type === 'ack' && said.message.in_reply_to_id === id)
      return { kind: 'acked', ms: Date.now() - started };
    const ask = askOf(said);
    if (ask !== undefined) await answer(run, ask);
    if (endOf(said) === undefined || isOver) continue;
    isOver = true;
    deadline = within(crossedMs, calledOff);
  }
}

function verbFinding(check: string, verb: AgentVerb, outcome: Outcome): Finding {
  switch (outcome.kind) {
    case 'acked':
      return passed(check, `\`ack\` in ${outcome.ms} ms`);
    case 'too-late':
      return passed(check, 'not tried: the turn was over before it could be asked (choose longer work with --prompt)');
    case 'gone':
      if (verb === 'cancel') return passed(check, 'ended itself');
      return failed(check, `its process ended instead of an \`ack\``, ackHelp(verb));
    case 'silent':
      return failed(check, `announced, but no \`ack\` within ${outcome.ms / 1000} s`, ackHelp(verb));
  }
}

function ackHelp(verb: AgentVerb): string {
  return `answer {"type":"${verb}","id":"X"} with {"type":"ack","in_reply_to":"${verb}","in_reply_to_id":"X"}, or do not announce \`${verb}\``;
}
