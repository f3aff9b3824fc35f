import { OverviewEvent, readStored } from '@concerto/protocol';
import * as z from 'zod';

export const noticeKinds = ['request', 'failed', 'budget'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** What somebody is told, once: the id is made of what it is about. */
export const Notice = z.looseObject({
  id: z.string(),
  type: z.enum(noticeKinds),
  /** When it came to be so. */
  at: z.string(),
  session: z.string(),
  /** The top of its tree, where that is another. */
  root: z.string().optional(),
  requestId: z.string().optional(),
  title: z.string().optional(),
  agent: z.string().optional(),
  /** What is asked, or why it failed. */
  detail: z.string().optional(),
});
export type Notice = z.infer<typeof Notice>;

/** `done`: who has it already, where there are several to tell. */
const Owed = z.looseObject({
  notice: Notice,
  attempts: z.number().int(),
  notBefore: z.number(),
  done: z.array(z.string()),
});
export type Owed = z.infer<typeof Owed>;

/** All that has to be known after a restart: how far the stream was read, who waits, what is owed and what was told. */
export const NoticeState = z.looseObject({
  position: z.number().int(),
  waiting: z.array(Notice),
  owed: z.array(Owed),
  told: z.array(z.string()),
});
export type NoticeState = z.infer<typeof NoticeState>;

const toldMax = 2_000;
const owedMax = 1_000;
const waitingMax = 5_000;

export type NoticeRules = { readonly kinds: ReadonlySet<NoticeKind>; readonly afterMs: number };

const Stamped = z.looseObject({ at: z.string() });

/** What follows from an entry of the overview's stream; one of an unknown shape says nothing. */
export function noticed(state: NoticeState, entry: { readonly position: number; readonly data: string }): NoticeState {
  const json: unknown = JSON.parse(entry.data);
  const { at, seq: _seq, ...rest } = Stamped.parse(json);
  const event = eventIn(rest);
  const next = { ...state, position: entry.position };
  return event === undefined ? next : after(next, event, at);
}

function eventIn(stored: unknown): OverviewEvent | undefined {
  try {
    return readStored(OverviewEvent, stored);
  } catch {
    return undefined; // Of a newer version that tells of something else.
  }
}

function after(state: NoticeState, event: OverviewEvent, at: string): NoticeState {
  switch (event.type) {
    case 'session':
      return ofRow(state, event.summary);
    case 'request': {
      const { session, root, requestId, request } = event;
      const isBudget = request.type === 'queryConsent' && request.consentType === 'budget';
      const detail = detailOf(request);
      return waits(state, { session, root, requestId, at, isBudget, ...(detail === undefined ? {} : { detail }) });
    }
    case 'requestSettled':
      return without(state, (notice) => notice.session === event.session && notice.requestId === event.requestId);
    case 'sessionDeleted':
      return without(state, (notice) => notice.session === event.session);
    case 'graph':
      return state;
  }
}

type Row = Extract<OverviewEvent, { type: 'session' }>['summary'];

/** A row tells again what a crash may have kept from the stream. */
function ofRow(state: NoticeState, row: Row): NoticeState {
  const { id: session, root, title, agent, waiting, status, error, reason, updatedAt } = row;
  const named = {
    ...state,
    waiting: state.waiting.map((notice) => (notice.session === session ? { ...notice, title, agent } : notice)),
    owed: state.owed.map((owed) =>
      owed.notice.session === session ? { ...owed, notice: { ...owed.notice, title, agent } } : owed,
    ),
  };
  if (status === 'failed') {
    const detail = error?.message ?? reason;
    const whose = { session, ...(root === undefined ? {} : { root }), title, agent };
    const notice = { id: `failed/${session}`, type: 'failed' as const, at: updatedAt, ...whose };
    return owe(
      without(named, (one) => one.session === session),
      { ...notice, ...(detail === undefined ? {} : { detail }) },
    );
  }
  if (waiting?.requestId === undefined) return without(named, (notice) => notice.session === session);
  if (waiting.asked !== 'person') return named;
  const { requestId, since: at, detail } = waiting;
  return waits(named, { session, root, requestId, at, detail, title, agent, isBudget: /^budget-\d+$/.test(requestId) });
}

type Waits = {
  readonly session: string;
  readonly root?: string | undefined;
  readonly requestId: string;
  readonly at: string;
  readonly isBudget: boolean;
  readonly detail?: string;
  readonly title?: string;
  readonly agent?: string;
};

function waits(state: NoticeState, { isBudget, root, ...about }: Waits): NoticeState {
  const type = isBudget ? ('budget' as const) : ('request' as const);
  const notice = {
    ...about,
    id: `${type}/${about.session}/${about.requestId}`,
    type,
    ...(root === undefined ? {} : { root }),
  };
  if (isBudget) return owe(state, notice);
  const isKnown = state.told.includes(notice.id) || state.waiting.some(({ id }) => id === notice.id);
  if (isKnown || state.waiting.length >= waitingMax) return state;
  return { ...state, waiting: [...state.waiting, notice] };
}

function without(state: NoticeState, isOver: (notice: Notice) => boolean): NoticeState {
  const waiting = state.waiting.filter((notice) => !isOver(notice));
  return waiting.length === state.waiting.length ? state : { ...state, waiting };
}

function owe(state: NoticeState, notice: Notice): NoticeState {
  if (state.told.includes(notice.id)) return state;
  const owed = [...state.owed, { notice, attempts: 0, notBefore: 0, done: [] }].slice(-owedMax);
  return { ...state, owed, told: [...state.told, notice.id].slice(-toldMax) };
}

/** Whoever has waited for long enough is owed now. */
export function becomeDue(state: NoticeState, now: number, { afterMs, kinds }: NoticeRules): NoticeState {
  const due = state.waiting.filter(({ at }) => Date.parse(at) + afterMs <= now);
  const rest = without(state, (notice) => due.includes(notice));
  const owing = due.reduce(owe, rest);
  return { ...owing, owed: owing.owed.filter(({ notice }) => kinds.has(notice.type)) };
}

/** When there is something to do if nothing else happens. */
export function nextLook({ waiting, owed }: NoticeState, { afterMs }: NoticeRules): number | undefined {
  const times = [...waiting.map(({ at }) => Date.parse(at) + afterMs), ...owed.map(({ notBefore }) => notBefore)];
  return times.length === 0 ? undefined : Math.min(...times);
}

function detailOf(request: Extract<OverviewEvent, { type: 'request' }>['request']): string | undefined {
  if (request.type === 'queryConsent') {
    const { description } = request.scope;
    return typeof description === 'string' ? description : request.consentType;
  }
  if (request.type !== 'waitForInput' && request.type !== 'waitForChoice') return undefined;
  return request.prompt.parts
    .flatMap((part) => ('text' in part && typeof part.text === 'string' ? part.text : []))
    .join('\n');
}
