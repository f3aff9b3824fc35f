// People that lose their server all the time: every wish has a key and is repeated until it is answered; what was
// acknowledged is remembered, and sometimes asked for once more under the same key.
import { setTimeout as sleep } from 'node:timers/promises';

const answerWithinMs = 8_000;
const giveUpAfterMs = 180_000;
/** So many are lived in at a time; older ones are ended once they rest, so that others get their places. */
const livelyMax = 30;
const final = new Set(['completed', 'failed', 'cancelled']);
const resting = new Set(['idle', 'interrupted', 'paused']);

export class People {
  sessions = [];
  /** `{ what, session, id, content?, at }` */
  acknowledged = [];
  refusals = new Map();
  violations = [];
  asked = 0;
  answered = 0;
  repeated = 0;
  replayed = 0;
  /** Sessions of whom somebody wanted an interrupt, a pause or an end. */
  disturbed = new Set();
  #retired = new Set();
  #starting = 0;
  #url;
  #token;
  #random;
  #calm;
  #most;
  #rewound;
  #rewinds = 0;
  #isHeld = false;
  #stepping = 0;
  /** Sessions before this one were judged, and are over. */
  #judged = 0;

  /** `rewound`: sessions of a store that was put back. */
  constructor({ url, token, random, calm, most, rewound = new Set() }) {
    this.#url = url;
    this.#token = token;
    this.#random = random;
    this.#calm = calm;
    this.#most = most;
    this.#rewound = rewound;
  }

  /** The store was put back: what was granted before may be gone, also what nobody has heard of yet. */
  rewind() {
    this.#rewinds += 1;
    for (const session of this.sessions) this.#rewound.add(session);
  }

