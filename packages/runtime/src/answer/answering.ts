import type { SuspendEvent } from '@concerto/protocol';
import {
  openRequests,
  type Request,
  runningPrompt,
  type SessionCommand,
  type SessionState,
  type Wish,
} from '@concerto/session';
import { askForVerdict, type ModelAnswer } from './ask-model.ts';
import { Supervision, type SupervisionOptions } from './supervision.ts';

/**
 * Asks the models that a session's requests are put before, and keeps its supervisor. It follows the state and keeps nothing of its own: whoever owns the
 * session after a crash sees the same request with the same answerer, and asks it.
 */
export class Answering {
  readonly #options: SupervisionOptions;
  readonly #supervision: Supervision;
  /** By the request that a model is asked about. */
  readonly #asking = new Map<string, AbortController>();

  constructor(options: SupervisionOptions) {
    this.#options = options;
    this.#supervision = new Supervision(options);
    // The session is somebody else's then, or nobody's.
    const leave = (): void => {
      for (const asking of this.#asking.values()) asking.abort();
    };
    options.tenure.over.addEventListener('abort', leave, { once: true });
  }

  /** Where the session stands now. */
  stands(state: SessionState): void {
    this.#supervision.stands(state);
    const open = new Map(openRequests(state).map((request) => [request.requestId, request]));
    for (const [requestId, asking] of this.#asking) {
      // Somebody was quicker, or its time is up.
      if (modelOf(open.get(requestId)) === undefined) asking.abort();
    }
    if (this.#options.tenure.isOver) return;
    for (const request of open.values()) {
      const model = modelOf(request);
      if (model === undefined || this.#asking.has(request.requestId)) continue;
      const asking = new AbortController();
      this.#asking.set(request.requestId, asking);
      void this.#ask(model, { request, state, signal: asking.signal })
        .catch((cause: unknown) => {
          const { tenure, report } = this.#options;
          report(`session ${tenure.session}: what model ${model} said could not be recorded`, cause);
        })
        .finally(() => this.#asking.delete(request.requestId));
    }
  }

  async #ask(
    model: string,
    asked: { readonly request: Request; readonly state: SessionState; readonly signal: AbortSignal },
  ): Promise<void> {
    const { request, signal } = asked;
    const answer = await this.#answerOf(model, asked);
    if (answer.used !== undefined) await this.#spent(answer.used);
    if (signal.aborted) return;
    const by = `model:${model}`;
    const { requestId, event } = request;
    if ('failure' in answer) {
      await this.#execute(by, {
        type: 'pass-request',
        requestId,
        by,
        reason: `${by} could not say: ${answer.failure}`,
      });
    } else if (answer.verdict === 'pass') {
      await this.#execute(by, { type: 'pass-request', requestId, by, reason: `${by} passed: ${answer.reason}` });
    } else {
      const response = verdictResponse(answer.verdict, event);
      await this.#execute(by, { type: 'answer', requestId, response, reason: answer.reason });
    }
  }

  async #answerOf(
    model: string,
    {
      request,
      state,
      signal,
    }: { readonly request: Request; readonly state: SessionState; readonly signal: AbortSignal },
  ): Promise<ModelAnswer> {
    const { catalog } = this.#options;
    const { event } = request;
    const assistant = catalog.find('assistant', model);
    if (assistant?.kind !== 'assistant') return { failure: `there is no [assistants.${model}]` };
    if (event.type !== 'queryConsent') return { failure: 'a question has no yes or no' };
    const fault = assistant.fault?.();
    if (fault !== undefined) return { failure: fault };
    const question = {
      event,
      agent: state.agent,
      task: runningPrompt(state)?.content,
    };
    return await askForVerdict(assistant.spec, question, signal);
  }

  async #spent({ usage, source }: NonNullable<ModelAnswer['used']>): Promise<void> {
    const { epoch, runner } = this.#options.tenure;
    await this.#write({ type: 'usage', epoch, usage, source, ...this.#asked(`runner:${runner}`) });
  }

  /** Refused where somebody was quicker: the first answer counts. */
  async #execute(actor: string, wish: Extract<Wish, { type: 'answer' | 'pass-request' }>): Promise<void> {
    await this.#write({ ...this.#asked(actor), ...wish });
  }

  async #write(command: SessionCommand): Promise<void> {
    const { store, tenure } = this.#options;
    await tenure.patiently(() => store.execute(tenure.session, command, { fence: tenure.fence }));
  }

  #asked(actor: string): { readonly at: number; readonly actor: string } {
    return { at: this.#options.clock.now(), actor };
  }
}

function modelOf(request: Request | undefined): string | undefined {
  const to = request?.routedTo ?? '';
  return to.startsWith('model:') ? to.slice('model:'.length) : undefined;
}

/** A budget is not agreed to with a yes. */
export function verdictResponse(verdict: 'allow' | 'deny', event: SuspendEvent): boolean | string {
  const isBudget = event.type === 'queryConsent' && event.consentType === 'budget';
  if (verdict === 'allow') return isBudget ? 'more' : true;
  return isBudget ? 'stop' : false;
}
