import { isNestedTooDeep, type Json, type JsonObject, jsonDepthMax, nearest } from '@concerto/base';
import { type AgentMessageId, agentCapabilities, type Line, LineError, parseAgentLine } from '@concerto/protocol';
import { type Finding, failed, passed, warned } from './finding.ts';
import { WireOrder } from './wire-order.ts';
import { type Fault, shapeFaults, shorten } from './wire-shape.ts';

/** Beyond so many different faults the rest is only counted. */
const faultsShown = 12;
const excerptLength = 100;

type SeenFault = Fault & { readonly line: number; count: number };
type Typed = JsonObject & { readonly type: string };

/** Holds every line an agent writes in one run against the wire, in the order in which it comes. */
export class WireCheck {
  /** Faults that an earlier run of the same agent has shown are not shown again. */
  readonly #known: Set<string>;
  readonly #plainText: 'result' | 'log' | 'error';
  readonly #faults = new Map<string, SeenFault>();
  readonly #counts = new Map<string, number>();
  readonly #requests = new Map<string, string>();
  lines = 0;
  #hasTyped = false;
  #noise: { readonly line: number; readonly text: string; count: number } | undefined;
  readonly #order = new WireOrder();
  /** What its last `init_ack` announced, as it was written. */
  announced: readonly string[] | undefined;

  constructor(plainText: 'result' | 'log' | 'error', known: Set<string>) {
    this.#plainText = plainText;
    this.#known = known;
  }

  /** Before the prompt is written, so that no answer can come earlier. */
  prompted(): void {
    this.#order.prompted();
  }

  /** Before the answer is written. */
  answered(type: string, id: AgentMessageId | undefined): void {
    this.#order.answered(type, id);
  }

  /** Before a request is written. */
  requested(verb: string, id: string): void {
    this.#requests.set(id, verb);
  }

  line(line: Line): void {
    this.lines += 1;
    if (line instanceof LineError) {
      const help = line.code === 'invalid-utf8' ? 'write UTF-8 on stdout' : 'send long content in several messages';
      this.#fault({ key: line.code, status: 'fail', message: line.message, help });
      if (line.text !== undefined) this.#text(line.text);
      return;
    }
    this.#text(line);
  }

