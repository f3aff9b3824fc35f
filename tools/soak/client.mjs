// A client that loses its server all the time: every wish has a key, is repeated until it is answered, and what was
// answered is remembered.
import { setTimeout as sleep } from 'node:timers/promises';

const answerWithinMs = 5_000;

export class Client {
  sessions = [];
  /** Message ids that were acknowledged, by session. */
  sent = new Map();
  cancelledMessages = new Map();
  refusals = new Map();
  asked = 0;
  repeated = 0;
  /** Written to an agent that died before it read. */
  unread = 0;
  #url;
  #token;
  #prefix;

  constructor({ url, token, prefix }) {
    this.#url = url;
    this.#token = token;
    this.#prefix = prefix;
  }

  /** Until there is an answer that is not about the server's own state. */
  async call(method, path, body) {
    this.asked += 1;
    const key = `${this.#prefix}-${this.asked}`;
    for (;;) {
      const answer = await this.#once(method, path, { body, key });
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer;
      this.repeated += 1;
      await sleep(150);
    }
  }

  async #once(method, path, { body, key }) {
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          'content-type': 'application/json',
          ...(method === 'GET' ? {} : { 'idempotency-key': key }),
        },
        signal: AbortSignal.timeout(answerWithinMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    }
  }

  /** One user, until told to stop. */
  async live(goesOn) {
    while (goesOn()) {
      await this.#step();
      await sleep(Math.random() * 250);
    }
  }

  async #step() {
    const drawn = Math.random();
    const session = this.sessions[Math.floor(Math.random() * this.sessions.length)];
    if (session === undefined || (drawn < 0.06 && this.sessions.length < 200)) return await this.#start();
    if (drawn < 0.5) return await this.#send(session, drawn < 0.12 ? 'immediate' : 'queued');
    if (drawn < 0.6) return await this.#unsend(session);
    if (drawn < 0.9) return await this.#answer(session);
    const verb = ['interrupt', 'pause', 'resume', 'resume', 'resume', 'cancel'][Math.floor(Math.random() * 6)];
    if (verb === 'cancel' && Math.random() < 0.7) return;
    this.#note(await this.call('POST', `/api/sessions/${session}/${verb}`));
  }

  async #start() {
    const body = { agent: 'soak', prompt: 'begin', ifFull: 'queue' };
    const answer = this.#note(await this.call('POST', '/api/sessions', body));
    if (answer.status !== 201) return;
    this.sessions.push(answer.body.id);
    this.sent.set(answer.body.id, []);
  }

  async #send(session, priority) {
    const answer = this.#note(
      await this.call('POST', `/api/sessions/${session}/messages`, { content: 'more', priority }),
    );
    if (answer.status === 202) this.sent.get(session).push(answer.body.id);
  }

  async #unsend(session) {
    const list = await this.call('GET', `/api/sessions/${session}/messages`);
    const message = list.body.pending?.at(-1);
    if (message === undefined) return;
    const answer = this.#note(await this.call('DELETE', `/api/sessions/${session}/messages/${message.id}`));
    if (answer.status === 200) this.cancelledMessages.set(message.id, answer.body);
  }

  async #answer(session) {
    const list = await this.call('GET', `/api/sessions/${session}/requests`);
    const request = list.body.requests?.[0];
    if (request === undefined) return;
    this.#note(await this.call('POST', `/api/sessions/${session}/requests/${request.requestId}`, { response: 'yes' }));
  }

  #note(answer) {
    if (answer.status >= 400) {
      const code = answer.body.code ?? String(answer.status);
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    }
    return answer;
  }
}
