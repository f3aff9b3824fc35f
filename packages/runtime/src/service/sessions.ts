import { err, ok, type Result } from '@concerto/base';
import { Blobs, type DocumentWrite, type EventLog } from '@concerto/log';
import {
  type AgentInfo,
  type Audit,
  type DescribeSession,
  type ForkSession,
  type LifecycleAccepted,
  type LifecycleVerb,
  type Message,
  type MessageList,
  type OpenRequestList,
  type OrderMessages,
  type PoolState,
  type ReviseMessage,
  type SendMessage,
  type SentMessage,
  type Session,
  SessionId,
  type SessionList,
  type SetSupervisor,
  type StartSession,
  type Template,
} from '@concerto/protocol';
import {
  messageListView,
  messageOf,
  type PageOf,
  requestsView,
  type SessionCommand,
  type SessionState,
  sessionView,
  statusOf,
  type Wish,
} from '@concerto/session';
import { agentInfos } from '../agent/agent-capabilities.ts';
import { canContinue } from '../agent/agent-conversation.ts';
import { askWithin } from '../answer/route-request.ts';
import type { RuleBook } from '../answer/rule-book.ts';
import { Trials } from '../answer/trials.ts';
import type { Catalog } from '../catalog.ts';
import { nothing, SessionContents } from '../contents/session-contents.ts';
import { isLeftAlone } from '../owner/cancel-below.ts';
import type { PoolKeeper } from '../owner/pool-keeper.ts';
import type { Clock, Environment, MintId } from '../ports.ts';
import type { Machines } from '../program/machine/machine.ts';
import { ofDomain, refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { SessionIndex, type SessionQuery } from '../session/session-index.ts';
import type { SessionStore } from '../session/session-store.ts';
import { planStart } from '../start/plan-start.ts';
import { readySupervisor } from '../start/ready-supervisor.ts';
import { Templates } from '../start/templates.ts';
import { type AuditQuery, auditPage } from './audit-page.ts';
import type { Caller } from './caller.ts';
import { type Deciding, deleteSession } from './delete-session.ts';
import { forkSession } from './fork-session.ts';
import { type Answer, type AnswerTarget, giveAnswer } from './give-answer.ts';
import { messageTarget, passedOn, stateFor } from './message-target.ts';
import { passOnControl } from './pass-on-control.ts';
import {
  isSessionId,
  keyedIdLength,
  noSuchMessage,
  noSuchSession,
  refusedStopping,
  revisionWish,
  startsCollection,
  startText,
} from './session-wishes.ts';
import { SettingsCalls } from './settings-calls.ts';

export type SessionsOptions = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly pool: PoolKeeper;
  readonly rules: RuleBook;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly mintId: MintId;
  /** Where secrets are looked up; our own variables unless given. */
  readonly environment?: Environment;
  readonly folders?: readonly string[];
  /** Where programs are tried; in this thread unless given. */
  readonly machines?: Machines;
};

/** `messageId` is what the caller calls the prompt. */
type Start = StartSession & { readonly messageId?: string };

