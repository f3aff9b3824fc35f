// What must be true when all is calm again, whatever happened before.
import { setTimeout as sleep } from 'node:timers/promises';
import { readTraces } from './faults.mjs';

const settleWithinMs = 120_000;
const orphansWithinMs = 30_000;
const final = new Set(['completed', 'failed', 'cancelled']);
const settled = new Set([...final, 'idle', 'interrupted', 'paused', 'waitingForInput', 'waitingForApproval']);
const pageSize = 500;

export class Oracle {
  violations = [];
  uncertain = 0;
  unread = 0;
  lines = 0;
  /** Sessions of which not everything could be asked, because their store was put back. */
  excused = 0;
  #world;
  #people;
  #readers;
  #rewound;
  #strict;

  /** `strict`: nothing but our own processes was killed, so nothing may be uncertain, unread or missing. */
  constructor({ world, people, readers, rewound, strict }) {
    this.#world = world;
    this.#people = people;
    this.#readers = readers;
    this.#rewound = rewound;
    this.#strict = strict;
  }

  /** Ends these sessions and says what was wrong with them; nobody may wish for anything meanwhile. */
  async judge(sessions) {
    this.excused += sessions.filter((session) => this.#rewound.has(session)).length;
    // A program runs as long as its agents do, which may wait for a person or for a place.
    const rests = ({ kind, status, waiting }) => settled.has(status) || waiting !== undefined || kind === 'program';
    await this.#untilAll(sessions, rests, 'settles');
    const events = new Map();
    for (const session of sessions) events.set(session, await this.#events(session));
    const traces = readTraces(this.#world.traces);
    const got = this.#received(traces);
    for (const session of [...sessions, ...this.#spokenTo(sessions)]) {
      if (this.#rewound.has(session)) continue;
      await this.#messages(session, got);
      await this.#audit(session);
    }
    this.#said(traces, events);
    for (const session of sessions) await this.#people.call('POST', `/api/sessions/${session}/cancel`);
    await this.#untilAll(sessions, ({ status }) => final.has(status), 'ends when cancelled');
    for (const session of sessions) this.#closed(session, await this.#events(session));
    await this.#nothingLeft();
  }

  /** Agents of programs that got a message meant for these; what was put back has forgotten its own, too. */
  #spokenTo(sessions) {
    const wishes = this.#people.acknowledged.filter(({ session, asked }) => asked !== undefined && session !== asked);
    const kept = wishes.filter(({ asked }) => sessions.includes(asked) && !this.#rewound.has(asked));
    return new Set(kept.map(({ session }) => session));
  }

  async #untilAll(sessions, fits, what) {
    const until = Date.now() + settleWithinMs;
    for (const session of sessions) {
      for (;;) {
        const { status, body } = await this.#people.call('GET', `/api/sessions/${session}`);
        if (status === 404) {
          if (!this.#rewound.has(session)) this.violations.push(`session ${session}: acknowledged and lost`);
          // Nothing more is to be asked of it.
          this.#rewound.add(session);
          break;
        }
        if (fits(body)) break;
        if (Date.now() > until) {
          this.violations.push(`session ${session}: never ${what}; it is ${JSON.stringify(body).slice(0, 400)}`);
          break;
        }
        await sleep(250);
      }
    }
  }

  async #events(session) {
    const events = [];
    for (let after = 0; ; ) {
      const path = `/api/sessions/${session}/events?format=json&after=${after}&limit=${pageSize}`;
      const { status, body } = await this.#people.call('GET', path);
      if (status === 404) return events;
      for (const event of body.events) {
        if (event.seq !== after + 1) this.violations.push(`session ${session}: event ${event.seq} follows ${after}`);
        this.#readers.see(session, event);
        after = event.seq;
        events.push(event);
      }
      if (!body.more) return events;
    }
  }

  /** Which agents got which message. */
  #received(traces) {
    const got = new Map();
    for (const { entries, name } of traces) {
      for (const { got: id } of entries) {
        if (id !== undefined) got.set(id, [...(got.get(id) ?? []), name]);
      }
    }
    return got;
  }

  async #messages(session, got) {
    const all = [];
    for (let after = 0; ; ) {
      const { body } = await this.#people.call('GET', `/api/sessions/${session}/messages?all=true&after=${after}`);
      all.push(...(after === 0 ? body.pending : []), ...(body.history ?? []));
      if (body.more !== true) break;
      after = body.position;
    }
    const ofChaos = (await this.#people.call('GET', `/api/sessions/${session}`)).body.agent === 'chaos';
    for (const { what, id, session: its } of this.#people.acknowledged) {
      if (what !== 'message-enqueued' || its !== session) continue;
      const times = all.filter((message) => message.id === id).length;
      if (times !== 1) this.violations.push(`message ${id} of ${session}: acknowledged, and there ${times} times`);
    }
    if (!ofChaos) return;
    for (const { id, status, uncertain, reason } of all) {
      const times = got.get(id)?.length ?? 0;
      if (times > 1) this.violations.push(`message ${id} of ${session}: agents got it ${times} times (${got.get(id)})`);
      if (uncertain === true) this.uncertain += 1;
      if (times === 0 && status === 'delivered') this.unread += 1;
      if (times > 0 && status === 'cancelled' && reason === 'cancelled by the user') {
        this.violations.push(`message ${id} of ${session}: cancelled, but the agent got it`);
      }
      if (this.#strict && uncertain === true) this.violations.push(`message ${id} of ${session}: uncertain`);
      if (this.#strict && times === 0 && status === 'delivered') {
        this.violations.push(`message ${id} of ${session}: delivered, but no agent got it`);
      }
    }
  }

  /** Every acknowledged wish is on record, once. */
  async #audit(session) {
    const entries = [];
    for (let after = 0; ; ) {
      const { body } = await this.#people.call('GET', `/api/sessions/${session}/audit?after=${after}`);
      entries.push(...body.entries);
      if (body.more !== true) break;
      after = body.position;
    }
    for (const wish of this.#people.acknowledged) {
      if (wish.session !== session) continue;
      // An answer that no runner took is given back, and may then be given again.
      const returned = entries.filter(
        (entry) => entry.what === 'answer-returned' && entry.requestId === wish.id,
      ).length;
      const times = entries.filter((entry) => isAbout(entry, wish)).length - returned;
      if (times !== 1) this.violations.push(`${wish.what} ${wish.id} of ${session}: ${times} times in the audit`);
    }
  }

  /** What agents said is in the log once and in order; all of it, unless they were killed or stopped. */
  #said(traces, events) {
    const heard = new Map();
    for (const [session, list] of events) {
      for (const event of list) {
        if (event.type !== 'content') continue;
        for (const [text, name] of JSON.stringify(event.content).matchAll(/T([0-9a-f]{12})-\d+;/g)) {
          const of = heard.get(name) ?? { session, texts: [] };
          of.texts.push(text);
          heard.set(name, of);
        }
      }
    }
    for (const { name, entries } of traces) {
      const said = entries.flatMap(({ said: text }) => (text === undefined ? [] : [text]));
      const { session, texts = [] } = heard.get(name) ?? {};
      if (session === undefined || this.#rewound.has(session)) continue;
      this.lines += texts.length;
      const wanted = said.filter((text) => texts.includes(text));
      if (wanted.join() !== texts.join()) {
        this.violations.push(`agent ${name} of ${session}: the log has ${texts.join('')} of ${said.join('')}`);
      }
      const excused = this.#world.killed.has(name) || this.#people.disturbed.has(session) || hasLeft(entries);
      if (!excused && texts.length < said.length) {
        this.violations.push(`agent ${name} of ${session}: ${said.length - texts.length} of ${said.length} lines lost`);
      }
    }
  }

  /** Every turn ended once, every request was settled once, and nothing follows the end. */
  #closed(session, events) {
    const count = (type) => events.filter((event) => event.type === type).length;
    if (!this.#rewound.has(session) && count('start') !== count('turnComplete')) {
      this.violations.push(`session ${session}: ${count('start')} turns began, ${count('turnComplete')} ended`);
    }
    const asked = events.filter(({ type, requestId }) => requestId !== undefined && suspends.has(type));
    for (const { requestId } of asked) {
      const times = events.filter((event) => event.type === 'requestSettled' && event.requestId === requestId).length;
      if (times !== 1) this.violations.push(`request ${requestId} of ${session}: settled ${times} times`);
    }
    const end = events.findIndex(({ type }) => type === 'finish');
    if (end >= 0 && end !== events.length - 1) {
      this.violations.push(`session ${session}: ${events[end + 1].type} follows finish`);
    }
  }

  async #nothingLeft() {
    const pool = (await this.#people.call('GET', '/api/pool')).body;
    if (pool.active !== 0 || pool.waiting !== 0) this.violations.push(`slots leak: ${JSON.stringify(pool)}`);
    const until = Date.now() + orphansWithinMs;
    for (let left = this.#world.agents(); left.length > 0; left = this.#world.agents()) {
      if (Date.now() > until) {
        this.violations.push(`agents outlive their sessions: ${left.join(' ')}`);
        return;
      }
      await sleep(250);
    }
  }
}

const suspends = new Set(['waitForInput', 'waitForChoice', 'queryConsent']);

function hasLeft(entries) {
  return entries.some(({ end }) => end === 'left' || end === 'SIGTERM' || end === 'stdin');
}

function isAbout(entry, { what, id, content }) {
  if (entry.what !== what) return false;
  switch (what) {
    case 'created':
      return true;
    case 'control-requested':
    case 'request-answered':
      return entry.requestId === id;
    case 'message-edited':
      return entry.messageId === id && entry.detail?.content === content;
    default:
      return entry.messageId === id;
  }
}
