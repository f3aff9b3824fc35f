import type { Json, JsonObject } from '@concerto/base';
import {
  type AddToken,
  AgentList,
  type AnswerRequest,
  Audit,
  BlobRef,
  type ChangeWorktree,
  type DescribeSession,
  DoctorReport,
  EventPage,
  type ForkSession,
  GraphDocument,
  Insight,
  KeptAgentList,
  LifecycleAccepted,
  type LifecycleVerb,
  type LlmContent,
  Message,
  MessageList,
  type MessagePriority,
  OpenRequestList,
  Person,
  PolicyTried,
  PoolState,
  ProgramFile,
  ProgramList,
  ProgramSource,
  ProgramTests,
  type PutGraph,
  type PutProgramFile,
  type PutRules,
  type ReviseMessage,
  RuleList,
  RulesTried,
  SentMessage,
  Session,
  SessionAgent,
  SessionList,
  type SessionStatus,
  SettingsAccepted,
  type StartSession,
  type StopServer,
  Template,
  TemplateList,
  TokenAdded,
  TokenList,
  type TryPolicy,
  type TryRules,
  Worktree,
} from '@concerto/protocol';
import { type FollowedEvent, followSession } from './follow-session.ts';
import { type CallOptions, type ClientOptions, HttpCalls, segment } from './http-calls.ts';
import type { FollowOptions } from './read-frames.ts';
import { type WatchOptions, watchSessions } from './watch-sessions.ts';

/** A session to start, with plain texts for ids: the server checks them. */
export type StartRequest = Omit<StartSession, 'id'> & { readonly id?: string };

export type ConcertoClient = ReturnType<typeof concertoClient>;

/** Answers whose body says nothing that the status has not said. */
const done = { safeParse: () => ({ success: true as const, data: undefined }) };

/** Talks to a server, from a browser or from Node. Every method rejects with a `ClientError`. */
export function concertoClient(options: ClientOptions) {
  const calls = new HttpCalls(options);
  return {
    ...sessionCalls(calls),
    ...settingsCalls(calls),
    ...requestCalls(calls),
    ...messageCalls(calls),
    ...fileCalls(calls),
    ...houseCalls(calls),
    ...peopleCalls(calls),
    ...upkeepCalls(calls),
  };
}

type ListQuery = {
  readonly status?: SessionStatus;
  /** The children of one; without it, those that nobody opened. */
  readonly parent?: string;
  /** Each with whatever it opened, right after it. */
  readonly tree?: boolean;
  /** Those that were put away instead of the others. */
  readonly archived?: boolean;
  /** Those in which every word of it was said, by anybody. A page may be empty and have a `nextCursor`: there is more to look through. */
  readonly q?: string;
  readonly cursor?: string;
  readonly limit?: number;
};

function sessionCalls(calls: HttpCalls) {
  const control =
    (verb: LifecycleVerb) =>
    (id: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: at(id, `/${verb}`), answer: LifecycleAccepted });
  return {
    start: (request: StartRequest, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'sessions', body: request, answer: Session }),
    list: (query: ListQuery = {}, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: 'sessions', query, answer: SessionList }),
    get: (id: string, call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: at(id), answer: Session }),

    /** A new session with what was said in it, up to an event: whole turns; all of it unless given. */
    fork: (id: string, fork: ForkSession = {}, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: at(id, '/fork'), body: fork, answer: Session }),
    /** Its title, and whether it is put away. */
    describe: (id: string, change: DescribeSession, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'PATCH', path: at(id), body: change, answer: Session }),
    /** One that is over, with all it holds and opened. */
    delete: async (id: string, call: CallOptions = {}): Promise<void> => {
      await calls.call({ ...call, method: 'DELETE', path: at(id), answer: done });
    },

    /** See `followSession`: each event once and in order, over any number of connections. */
    follow: (id: string, follow: FollowOptions = {}): AsyncGenerator<FollowedEvent, void> =>
      followSession(calls, id, follow),
    /** Everything at once: see `watchSessions`. */
    watch: (watch: WatchOptions = {}) => watchSessions(calls, watch),
    events: (id: string, query: { readonly after?: number; readonly limit?: number } = {}, call: CallOptions = {}) =>
      calls.call({
        ...call,
        method: 'GET',
        path: at(id, '/events'),
        query: { ...query, format: 'json' },
        answer: EventPage,
      }),

    interrupt: control('interrupt'),
    pause: control('pause'),
    resume: control('resume'),
    cancel: control('cancel'),

    /** Who answers for it from now on; null: nobody does. */
    supervise: (id: string, supervisor: string | null, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'PUT', path: at(id, '/supervisor'), body: { supervisor }, answer: Session }),
    /** Everything that was asked and confirmed, or what became of one message. */
    audit: async (id: string, query: { readonly message?: string } = {}, call: CallOptions = {}) => {
      const entries: Audit['entries'] = [];
      for (let after = 0; ; ) {
        const asked = { ...query, ...(after === 0 ? {} : { after }) };
        const page = await calls.call({ ...call, method: 'GET', path: at(id, '/audit'), query: asked, answer: Audit });
        entries.push(...page.entries);
        after = page.position ?? after;
        if (page.more !== true) return { ...page, entries };
      }
    },
  };
}