/** What users can ask of sessions, whoever carries the asking: HTTP, a terminal, a test. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #templates: Templates;
  readonly #index: SessionIndex;
  /** Files that messages and answers refer to. */
  readonly blobs: Blobs;
  readonly #contents: SessionContents;
  readonly settings: SettingsCalls;
  isStopping = false;
  /** What is answered without a person. */
  readonly rules: RuleBook;
  readonly trials: Trials;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.rules = options.rules;
    this.trials = new Trials(options);
    this.#templates = new Templates(options.log, options.catalog);
    this.#index = new SessionIndex(options.log);
    this.blobs = new Blobs(options.log, () => options.clock.now());
    this.#contents = new SessionContents(options, this.blobs);
    this.settings = new SettingsCalls(options, (id, caller, wish) => this.#execute(id, caller, wish));
  }

  /** From now on nothing new is taken; what runs is handed over by its runner. */
  stopTaking(): void {
    this.isStopping = true;
  }

  async start({ messageId: proposed, ...request }: Start, caller: Caller): Promise<Result<Session, ServiceRefusal>> {
    if (this.isStopping) return refusedStopping();
    const template = request.template === undefined ? undefined : await this.#templates.get(request.template);
    const { catalog, environment = process.env } = this.#options;
    const planned = planStart(request, { template, catalog, environment });
    if (!planned.ok) return planned;
    const plan = planned.value;
    const named = await readySupervisor(request.supervisor, catalog);
    if (!named.ok) return named;
    const said = await this.#contents.first(plan);
    if (!said.ok) return said;
    const { text: content, objective, handles } = said.value;
    const id = request.id ?? SessionId.parse(this.#idFor('s', caller));
    const known = await this.#sameStart(id, request);
    if (known !== undefined) return known;
    // A program holds no place of the pool: its agents do.
    const slot =
      plan.kind === 'program'
        ? ok('held' as const)
        : await this.#options.pool.reserve(id, { ifFull: request.ifFull ?? 'reject', actor: caller.actor });
    if (!slot.ok) return slot;
    const messageId = proposed ?? this.#options.mintId('m');
    const settings = await this.settings.forStart(id, request, plan.entry);
    if (!settings.ok) return settings;
    const wish: Wish = {
      type: 'start',
      sessionId: id,
      kind: plan.kind,
      agent: plan.name,
      title: plan.title,
      // A program that has finished has nothing more to say.
      once: request.once ?? plan.kind === 'program',
      prompt: { messageId, content, ...(objective === undefined ? {} : { objective }) },
      ...(request.template === undefined ? {} : { template: request.template }),
      ...(request.input === undefined ? {} : { input: request.input }),
      ...(plan.tools === undefined ? {} : { tools: plan.tools }),
      ...(plan.budget === undefined ? {} : { budget: plan.budget }),
      ...(plan.supervisor === undefined ? {} : { supervisor: plan.supervisor }),
      ...(request.rules === undefined ? {} : { rules: request.rules }),
      ...(settings.value === undefined ? {} : { settings: settings.value }),
      slot: slot.value,
    };
    const remembered = { collection: startsCollection, key: id, value: startText(request) };
    const started = await this.#execute(id, caller, wish, [remembered, ...this.blobs.usesOf(id, handles)]);
    if (!started.ok) {
      // Two starts under one id: the slot belongs to the one that was first.
      const first = await this.#sameStart(id, request);
      if (first === undefined) await this.#options.pool.release(id, 'the start was refused');
      return first ?? started;
    }
    if (slot.value === 'wanted') await this.#options.pool.admitIfGranted(id);
    return ok(await this.#view(id, started.value));
  }

  /** A new session with what was said in another one up to there. */
  async fork(id: string, request: ForkSession, caller: Caller): Promise<Result<Session, ServiceRefusal>> {
    if (this.isStopping) return refusedStopping();
    return await forkSession({ ...this.#options, contents: this.#contents, sessions: this }, id, request, caller);
  }

  /** The run wire: a session that ends with its first result, with the first agent when none is named. */
  async startRun(request: StartSession, caller: Caller): Promise<Result<Session, ServiceRefusal>> {
    const named = request.agent !== undefined || request.program !== undefined || request.assistant !== undefined;
    const [first] = this.#options.catalog.list();
    const target = named || first === undefined ? request : { ...request, [first.kind]: first.name };
    return await this.start({ ...target, prompt: target.prompt ?? nothing, once: true }, caller);
  }

  /** Those that nobody opened, or the children of one; `tree` adds to each whatever it opened, right after it. */
  async list(query: SessionQuery): Promise<SessionList> {
    return await this.#index.list(query);
  }

  async exists(id: string): Promise<boolean> {
    return (await this.#state(id)) !== undefined;
  }

  async get(id: string): Promise<Session | undefined> {
    const state = await this.#state(id);
    return state === undefined ? undefined : await this.#view(id, state);
  }

  async messages(id: string, query: { readonly history?: PageOf } = {}): Promise<MessageList | undefined> {
    const state = await this.#state(id);
    return state === undefined ? undefined : messageListView(state, query.history);
  }

  async send(id: string, message: SendMessage, caller: Caller): Promise<Result<SentMessage, ServiceRefusal>> {
    if (this.isStopping) return refusedStopping();
    const named = message.id ?? (caller.key === undefined ? undefined : this.#idFor('m', caller));
    const { log, store, clock } = this.#options;
    const state = await stateFor(store, id, message.content);
    const target = await messageTarget({ log, store, index: this.#index }, id, { state, named });
    if (!target.ok) return target;
    const session = target.value;
    const said = await this.#contents.to(session === id ? state : await this.#state(session), message.content);
    if (!said.ok) return said;
    const { text: content, objective, handles } = said.value;
    const messageId = named ?? this.#options.mintId('m');
    const priority = message.priority ?? 'queued';
    const wish: Wish = { type: 'enqueue', messageId, content, objective, priority, source: 'user' };
    const documents = [...this.blobs.usesOf(session, handles), ...passedOn({ id, named }, session, clock.now())];
    const sent = await this.#onMessage({ session, message: messageId }, caller, wish, documents);
    return sent.ok && session !== id ? ok({ ...sent.value, session }) : sent;
  }

  async revise(
    target: { readonly session: string; readonly message: string },
    revision: ReviseMessage,
    caller: Caller,
  ): Promise<Result<Message, ServiceRefusal>> {
    if (!('content' in revision)) return await this.#onMessage(target, caller, revisionWish(target.message, revision));
    const said = await this.#contents.to(await this.#state(target.session), revision.content);
    if (!said.ok) return said;
    const { text: content, objective, handles } = said.value;
    const wish: Wish = { type: 'edit', messageId: target.message, content, objective };
    return await this.#onMessage(target, caller, wish, this.blobs.usesOf(target.session, handles));
  }

  async unsend(
    target: { readonly session: string; readonly message: string },
    caller: Caller,
  ): Promise<Result<Message, ServiceRefusal>> {
    return await this.#onMessage(target, caller, { type: 'cancel-message', messageId: target.message });
  }

  async order(id: string, order: OrderMessages, caller: Caller): Promise<Result<MessageList, ServiceRefusal>> {
    const executed = await this.#execute(id, caller, { type: 'reorder', ids: order.ids, version: order.version });
    return executed.ok ? ok(messageListView(executed.value)) : executed;
  }

  async control(id: string, kind: LifecycleVerb, caller: Caller): Promise<Result<LifecycleAccepted, ServiceRefusal>> {
    const requestId = this.#idFor('c', caller);
    const before = kind === 'resume' || kind === 'cancel' ? await this.#state(id) : undefined;
    const isCut = kind === 'resume' && (await canContinue(this.#options.log, before));
    const goOn = isCut ? this.#idFor('m', caller) : undefined;
    const state = (of: string): Promise<SessionState | undefined> => this.#state(of);
    const alone = kind === 'cancel' && before !== undefined && (await isLeftAlone(before, state));
    const executed = await this.#execute(id, caller, { type: 'control', kind, requestId, goOn, alone });
    if (!executed.ok) return executed;
    const execute = (child: string, wish: Wish): Promise<unknown> => this.#execute(child, caller, wish);
    const ports = { state, execute, now: () => this.#options.clock.now() };
    const after = await passOnControl({ kind, requestId, before, after: executed.value }, ports);
    return ok({ status: statusOf(after), requestId });
  }

  /** Another program answers for it from now on, or none does. */
  async supervise(id: string, { supervisor }: SetSupervisor, caller: Caller): Promise<Result<Session, ServiceRefusal>> {
    const known = await readySupervisor(supervisor, this.#options.catalog);
    if (!known.ok) return known;
    const withinMs = known.value === undefined ? undefined : askWithin(await this.#state(id), this.#options.catalog);
    const executed = await this.#execute(id, caller, { type: 'supervise', supervisor: known.value, withinMs });
    return executed.ok ? ok(await this.#view(id, executed.value)) : executed;
  }

  /** Its title, and whether it is put away. */
  async describe(id: string, change: DescribeSession, caller: Caller): Promise<Result<Session, ServiceRefusal>> {
    const executed = await this.#execute(id, caller, { type: 'describe', ...change });
    return executed.ok ? ok(await this.#view(id, executed.value)) : executed;
  }

  /** Really: of a session that is over, and of those that it opened, nothing is left but who deleted it. */
  async delete(id: string, caller: Caller): Promise<Result<void, ServiceRefusal>> {
    const decide: Deciding = (session, documents) => this.#execute(session, caller, { type: 'delete' }, documents);
    const { log, store } = this.#options;
    return isSessionId(id) ? await deleteSession(id, { log, store, blobs: this.blobs, decide }) : noSuchSession(id);
  }

  async requests(id: string): Promise<OpenRequestList | undefined> {
    const state = await this.#state(id);
    return state === undefined ? undefined : { requests: [...requestsView(state)] };
  }

  async answer(target: AnswerTarget, answer: Answer, caller: Caller): Promise<Result<void, ServiceRefusal>> {
    const state = await this.#state(target.session);
    const taken = await this.#contents.takeAnswer(answer.response, state);
    if (!taken.ok) return taken;
    const { response, handles } = taken.value;
    const execute = (wish: Wish): Promise<Result<SessionState, ServiceRefusal>> =>
      this.#execute(target.session, caller, wish, this.blobs.usesOf(target.session, handles));
    const given = { target, answer: { ...answer, response }, state, by: caller.actor };
    return await giveAnswer({ ...this.#options, execute }, given);
  }

  /** A page of everything, or of what became of one message. */
  async audit(id: string, query: AuditQuery = {}): Promise<Audit | undefined> {
    return (await this.exists(id)) ? await auditPage(this.#options.log, id, query) : undefined;
  }

  async pool(): Promise<PoolState> {
    return await this.#options.pool.view();
  }

  async configurePool(max: number, actor: string): Promise<PoolState> {
    return await this.#options.pool.configure(max, actor);
  }

  async agents(): Promise<readonly AgentInfo[]> {
    return await agentInfos(this.#options.log, this.#options.catalog);
  }

  async templates(): Promise<readonly Template[]> {
    return await this.#templates.list();
  }

  async template(name: string): Promise<Template | undefined> {
    return await this.#templates.get(name);
  }

  async createTemplate(template: Template, { key }: Caller): Promise<Result<Template, ServiceRefusal>> {
    return await this.#templates.create(template, { mayBeRepeat: key !== undefined });
  }

  async putTemplate(name: string, template: Template): Promise<Result<Template, ServiceRefusal>> {
    return await this.#templates.put(name, template);
  }

  async deleteTemplate(name: string): Promise<boolean> {
    return await this.#templates.delete(name);
  }

  /** The same wish with the same key names the same thing, even when a crash fell between acting and answering. */
  #idFor(prefix: string, { key }: Caller): string {
    return key === undefined ? this.#options.mintId(prefix) : `${prefix}_${key.slice(0, keyedIdLength)}`;
  }

  async #onMessage(
    target: { readonly session: string; readonly message: string },
    caller: Caller,
    wish: Wish,
    documents: readonly DocumentWrite[] = [],
  ): Promise<Result<Message, ServiceRefusal>> {
    const executed = await this.#execute(target.session, caller, wish, documents);
    if (!executed.ok) return executed;
    const message = messageOf(executed.value, target.message);
    return message === undefined ? noSuchMessage(target.message) : ok(message);
  }

  async #execute(
    id: string,
    caller: Caller,
    wish: Wish,
    documents: readonly DocumentWrite[] = [],
  ): Promise<Result<SessionState, ServiceRefusal>> {
    if (!isSessionId(id)) return noSuchSession(id);
    const command: SessionCommand = {
      at: this.#options.clock.now(),
      actor: caller.actor,
      cause: caller.key,
      trace: caller.trace,
      ...wish,
    };
    const executed = await this.#options.store.execute(id, command, { documents });
    if (executed.ok) return ok(executed.value.state);
    // Users write without a fence, so only the domain can refuse them.
    return 'code' in executed.error ? err(ofDomain(executed.error)) : noSuchSession(id);
  }

  async #state(id: string): Promise<SessionState | undefined> {
    return isSessionId(id) ? await this.#options.store.state(id) : undefined;
  }

  async #view(id: string, state: SessionState): Promise<Session> {
    const view = sessionView(state, await this.#options.log.head(id, 'events'));
    if (view.waiting?.for !== 'slot') return view;
    const line = await this.#options.pool.placeInLine(id);
    if (line === undefined) return view;
    const detail = `${view.waiting.detail}; number ${line.place} of ${line.of} in line`;
    return { ...view, waiting: { ...view.waiting, detail } };
  }

  /** A proposed id that is taken: the same start again is answered again, another one is refused. */
  async #sameStart(id: string, request: StartSession): Promise<Result<Session, ServiceRefusal> | undefined> {
    const state = await this.#state(id);
    if (state === undefined) return undefined;
    const stored = await this.#options.log.getDocument(startsCollection, id);
    if (stored?.value === startText(request)) return ok(await this.#view(id, state));
    return err(refusal('id_in_use', `the id ${JSON.stringify(id)} belongs to another session`));
  }
}
