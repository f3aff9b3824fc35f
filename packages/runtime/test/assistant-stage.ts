import { createModels, type ModelsOptions } from '@concerto/models';
import { type Script, type ScriptedModelServer, startScriptedModelServer } from '@concerto/models/testing';
import type { StartSession } from '@concerto/protocol';
import type { AssistantSpec, CatalogEntry } from '../src/index.ts';
import { openStage, type Stage, type StageOptions } from './session-stage.ts';

type Event = Record<string, unknown>;

export type AssistantStage = Stage & {
  readonly model: ScriptedModelServer;
  /** Starts the assistant; the session's id. */
  readonly begin: (prompt: string, more?: Partial<StartSession>) => Promise<string>;
  /** All events so far. */
  readonly events: (session: string) => Promise<readonly Event[]>;
  /** Until the session has had so many results or errors; all events then. */
  readonly afterTurns: (session: string, count: number) => Promise<readonly Event[]>;
  readonly say: (session: string, content: string, priority?: 'queued' | 'immediate') => Promise<void>;
  readonly control: (session: string, verb: 'interrupt' | 'pause' | 'resume' | 'cancel') => Promise<void>;
  readonly reached: (session: string, status: string) => Promise<void>;
  readonly answer: (
    session: string,
    response: Parameters<Stage['sessions']['answer']>[1]['response'],
    reason?: string,
  ) => Promise<void>;
};

export type AssistantStageOptions = Partial<Omit<AssistantSpec, 'models'>> &
  Pick<StageOptions, 'log' | 'environment'> & {
    /** What it may call. */
    readonly others?: (own: CatalogEntry) => readonly CatalogEntry[];
    readonly connections?: ModelsOptions['connections'];
    /** Whose wire the scripted model speaks. */
    readonly provider?: string;
    readonly timeoutMs?: number;
    /** What a session may set. */
    readonly perSession?: readonly string[];
  };

const user = { actor: 'user', key: undefined };

/** The real runtime with one assistant, whose model says what the script says. */
export async function openAssistantStage(script: Script, options: AssistantStageOptions = {}): Promise<AssistantStage> {
  const model = await startScriptedModelServer(script);
  const {
    log,
    environment = {},
    connections,
    provider = 'custom',
    timeoutMs,
    perSession,
    others = () => [],
    ...spec
  } = options;
  const retry = { max_attempts: 1, backoff: 'none' };
  const local = { provider, base_url: model.url, default_model: 'scripted', retry };
  const models = createModels({ connections: connections ?? { local }, environment });
  const entry: CatalogEntry = {
    kind: 'assistant',
    name: 'helper',
    spec: { models, connection: 'local', mode: 'native', functions: [], servers: {}, directory: '.', ...spec },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(perSession === undefined ? {} : { perSession }),
  };
  const stage = openStage({
    agents: [],
    entries: [entry, ...others(entry)],
    environment,
    ...(log === undefined ? {} : { log }),
  });
  const events = async (session: string): Promise<readonly Event[]> => {
    const page = await stage.log.read({ session, stream: 'events', after: 0, limit: 10_000 });
    return page.entries.map(({ data }) => JSON.parse(data));
  };
  return {
    ...stage,
    model,
    events,
    begin: async (prompt, more = {}) => {
      const started = await stage.start({ assistant: 'helper', prompt, ...more });
      if (!started.ok) throw new Error(started.error.message);
      return started.value.id;
    },
    afterTurns: async (session, count) => {
      let ended = 0;
      await stage.until(session, ({ type }) => {
        if (type === 'turnComplete') ended += 1;
        return ended === count;
      });
      return await events(session);
    },
    say: async (session, content, priority = 'queued') => {
      const sent = await stage.sessions.send(session, { content, priority }, user);
      if (!sent.ok) throw new Error(sent.error.message);
    },
    control: async (session, verb) => {
      const asked = await stage.sessions.control(session, verb, user);
      if (!asked.ok) throw new Error(asked.error.message);
    },
    reached: async (session, status) => {
      await stage.until(session, (event) => event.type === 'status' && event.status === status);
    },
    answer: async (session, response, reason) => {
      const open = await stage.sessions.requests(session);
      const request = open?.requests[0]?.requestId ?? '';
      const answered = await stage.sessions.answer({ session, request }, { response, reason }, user);
      if (!answered.ok) throw new Error(answered.error.message);
    },
    close: async () => {
      await stage.close();
      await model.close();
    },
  };
}

/** The text that was shown before the result. */
export function saidIn(events: readonly Event[]): string {
  const end = events.findIndex(({ type }) => type === 'subagentFinish');
  return textsOf(end < 0 ? events : events.slice(0, end)).join('');
}

export function textsOf(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => {
    const content = event.type === 'content' ? (event.content as { parts: { text?: string }[] }) : { parts: [] };
    return content.parts.map(({ text }) => text ?? '');
  });
}