/** What a session has of its own. */
function settingsCalls(calls: HttpCalls) {
  return {
    /** What its agent offers, and what of it may be set. */
    agent: (id: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: at(id, '/agent'), answer: SessionAgent }),
    /** Switches the model, the mode or the effort; a `settings` event says what came of it. */
    changeSettings: (id: string, params: JsonObject, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: at(id, '/settings'), body: { params }, answer: SettingsAccepted }),

    /** Merges the session's own checkout into what its repository has checked out, or takes it away. */
    changeWorktree: (id: string, change: ChangeWorktree, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: at(id, '/worktree'), body: change, answer: Worktree }),
  };
}

function requestCalls(calls: HttpCalls) {
  return {
    requests: (id: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: at(id, '/requests'), answer: OpenRequestList }),
    answer: async (
      id: string,
      request: string,
      response: Json,
      { reason, remember, ...call }: CallOptions & Omit<AnswerRequest, 'response'> = {},
    ): Promise<void> => {
      await calls.call({
        ...call,
        method: 'POST',
        path: at(id, `/requests/${segment(request)}`),
        body: {
          response,
          ...(reason === undefined ? {} : { reason }),
          ...(remember === undefined ? {} : { remember }),
        },
        answer: done,
      });
    },
  };
}

function messageCalls(calls: HttpCalls) {
  const send = (
    id: string,
    message: { readonly content: string | LlmContent; readonly priority?: MessagePriority; readonly id?: string },
    call: CallOptions = {},
  ): Promise<SentMessage> =>
    calls.call({ ...call, method: 'POST', path: at(id, '/messages'), body: message, answer: SentMessage });
  const revise = (id: string, message: string, revision: ReviseMessage, call: CallOptions = {}): Promise<Message> =>
    calls.call({
      ...call,
      method: 'PATCH',
      path: at(id, `/messages/${segment(message)}`),
      body: revision,
      answer: Message,
    });

  return {
    /** Puts a message into the queue; it is delivered when the agent is free. */
    send,
    /** Says it to the agent at once, or as soon as the agent allows. */
    steer: (id: string, content: string | LlmContent, call: CallOptions = {}) =>
      send(id, { content, priority: 'immediate' }, call),
    /** With `all` also everything that has left the queue. */
    messages: async (
      id: string,
      query: { readonly all?: boolean } = {},
      call: CallOptions = {},
    ): Promise<Pick<MessageList, 'pending' | 'history' | 'version'>> => {
      const history: Message[] = [];
      for (let after = 0; ; ) {
        const asked = { ...query, ...(after === 0 ? {} : { after }) };
        const path = at(id, '/messages');
        const page = await calls.call({ ...call, method: 'GET', path, query: asked, answer: MessageList });
        history.push(...(page.history ?? []));
        after = page.position ?? 0;
        const { pending, version } = page;
        if (page.more !== true) return { pending, version, ...(page.history === undefined ? {} : { history }) };
      }
    },
    editMessage: (id: string, message: string, content: string | LlmContent, call: CallOptions = {}) =>
      revise(id, message, { content }, call),
    promoteMessage: (id: string, message: string, call: CallOptions = {}) =>
      revise(id, message, { priority: 'immediate' }, call),
    /** For a message of which nobody knows whether the agent has seen it. */
    settleMessage: (id: string, message: string, uncertain: 'resend' | 'drop', call: CallOptions = {}) =>
      revise(id, message, { uncertain }, call),
    orderMessages: async (
      id: string,
      order: { readonly ids: readonly string[]; readonly version: number },
      call: CallOptions = {},
    ): Promise<void> => {
      await calls.call({ ...call, method: 'PUT', path: at(id, '/messages/order'), body: order, answer: done });
    },
    cancelMessage: (id: string, message: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'DELETE', path: at(id, `/messages/${segment(message)}`), answer: Message }),
  };
}

