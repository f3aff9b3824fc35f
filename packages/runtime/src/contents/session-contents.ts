import { acceptedTypes } from '@concerto/agents';
import { err, type Json, ok, type Result } from '@concerto/base';
import type { Blobs, EventLog } from '@concerto/log';
import { fileOf, LlmContent, type SessionKind, wordsOf } from '@concerto/protocol';
import type { SessionState } from '@concerto/session';
import { knownCapabilities } from '../agent/agent-capabilities.ts';
import { assistantAccepts } from '../assistant/assistant-spec.ts';
import type { Catalog } from '../catalog.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import type { StartPlan } from '../start/plan-start.ts';
import { type Listener, type TakenContent, takeContent } from './take-content.ts';

/** What a run without an objective begins with. */
export const nothing: LlmContent = { role: 'user', parts: [] };

type Target = { readonly kind: SessionKind; readonly name: string };

/** What is said to sessions, looked at before it is decided upon: what its listener cannot take is refused. */
export class SessionContents {
  readonly #log: EventLog;
  readonly #catalog: Catalog;
  readonly #blobs: Blobs;

  constructor({ log, catalog }: { readonly log: EventLog; readonly catalog: Catalog }, blobs: Blobs) {
    this.#log = log;
    this.#catalog = catalog;
    this.#blobs = blobs;
  }

  /** What a session begins with. Nobody is told something that nobody said; only who needs no words begins without. */
  async first({ kind, name, prompt }: StartPlan): Promise<Result<TakenContent, ServiceRefusal>> {
    if (prompt !== nothing) return await this.#take(prompt, { kind, name });
    if (kind === 'program') return ok({ text: `run ${name}`, handles: [] });
    if (kind === 'agent' && this.#protocolOf({ kind, name }) === 'ndjson')
      return ok({ text: '', objective: nothing, handles: [] });
    return err(refusal('invalid_start', `\`objective\`: is required; ${kind} ${JSON.stringify(name)} needs a prompt`));
  }

  /** What is said to a session; to none it is refused for that. */
  async to(state: SessionState | undefined, said: string | LlmContent): Promise<Result<TakenContent, ServiceRefusal>> {
    if (state === undefined) return ok({ text: typeof said === 'string' ? said : wordsOf(said), handles: [] });
    return await this.#take(said, { kind: state.kind, name: state.agent }, state);
  }

  /** An answer may have files too; those who ask by a wire that has only words for answers are told no others. */
  async takeAnswer(
    response: Json,
    state: SessionState | undefined,
  ): Promise<Result<{ readonly response: Json; readonly handles: readonly string[] }, ServiceRefusal>> {
    const content = contentIn(response);
    if (content === undefined || state === undefined) return ok({ response, handles: [] });
    const target = { kind: state.kind, name: state.agent };
    if (this.#protocolOf(target) !== 'ndjson') {
      const message = `agent ${JSON.stringify(state.agent)} takes answers in words, and this one has files; send them as a message`;
      return err(refusal('part_not_taken', message, { takes: ['text'] }));
    }
    const taken = await this.#take(content, target, state);
    if (!taken.ok) return taken;
    const { objective = content, handles } = taken.value;
    return ok({ response: JSON.parse(JSON.stringify(objective)), handles });
  }

  async #take(
    said: string | LlmContent,
    target: Target,
    state?: SessionState,
  ): Promise<Result<TakenContent, ServiceRefusal>> {
    if (typeof said === 'string') return ok({ text: said, handles: [] });
    return await takeContent(said, await this.#listener(target, state), this.#blobs);
  }

  #protocolOf({ kind, name }: Target): string {
    const entry = this.#catalog.find(kind, name);
    return entry?.kind === 'agent' ? (entry.spec.protocol ?? 'ndjson') : 'ndjson';
  }

  async #listener({ kind, name }: Target, state: SessionState | undefined): Promise<Listener> {
    const entry = this.#catalog.find(kind, name);
    switch (kind) {
      case 'program':
        return { kind, name, accepts: [] };
      case 'assistant': {
        const declared = entry?.kind === 'assistant' ? entry.spec.accepts : undefined;
        return { kind, name, accepts: declared ?? assistantAccepts };
      }
      case 'agent': {
        const announced = state?.everReady === true ? state.capabilities : await knownCapabilities(this.#log, name);
        const spec = entry?.kind === 'agent' ? entry.spec : {};
        // One of our own wire that has never said what it takes was written for text.
        const isOurs = this.#protocolOf({ kind, name }) === 'ndjson';
        const known = announced.length === 0 && !isOurs ? undefined : announced;
        return { kind, name, accepts: acceptedTypes(spec, known) };
      }
    }
  }
}

/** Content with files in it, also as the `input` of an answer; undefined for any other value. */
export function contentIn(value: Json): LlmContent | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const read = LlmContent.safeParse('parts' in value ? value : Reflect.get(value, 'input'));
  return read.success && read.data.parts.some((part) => fileOf(part) !== undefined) ? read.data : undefined;
}
