import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whoever reads an event at a place must read the same. */
export class Readers {
  violations = [];
  read = 0;
  #seen = new Map();
  #world;
  #people;
  #random;
  /** Sessions of a store that was put back: their numbers may be given out again. */
  #rewound;

  constructor({ world, people, random, rewound }) {
    this.#world = world;
    this.#people = people;
    this.#random = random;
    this.#rewound = rewound;
  }

  /** Follows one session after another, from wherever it likes. */
  async follow(goesOn) {
    while (goesOn()) {
      const session = this.#random.of(this.#people.sessions);
      if (session === undefined) await sleep(100);
      else await this.#stream(session, this.#random.between(0, 40));
    }
  }

  see(session, event) {
    if (this.#rewound.has(session)) return;
    this.read += 1;
    const place = `${session}#${event.seq}`;
    const hash = createHash('sha1').update(canonical(event)).digest('base64');
    const before = this.#seen.get(place);
    if (before === undefined) this.#seen.set(place, hash);
    else if (before !== hash) this.violations.push(`event ${place} was read differently: ${JSON.stringify(event)}`);
  }

  async #stream(session, after) {
    const { url, token } = this.#world;
    const isOld = !this.#rewound.has(session);
    const leave = AbortSignal.timeout(this.#random.between(300, 4_000));
    try {
      const headers = { authorization: `Bearer ${token}` };
      const { body } = await fetch(`${url}/api/sessions/${session}/events?after=${after}`, { headers, signal: leave });
      let text = '';
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) {
          const data = /(?:^|\n)data: ([^\n]*)$/.exec(frame)?.[1];
          // A stream that began before the store was put back may still tell of what was.
          if (data !== undefined && isOld) this.see(session, JSON.parse(data));
        }
      }
    } catch {
      await sleep(50);
    }
  }
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join()}}`;
}
