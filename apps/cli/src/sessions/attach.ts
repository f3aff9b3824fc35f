import { createInterface, type Interface } from 'node:readline/promises';
import type { Json } from '@concerto/base';
import { ClientError, type ConcertoClient, type FollowedEvent } from '@concerto/client';
import { type SuspendEvent, textOf } from '@concerto/protocol';
import { paint } from './paint.ts';
import { print } from './show.ts';

/**
 * Shows a session live and, on a terminal, answers its questions. Returns the exit code: 0 when the session went
 * well, 1 when it failed. Ctrl-C leaves the session running.
 */
export async function attach(client: ConcertoClient, id: string, options: { readonly json: boolean }): Promise<number> {
  const leave = new AbortController();
  process.once('SIGINT', () => leave.abort());
  const settled = new Set<string>();
  const terminal =
    process.stdin.isTTY && !options.json
      ? createInterface({ input: process.stdin, output: process.stdout })
      : undefined;
  terminal?.on('SIGINT', () => leave.abort());
  let failed = false;
  try {
    const open = new Set((await client.requests(id)).requests.map((request) => request.requestId));
    const onState = (state: { readonly kind: string }): void => {
      if (state.kind === 'waiting') process.stderr.write('concerto: the connection was lost; trying again …\n');
    };
    const head = (await client.get(id)).position;
    for await (const event of client.follow(id, { signal: leave.signal, onState })) {
      if (options.json) print(JSON.stringify(event));
      else describe(event);
      if (event.type === 'error') failed = true;
      if (event.type === 'requestSettled') settled.add(event.requestId);
      const isAsked =
        isSuspend(event) && (event.seq > head || open.has(event.requestId)) && !settled.has(event.requestId);
      if (isAsked && terminal !== undefined) await answer(client, id, { event, terminal, signal: leave.signal });
    }
  } finally {
    terminal?.close();
  }
  if (leave.signal.aborted && !options.json)
    print(`\nDetached; the session goes on. Back: concerto sessions attach ${id}`);
  return failed ? 1 : 0;
}

type Asked = { readonly event: SuspendEvent; readonly terminal: Interface; readonly signal: AbortSignal };

async function answer(client: ConcertoClient, id: string, { event, terminal, signal }: Asked): Promise<void> {
  const given = await terminal.question(paint('bold', promptOf(event)), { signal }).catch(() => undefined);
  if (given === undefined) return;
  try {
    await client.answer(id, event.requestId, responseOf(event, given.trim()));
  } catch (cause) {
    if (!(cause instanceof ClientError) || cause.problem === undefined) throw cause;
    print(paint('dim', `(${cause.message})`)); // Somebody else answered, or it was withdrawn.
  }
}

function promptOf(event: SuspendEvent): string {
  if (event.type === 'queryConsent') return 'approve? [y/n] ';
  return event.type === 'waitForChoice' ? 'your choice (number or text): ' : 'your answer: ';
}

function responseOf(event: SuspendEvent, given: string): Json {
  if (event.type === 'queryConsent') return /^(y|yes|true|1)$/i.test(given);
  if (event.type === 'waitForChoice') {
    const choice =
      event.choices[Number(given) - 1] ??
      event.choices.find((candidate) => textOf(candidate.content).toLowerCase() === given.toLowerCase());
    if (choice !== undefined) return { selected: [choice.id] };
  }
  return { input: { role: 'user', parts: [{ text: given }] } };
}

function isSuspend(
  event: FollowedEvent,
): event is Extract<FollowedEvent, { requestId: string; type: SuspendEvent['type'] }> {
  return ['waitForInput', 'waitForChoice', 'queryConsent', 'readGraph', 'inspectNode', 'applyEdits'].includes(
    event.type,
  );
}

function describe(event: FollowedEvent): void {
  switch (event.type) {
    case 'start':
      return print(`${paint('dim', '▶')} ${textOf(event.objective)}`);
    case 'functionCallUpdate':
      return event.status === null ? undefined : print(paint('dim', `  ${event.status}`));
    case 'content':
      return print(textOf(event.content) || JSON.stringify(event.content.parts));
    case 'subagentAddJson':
      return event.title === 'progress'
        ? undefined
        : print(paint('dim', `  ${event.title}: ${JSON.stringify(event.data)}`));
    case 'subagentError':
      return print(paint('red', `  ${event.error.$error}`));
    case 'waitForInput':
      return print(paint('yellow', `? ${textOf(event.prompt)}`));
    case 'waitForChoice': {
      const choices = event.choices.map((choice, index) => `    ${index + 1}. ${textOf(choice.content)}`);
      return print([paint('yellow', `? ${textOf(event.prompt)}`), ...choices].join('\n'));
    }
    case 'queryConsent':
      return print(paint('yellow', `! ${consentText(event)}${risk(event.scope.risk_level)}`));
    case 'requestSettled':
      return print(paint('dim', `  ${event.outcome}${event.by === undefined ? '' : ` by ${event.by}`}`));
    case 'status':
      return print(paint('dim', `  [${event.status}]${event.reason === undefined ? '' : ` ${event.reason}`}`));
    case 'error':
      return print(paint('red', `✗ ${event.message}`));
    case 'complete':
      return print(paint('green', '✓ done'));
    default:
      return undefined; // Bookkeeping that a person does not follow; `--json` shows it.
  }
}

function consentText(event: Extract<SuspendEvent, { type: 'queryConsent' }>): string {
  const { description } = event.scope;
  return typeof description === 'string' ? description : event.consentType;
}

function risk(level: unknown): string {
  return typeof level === 'string' ? ` (risk: ${level})` : '';
}