  /** Those that were not judged yet. */
  get unjudged() {
    return this.sessions.slice(this.#judged);
  }

  /** Nobody wishes for anything any more until `release`. */
  async hold() {
    this.#isHeld = true;
    while (this.#stepping > 0) await sleep(50);
  }

  /** What there was is judged: they go on with other sessions. */
  release() {
    this.#judged = this.sessions.length;
    this.#isHeld = false;
  }

  /** Until there is an answer that is not about the server's own state. */
  async call(method, path, body, key = `chaos-${this.#random.next()}-${this.asked}`) {
    this.asked += 1;
    const until = Date.now() + giveUpAfterMs;
    for (;;) {
      const answer = await this.once(method, path, { body, key });
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) {
        this.answered += 1;
        return answer;
      }
      if (Date.now() > until) {
        const last = answer === undefined ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body)}`;
        throw new Error(`${method} ${path} has no answer for ${giveUpAfterMs} ms: ${last}`);
      }
      this.repeated += 1;
      await sleep(150);
    }
  }

  async once(method, path, { body, key }) {
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

  /** One of them, until told to stop. */
  async live(goesOn) {
    while (goesOn()) {
      if (!this.#isHeld) await this.#stepOnce();
      await sleep(this.#random.between(0, 250));
    }
  }

  async #stepOnce() {
    this.#stepping += 1;
    try {
      await this.#step();
    } catch (cause) {
      this.violations.push(cause.message);
    }
    this.#stepping -= 1;
  }

  async #step() {
    const session = this.#random.of(this.unjudged.slice(-livelyMax));
    const few = this.#most === undefined || this.sessions.length + this.#starting < this.#most;
    if (few && (session === undefined || this.#random.chance(this.#calm ? 0.3 : 0.06))) return await this.#start();
    if (session === undefined) return;
    if (this.#most === undefined && this.#random.chance(0.15)) return await this.#retire();
    const acts = this.#calm
      ? { send: 5, answer: 5 }
      : { send: 8, edit: 1, unsend: 2, answer: 7, interrupt: 0.5, pause: 0.4, resume: 1.6, cancel: 0.25 };
    const act = this.#random.drawn(acts);
    switch (act) {
      case 'send':
        return await this.#send(session);
      case 'edit':
        return await this.#edit(session);
      case 'unsend':
        return await this.#unsend(session);
      case 'answer':
        return await this.#answer(session);
      default:
        return await this.#control(session, act);
    }
  }

  /** Ends one that is older and rests: nothing that it said can be lost by that. */
  async #retire() {
    const old = this.unjudged.slice(0, -livelyMax).filter((session) => !this.#retired.has(session));
    const session = this.#random.of(old.slice(0, 10));
    if (session === undefined) return;
    const { status, body } = await this.call('GET', `/api/sessions/${session}`);
    if (status === 404 || final.has(body.status)) this.#retired.add(session);
    else if (resting.has(body.status)) await this.#control(session, 'cancel', true);
    else await this.#answer(session);
  }

  /** Asks, notes what was granted, and now and then asks the very same again. */
  async #wish({ method, path, body, granted, what, idOf }) {
    const key = `w-${this.asked}-${this.#random.next()}`;
    const answer = await this.call(method, path, body, key);
    if (answer.status !== granted) {
      const code = answer.body.code ?? String(answer.status);
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      return undefined;
    }
    const id = idOf(answer.body);
    this.acknowledged.push({ id, at: Date.now(), ...what(id, answer.body) });
    if (this.#random.chance(0.1)) await this.#replay({ method, path, body, key, granted, idOf, id });
    return answer.body;
  }

  async #replay({ method, path, body, key, granted, idOf, id }) {
    this.replayed += 1;
    const again = await this.call(method, path, body, key);
    const same = again.status === granted && idOf(again.body) === id;
    // A key is known for a while only while its store is; a store that was rewound has forgotten it.
    if (!same)
      this.violations.push(`${method} ${path} again under its key: ${again.status} ${JSON.stringify(again.body)}`);
  }

  async #start() {
    const who = this.#calm
      ? { agent: 'chaos' }
      : this.#random.of([
          ...Array.from({ length: 7 }, () => ({ agent: 'chaos' })),
          { agent: 'claude' },
          { agent: 'codex' },
          { agent: 'acp' },
          { program: 'guard' },
          { assistant: 'mock' },
          { agent: 'absent' },
        ]);
    this.#starting += 1;
    const rewinds = this.#rewinds;
    const prompt = who.program === undefined ? { prompt: this.#words(who.agent) } : {};
    const started = await this.#wish({
      method: 'POST',
      path: '/api/sessions',
      body: { ...who, ...prompt, ifFull: 'queue' },
      granted: 201,
      what: (id) => ({ what: 'created', session: id }),
      idOf: ({ id }) => id,
    });
    this.#starting -= 1;
    if (started !== undefined && rewinds !== this.#rewinds) this.#rewound.add(started.id);
    if (started !== undefined) this.sessions.push(started.id);
  }

  #words(agent) {
    if (agent === 'claude' || agent === 'codex') return this.#random.of(['say hello', 'think', 'use ls']);
    if (agent === 'acp') return this.#random.of(['hello', 'permission']);
    return 'work';
  }

  async #send(session) {
    const priority = this.#random.chance(0.15) ? 'immediate' : 'queued';
    await this.#wish({
      method: 'POST',
      path: `/api/sessions/${session}/messages`,
      // To the agents of drivers `work` would mean a turn without an end.
      body: { content: 'say more', priority },
      granted: 202,
      // To a program at work: its agent has it.
      what: (_id, sent) => ({ what: 'message-enqueued', session: sent.session ?? session, asked: session }),
      idOf: ({ id }) => id,
    });
  }

  async #pending(session) {
    return (await this.call('GET', `/api/sessions/${session}/messages`)).body.pending?.at(-1);
  }

  async #edit(session) {
    const message = await this.#pending(session);
    if (message === undefined) return;
    const content = `say ${this.asked}-${this.#random.next()}`;
    await this.#wish({
      method: 'PATCH',
      path: `/api/sessions/${session}/messages/${message.id}`,
      body: { content },
      granted: 200,
      what: () => ({ what: 'message-edited', session, content }),
      idOf: ({ id }) => id,
    });
  }

  async #unsend(session) {
    const message = await this.#pending(session);
    if (message === undefined) return;
    await this.#wish({
      method: 'DELETE',
      path: `/api/sessions/${session}/messages/${message.id}`,
      granted: 200,
      what: () => ({ what: 'message-cancelled', session }),
      idOf: ({ id }) => id,
    });
  }

  async #answer(session) {
    const request = (await this.call('GET', `/api/sessions/${session}/requests`)).body.requests?.[0];
    if (request === undefined) return;
    const response = request.type === 'queryConsent' ? true : 'yes';
    await this.#wish({
      method: 'POST',
      path: `/api/sessions/${session}/requests/${request.requestId}`,
      body: { response },
      granted: 200,
      what: () => ({ what: 'request-answered', session }),
      idOf: () => request.requestId,
    });
  }

  async #control(session, verb, rests = false) {
    if (!rests) this.disturbed.add(session);
    await this.#wish({
      method: 'POST',
      path: `/api/sessions/${session}/${verb}`,
      granted: 202,
      what: () => ({ what: 'control-requested', session }),
      idOf: ({ requestId }) => requestId,
    });
  }
}
