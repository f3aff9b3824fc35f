// What must be true of a program that was killed again and again, now that it has ended.
import { readFileSync } from 'node:fs';

const final = new Set(['completed', 'failed', 'cancelled']);
const pageSize = 500;

export class Judge {
  violations = [];
  judged = 0;
  /** Agents that were lost, models that were asked again because no answer was on record, emits that nobody saw. */
  lost = 0;
  askedAgain = 0;
  unseen = 0;
  #call;
  #asked;
  #heard;

  /** `asked`: what the model server was asked, in its order; its answers are `MODEL.INDEX`. `heard`: the file of the agents. */
  constructor({ call, asked, heard }) {
    this.#call = call;
    this.#asked = asked;
    this.#heard = heard;
  }

  async judge({ id, tag }) {
    this.judged += 1;
    const { body: session } = await this.#call('GET', `/api/sessions/${id}`);
    const events = await this.#events(id);
    const fail = (what) => this.violations.push(`session ${id} (${tag}): ${what}`);
    if (session.status !== 'completed') fail(`it is ${session.status}: ${JSON.stringify(session.error ?? {})}`);
    const text = events.findLast(({ type }) => type === 'complete')?.result.outcomes.parts[0].text ?? '';
    const found = /^answer (\d+), left done, right done, Ada, answer (\d+)$/.exec(text);
    if (found === null) fail(`its result is ${JSON.stringify(text)}`);
    else this.#models(tag, found.slice(1).map(Number), fail);
    this.#agents(tag, fail);
    const count = (test) => events.filter(test).length;
    if (count(({ type }) => type === 'waitForInput') !== 1) fail('the person was not asked once');
    if (count(({ type }) => type === 'finish') !== 1) fail('it did not end once');
    if (count(({ title }) => title === 'result without its call') > 0) fail('a result came after that of its call');
    this.lost += count(({ title }) => title === 'lost');
    for (const title of ['planned', 'worked', 'ended']) {
      const times = count((event) => event.title === title);
      if (times > 1) fail(`its emit ${title} is there ${times} times`);
      if (times === 0) this.unseen += 1;
    }
    const { body } = await this.#call('GET', `/api/sessions?parent=${id}&limit=200`);
    for (const child of body.sessions) if (!final.has(child.status)) fail(`its agent ${child.id} is ${child.status}`);
  }

  /** An answer that is on record is used and never asked for again: so it is that of the last request. */
  #models(tag, answers, fail) {
    for (const [at, what] of ['plan', 'end'].entries()) {
      const requests = this.#asked.flatMap((prompt, index) => (prompt === `${what} ${tag}` ? [index] : []));
      this.askedAgain += requests.length - 1;
      if (requests.at(-1) !== answers[at]) {
        fail(`the model was asked for ${what} as ${requests.join(', ')}, and the program has answer ${answers[at]}`);
      }
    }
  }

  #agents(tag, fail) {
    const lines = readFileSync(this.#heard, 'utf8').trim().split('\n');
    const prompts = lines.map((line) => JSON.parse(line).line).filter((line) => line.split(' ')[1] === tag);
    for (const prompt of new Set(prompts)) {
      const times = prompts.filter((other) => other === prompt).length;
      if (times > 1) fail(`an agent heard "${prompt}" ${times} times`);
    }
    for (const side of ['left', 'right']) {
      if (!prompts.some((prompt) => prompt.startsWith(`${side} `))) fail(`${side} was never prompted`);
    }
  }

  async #events(id) {
    const events = [];
    for (let after = 0; ; ) {
      const path = `/api/sessions/${id}/events?format=json&after=${after}&limit=${pageSize}`;
      const { body } = await this.#call('GET', path);
      events.push(...body.events);
      after = body.events.at(-1)?.seq ?? after;
      if (!body.more) return events;
    }
  }
}
