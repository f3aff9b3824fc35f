import { type JsonObject, strictJson } from '@concerto/base';
import type { AgentLink } from '../agent-link.ts';

/** For the program to answer what we ask of it. */
const answerWithinMs = 10_000;

/** What we say to the program beside the conversation, and what it answers. */
export class ClaudeControl {
  readonly #link: AgentLink;
  readonly #awaited = new Map<string, (error: string | undefined) => void>();

  constructor(link: AgentLink) {
    this.#link = link;
  }

  async send(message: JsonObject): Promise<void> {
    await this.#link.write(strictJson(message));
  }

  /** Nobody waits for the answer. */
  async tell(requestId: string, request: JsonObject): Promise<void> {
    await this.send({ type: 'control_request', request_id: requestId, request });
  }

  async respond(requestId: string, response: JsonObject): Promise<void> {
    await this.send({ type: 'control_response', response: { ...response, request_id: requestId } });
  }

  /** Rejects with what the program has against it. */
  async ask(request: JsonObject & { readonly subtype: string }): Promise<void> {
    const id = this.#link.uuid();
    const answered = new Promise<void>((resolve, reject) => {
      const refuse = (why: string): void => reject(this.#link.failure('protocol', why));
      const late = this.#link.later(answerWithinMs, () => refuse(`did not answer \`${request.subtype}\``));
      this.#awaited.set(id, (error) => {
        late.cancel();
        this.#awaited.delete(id);
        if (error === undefined) resolve();
        else refuse(error);
      });
    });
    await Promise.all([answered, this.tell(id, request)]);
  }

  answered(requestId: string, error: string | undefined): void {
    this.#awaited.get(requestId)?.(error);
  }

  ended(error: Error): void {
    for (const answered of this.#awaited.values()) answered(error.message);
  }
}