  #text(text: string): void {
    const parsed = parseAgentLine(text);
    if (parsed.kind === 'plain') this.#plain(text);
    else if (isNestedTooDeep(parsed.raw)) this.#tooDeep(parsed.raw.type);
    else this.#typed(parsed.raw);
  }

  #plain(text: string): void {
    if (text.trim() === '') return;
    if (/^\s*[{[]/.test(text)) this.#nearlyJson(text);
    else if (this.#noise === undefined) this.#noise = { line: this.lines, text, count: 1 };
    else this.#noise.count += 1;
  }

  #nearlyJson(text: string): void {
    const shown = shorten(text.trim(), excerptLength);
    const help = 'write each message as one JSON object on one line, with a string `type`';
    const value = parsedJson(text);
    if ('fault' in value) {
      this.#fault({ key: 'not JSON', status: 'fail', message: `is not JSON (${value.fault}): ${shown}`, help });
    } else if (Array.isArray(value.json)) {
      this.#fault({ key: 'an array', status: 'fail', message: `is a JSON array, not an object: ${shown}`, help });
    } else {
      const keys = Object.keys(Object(value.json));
      const meant = keys.includes('type') ? undefined : nearest('type', keys);
      const what = keys.includes('type') ? 'has a `type` that is no string' : 'has no `type`';
      const hint = meant === undefined ? '' : `; it has \`${meant}\``;
      this.#fault({ key: 'no type', status: 'fail', message: `${what}: ${shown}${hint}`, help });
    }
  }

  #typed(raw: Typed): void {
    this.#hasTyped = true;
    this.#counts.set(raw.type, (this.#counts.get(raw.type) ?? 0) + 1);
    const faults = shapeFaults(raw);
    for (const fault of faults) this.#fault(fault);
    this.#sequence(raw);
  }

  /** It ends the turn, whatever it is. */
  #tooDeep(type: string): void {
    const message = `\`${shorten(type, excerptLength)}\` nests deeper than ${jsonDepthMax} levels`;
    this.#fault({ key: 'too deep', status: 'fail', message, help: 'send what nests so deep as a text' });
  }

  /** What may come when. */
  #sequence(raw: Typed): void {
    for (const fault of this.#order.faults(raw)) this.#fault(fault);
    if (raw.type === 'ack') this.#ack(raw.in_reply_to, raw.in_reply_to_id);
    if (raw.type !== 'init_ack') return;
    if (this.announced !== undefined)
      this.#fault({
        key: 'second init_ack',
        status: 'warn',
        message: 'a second `init_ack`; the last one counts',
        help: 'announce the capabilities once',
      });
    this.announced = Array.isArray(raw.capabilities) ? raw.capabilities.map(String) : [];
  }

  #ack(verb: Json | undefined, id: Json | undefined): void {
    if (typeof verb !== 'string' || typeof id !== 'string') return; // Its shape is at fault already.
    const asked = this.#requests.get(id);
    const help = 'repeat the request’s `type` in `in_reply_to` and its `id` in `in_reply_to_id`';
    if (asked === undefined) {
      const message = `\`ack\` for the id "${shorten(id, excerptLength)}", which no request had`;
      this.#fault({ key: 'ack id', status: 'fail', message, help });
    } else if (asked !== verb) {
      const message = `\`ack\`: field \`in_reply_to\`: expected "${asked}", found "${shorten(verb, excerptLength)}"`;
      this.#fault({ key: 'ack verb', status: 'fail', message, help });
    } else if (verb === 'interrupt' || verb === 'cancel') {
      this.#order.stopped();
    }
  }

  #fault(fault: Fault): void {
    const seen = this.#faults.get(fault.key);
    if (seen === undefined) this.#faults.set(fault.key, { ...fault, line: this.lines, count: 1 });
    else seen.count += 1;
  }

  /** A finding for each kind of fault, or one that says that there is none. */
  findings(check: string): readonly Finding[] {
    const fresh = [...this.#faults.values()].filter(({ key }) => !this.#known.has(key));
    for (const { key } of fresh) this.#known.add(key);
    const shown = fresh.slice(0, faultsShown).map((fault) => this.#faultFinding(check, fault));
    const rest = fresh.length - shown.length;
    const more = rest > 0 ? [failed(check, `${rest} more faults of other kinds`, 'correct the ones above first')] : [];
    const noise = this.#noiseFinding(`${check}.plain`);
    const all = this.#faults.size === 0 && this.lines > 0 ? [passed(check, this.#summary())] : [];
    return [...all, ...shown, ...more, ...noise];
  }

  #faultFinding(check: string, { line, count, status, message, help }: SeenFault): Finding {
    const more = count > 1 ? ` (and ${count - 1} more like it)` : '';
    // A program that never speaks the wire may well print JSON of its own: that is its result.
    const isOwnJson = !this.#hasTyped && (message.startsWith('has no `type`') || message.startsWith('is a JSON array'));
    return (status === 'warn' || isOwnJson ? warned : failed)(check, `line ${line}: ${message}${more}`, help);
  }

  #noiseFinding(check: string): readonly Finding[] {
    if (this.#noise === undefined) return [];
    const { line, text, count } = this.#noise;
    const fate = this.#hasTyped || this.#plainText === 'log' ? 'a log line' : 'the text of the result';
    const shown = `line ${line}: ${shorten(text.trim(), excerptLength)}`;
    const lines = `${count} ${count === 1 ? 'line' : 'lines'} of plain text`;
    const help = 'write what is for people on stderr, and only messages on stdout';
    if (this.#plainText === 'error')
      return [failed(check, `${lines}, which \`plain_text = "error"\` forbids; ${shown}`, help)];
    if (!this.#hasTyped) return [passed(check, `${lines}, taken as ${fate}; ${shown}`)];
    return [warned(check, `${lines} beside the messages, each taken as ${fate}; ${shown}`, help)];
  }

  #summary(): string {
    const lines = `${this.lines} ${this.lines === 1 ? 'line' : 'lines'}`;
    const types = [...this.#counts].map(([type, count]) => `${count} ${type}`);
    if (types.length === 0) return `${lines}, no typed message`;
    return `${lines}, every message in its shape: ${types.join(', ')}`;
  }
}

/** Names among the announced that mean nothing here. */
export function capabilityFindings(check: string, announced: readonly string[] | undefined): readonly Finding[] {
  if (announced === undefined || announced.length === 0) {
    return [passed(check, 'none announced; steering waits for the next turn, stopping is by signals')];
  }
  const isKnown = (name: string): boolean => agentCapabilities.some((known) => known === name);
  const known = announced.filter(isKnown);
  const unknown = announced.filter((name) => !isKnown(name));
  return [
    ...(known.length === 0 ? [] : [passed(check, `announced: ${known.join(', ')}`)]),
    ...[...new Set(unknown)].map((name) => unknownCapability(check, name)),
    ...(known.includes('pause') && !known.includes('resume')
      ? [warned(check, 'announces `pause` without `resume`', 'announce both, or neither')]
      : []),
  ];
}

function unknownCapability(check: string, name: string): Finding {
  const meant = nearest(name, agentCapabilities);
  const help = meant === undefined ? `there are ${agentCapabilities.join(', ')}` : `did you mean \`${meant}\`?`;
  return warned(check, `there is no capability \`${shorten(name, excerptLength)}\`; it is ignored`, help);
}

function parsedJson(text: string): { readonly json: unknown } | { readonly fault: string } {
  try {
    return { json: JSON.parse(text) };
  } catch (cause) {
    const fault = cause instanceof Error ? cause.message : String(cause);
    return { fault: shorten(fault.replace(/, "[\s\S]*$/, '').replace(/ in JSON/, ''), excerptLength) };
  }
}