function fileCalls(calls: HttpCalls) {
  return {
    /** Keeps a file; what it gives is the `storedData` of a part of a message or an answer. */
    upload: (content: Blob | Uint8Array<ArrayBuffer>, mimeType: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'blobs', file: { content, mimeType }, answer: BlobRef }),
    /** Where a file is, for a link or an image of a page that has the cookie. */
    fileUrl: (handle: string, name?: string) => calls.address(`blobs/${segment(handle)}`, { name }).href,
  };
}

/** What there is to start sessions from, and how many may run. */
function houseCalls(calls: HttpCalls) {
  return {
    agents: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'agents', answer: AgentList }),
    /** What all sessions did in the last days; `offset` is how far the caller's clock is before UTC, in minutes. */
    insight: (query: { readonly days?: number; readonly offset?: number } = {}, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: 'insight', query, answer: Insight }),
    pool: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'pool', answer: PoolState }),
    configurePool: (max: number, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'PUT', path: 'pool', body: { max }, answer: PoolState }),

    rules: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'rules', answer: RuleList }),
    /** Replaces the rules of the store; those of the manifest stay. */
    putRules: (rules: PutRules, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'PUT', path: 'rules', body: rules, answer: RuleList }),
    tryRules: (tried: TryRules, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'rules/try', body: tried, answer: RulesTried }),
    /** What a policy would have said to what was asked before. */
    tryPolicy: (policy: TryPolicy, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'policies/try', body: policy, isSlow: true, answer: PolicyTried }),

    programs: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'programs', answer: ProgramList }),
    program: (name: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: `programs/${segment(name)}`, answer: ProgramSource }),
    putProgramFile: (name: string, file: PutProgramFile, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'PUT', path: `programs/${segment(name)}`, body: file, answer: ProgramFile }),
    testProgram: (name: string, call: CallOptions = {}) =>
      calls.call({
        ...call,
        method: 'POST',
        path: `programs/${segment(name)}/test`,
        isSlow: true,
        answer: ProgramTests,
      }),

    graph: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'graph', answer: GraphDocument }),
    /** Replaces it, if it is still at that version. */
    putGraph: (graph: PutGraph, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'PUT', path: 'graph', body: graph, answer: GraphDocument }),

    templates: (call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: 'templates', answer: TemplateList }),
    template: (name: string, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'GET', path: `templates/${segment(name)}`, answer: Template }),
    createTemplate: (template: Template, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'templates', body: template, answer: Template }),
    putTemplate: (template: Template, call: CallOptions = {}) =>
      calls.call({
        ...call,
        method: 'PUT',
        path: `templates/${segment(template.name)}`,
        body: template,
        answer: Template,
      }),
    deleteTemplate: async (name: string, call: CallOptions = {}): Promise<void> => {
      await calls.call({ ...call, method: 'DELETE', path: `templates/${segment(name)}`, answer: done });
    },
  };
}

/** What an operator does. */
function upkeepCalls(calls: HttpCalls) {
  return {
    /** Agents that outlive the server. */
    kept: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'kept', answer: KeptAgentList }),
    /** Starts each agent and asks it nothing: what is wrong, and what to do. It takes its time. */
    doctor: (call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'doctor', answer: DoctorReport, isSlow: true }),
    endKept: async (session: string, call: CallOptions = {}): Promise<void> => {
      await calls.call({ ...call, method: 'DELETE', path: `kept/${segment(session)}`, answer: done });
    },
    /** The server; its agents go on, unless they are to end too. */
    stopServer: async (wanted: StopServer = {}, call: CallOptions = {}): Promise<void> => {
      await calls.call({ ...call, method: 'POST', path: 'stop', body: wanted, answer: done });
    },
  };
}

/** Who may call. */
function peopleCalls(calls: HttpCalls) {
  return {
    /** Who the holder of this client's token is, and as what. */
    me: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'me', answer: Person }),
    tokens: (call: CallOptions = {}) => calls.call({ ...call, method: 'GET', path: 'tokens', answer: TokenList }),
    addToken: (wanted: AddToken, call: CallOptions = {}) =>
      calls.call({ ...call, method: 'POST', path: 'tokens', body: wanted, answer: TokenAdded }),
    /** Also ends what it has open. */
    revokeToken: async (name: string, call: CallOptions = {}): Promise<void> => {
      await calls.call({ ...call, method: 'DELETE', path: `tokens/${segment(name)}`, answer: done });
    },
  };
}

function at(id: string, rest = ''): string {
  return `sessions/${segment(id)}${rest}`;
}
