import { canFork } from '@concerto/agents';
import { canonicalJson, err, ok, type Result } from '@concerto/base';
import type { NewEntry } from '@concerto/log';
import {
  type FoldedEvent,
  type ForkOf,
  type ForkSession,
  type Session,
  SessionId,
  type SessionSettings,
  titleLengthMax,
} from '@concerto/protocol';
import { messageOf, type SessionState, type Wish } from '@concerto/session';
import { agentOfSession } from '../agent/agent-conversation.ts';
import type { SessionContents } from '../contents/session-contents.ts';
import { ofDomain, refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import type { Caller } from './caller.ts';
import { forkedEvents, readUpTo, wholeTurns } from './forked-events.ts';
import { forkedJournal } from './forked-journal.ts';
import { isSessionId, keyedIdLength, noSuchSession, startsCollection } from './session-wishes.ts';
import type { Sessions, SessionsOptions } from './sessions.ts';

export type ForkPorts = SessionsOptions & {
  readonly contents: SessionContents;
  readonly sessions: Pick<Sessions, 'get' | 'blobs'>;
};

/** What a new session takes over of the one that it is forked from. */
type Taken = {
  readonly forkOf: ForkOf;
  readonly events: readonly NewEntry[];
  readonly journal?: (messageId: string) => readonly NewEntry[];
  /** What a program goes on with. */
  readonly prompt?: string;
};

/** A new session that goes on where another one stood: with all that was said in it up to there, and nothing of what came after. */
export async function forkSession(
  ports: ForkPorts,
  source: string,
  request: ForkSession,
  caller: Caller,
): Promise<Result<Session, ServiceRefusal>> {
  const state = isSessionId(source) ? await ports.store.state(source) : undefined;
  if (state === undefined) return noSuchSession(source);
  const { key } = caller;
  const id = SessionId.parse(key === undefined ? ports.mintId('s') : `s_${key.slice(0, keyedIdLength)}`);
  const asked = canonicalJson(JSON.parse(JSON.stringify({ ...request, fork: source })));
  const known = await sameFork(ports, id, asked);
  if (known !== undefined) return known;
  const taken = await takeOver(ports, state, request);
  if (!taken.ok) return taken;
  const said = await firstWords(ports, state, request, taken.value);
  if (!said.ok) return said;
  const settings = settingsOf(state);
  if (!settings.ok) return settings;
  const slot =
    state.kind === 'program'
      ? ok('held' as const)
      : await ports.pool.reserve(id, { ifFull: 'reject', actor: caller.actor });
  if (!slot.ok) return slot;
  const { forkOf, events, journal } = taken.value;
  const { prompt, handles } = said.value;
  const wish: Wish = {
    ...inherited(state, ports),
    type: 'start',
    sessionId: id,
    forkOf,
    ...(prompt === undefined ? {} : { prompt }),
    ...(settings.value === undefined ? {} : { settings: settings.value }),
    slot: slot.value,
  };
  const command = { at: ports.clock.now(), actor: caller.actor, cause: key, trace: caller.trace, ...wish };
  const { blobs } = ports.sessions;
  const uses = blobs.usesOf(id, [...handles, ...(await blobs.usedBy(source))]);
  const executed = await ports.store.execute(id, command, {
    documents: [{ collection: startsCollection, key: id, value: asked }, ...uses],
    events,
    ...(journal === undefined || prompt === undefined ? {} : { journal: journal(prompt.messageId) }),
  });
  if (executed.ok) return ok((await ports.sessions.get(id)) ?? gone(id));
  const first = await sameFork(ports, id, asked);
  if (first !== undefined) return first;
  await ports.pool.release(id, 'the fork was refused');
  return 'code' in executed.error ? err(ofDomain(executed.error)) : noSuchSession(id);
}

function gone(id: string): never {
  throw new Error(`session ${id} was forked, and is not there`);
}

/** The same fork again, as a client that lost the answer asks for it. */
async function sameFork(
  { log, sessions }: ForkPorts,
  id: string,
  asked: string,
): Promise<Result<Session, ServiceRefusal> | undefined> {
  const session = await sessions.get(id);
  if (session === undefined) return undefined;
  if ((await log.getDocument(startsCollection, id))?.value === asked) return ok(session);
  return err(refusal('id_in_use', `the id ${JSON.stringify(id)} belongs to another session`));
}

async function takeOver(
  ports: ForkPorts,
  state: SessionState,
  { at, prompt }: ForkSession,
): Promise<Result<Taken, ServiceRefusal>> {
  const cannot = await whyNot(ports, state);
  if (cannot !== undefined) return err(refusal('cannot_fork', cannot));
  if (state.kind === 'program' && prompt !== undefined) {
    return err(refusal('cannot_fork', '`prompt`: a program goes on with what it was started with'));
  }
  const read = await readUpTo(ports.log, state.id, at);
  if (!read.ok) return read;
  if (state.kind === 'program') return await takeProgram(ports, state, read.value);
  const { entries: events, place, ...upTo } = forkedEvents(wholeTurns(read.value));
  if (upTo.turns === 0) {
    const where = at === undefined ? 'no turn of it is over yet' : `no turn of it was over by event ${at}`;
    return err(refusal('cannot_fork', `${where}: there is nothing to go on from`));
  }
  const forkOf = { session: state.id, ...upTo };
  if (state.kind === 'assistant') return ok({ forkOf, events });
  if (place === undefined) {
    const why = `its agent has not told where its conversation stood: a turn that ends well does`;
    return err(refusal('cannot_fork', why));
  }
  return ok({ forkOf: { ...forkOf, conversation: place }, events });
}

/** Why there is no conversation to go on from, whatever was said. */
async function whyNot(ports: ForkPorts, state: SessionState): Promise<string | undefined> {
  if (state.supervises !== undefined) return 'a supervisor answers for one session: it cannot be forked';
  if (state.kind !== 'agent') return undefined;
  const entry = await agentOfSession(ports, state);
  if (entry === undefined) return `there is no agent ${JSON.stringify(state.agent)} any more`;
  if (canFork(entry.spec)) return undefined;
  const { protocol = 'ndjson' } = entry.spec;
  const why =
    protocol === 'ndjson'
      ? 'an agent of our own wire keeps its conversation itself'
      : `a conversation over \`${protocol}\` cannot be begun from another one`;
  return `agent ${JSON.stringify(state.agent)} cannot be forked: ${why}; agents of \`claude\` and \`codex\`, assistants and programs can`;
}

/** A program is run again with its journal, as after a restart: it is given what it was given, and goes on from there. */
async function takeProgram(
  { log }: ForkPorts,
  state: SessionState,
  heard: Parameters<typeof forkedEvents>[0],
): Promise<Result<Taken, ServiceRefusal>> {
  const until = Date.parse(heard.at(-1)?.event.at ?? '') || 0;
  const answers = heard.filter(({ event }) => isAnswer(event)).length;
  const taken = await forkedJournal(log, state.id, { until, answers });
  if (!taken.ok) return taken;
  const { run, entries, anewFrom } = taken.value;
  const { entries: events, at, turns } = forkedEvents(beforeCall(heard, anewFrom));
  const { version } = state;
  const prompt = messageOf(state, run)?.content;
  if (version === undefined || prompt === undefined) {
    return err(refusal('cannot_fork', 'what the program was started with is not known any more'));
  }
  const journal = (messageId: string): readonly NewEntry[] => [
    { type: 'run', data: JSON.stringify({ run: messageId }) },
    ...entries,
  ];
  return ok({ forkOf: { session: state.id, at, turns, version }, events, journal, prompt });
}

/** Of a question of the program itself; of the session's own it hears nothing. */
function isAnswer(event: FoldedEvent): boolean {
  return event.type === 'requestSettled' && event.outcome === 'answered' && !event.requestId.startsWith('budget-');
}

/** What was shown before the call that is made anew. */
function beforeCall<Heard extends Parameters<typeof forkedEvents>[0][number]>(
  heard: readonly Heard[],
  begunAt: number | undefined,
): readonly Heard[] {
  if (begunAt === undefined) return heard;
  const call = heard.findIndex(
    ({ event }) => event.type === 'functionCall' && event.childSession !== undefined && Date.parse(event.at) >= begunAt,
  );
  return call === -1 ? heard : heard.slice(0, call);
}

type FirstWords = {
  readonly prompt?: { readonly messageId: string; readonly content: string };
  readonly handles: readonly string[];
};

async function firstWords(
  { contents, mintId }: ForkPorts,
  state: SessionState,
  { prompt }: ForkSession,
  taken: Taken,
): Promise<Result<FirstWords, ServiceRefusal>> {
  const words = taken.prompt ?? prompt;
  if (words === undefined) return ok({ handles: [] });
  const said = await contents.to(state, words);
  if (!said.ok) return said;
  const { text: content, objective, handles } = said.value;
  const messageId = mintId('m');
  return ok({ prompt: { messageId, content, ...(objective === undefined ? {} : { objective }) }, handles });
}

/** What it is and may use, as at its start; what was allowed "for this session" was not allowed for another. */
function inherited({ kind, agent, title, code, template, input, tools, ...state }: SessionState, ports: ForkPorts) {
  const { supervisor, budget } = state;
  const isThere = supervisor !== undefined && ports.catalog.find('program', supervisor) !== undefined;
  return {
    kind,
    agent,
    title: title.startsWith(forkTitle) ? title : `${forkTitle}${title}`.slice(0, titleLengthMax),
    once: kind === 'program',
    code,
    template,
    input,
    tools,
    supervisor: isThere ? supervisor : undefined,
    budget: budget?.amount,
  };
}

const forkTitle = 'Fork of ';

/** It works where the other one does; a checkout stays the other's to merge or to remove. */
function settingsOf({ settings }: SessionState): Result<SessionSettings | undefined, ServiceRefusal> {
  if (settings === undefined) return ok(undefined);
  if (settings.worktree?.state === 'removed') {
    return err(refusal('cannot_fork', `the checkout that it worked in, ${settings.worktree.branch}, was removed`));
  }
  const { worktree, params, ...own } = settings;
  const { worktree: _asked, ...kept } = params ?? {};
  return ok({
    ...own,
    ...(worktree === undefined ? {} : { workingDir: own.workingDir ?? worktree.path }),
    ...(Object.keys(kept).length === 0 ? {} : { params: kept }),
  });
}
