import { assert } from '@concerto/base';

/** Replies come as unknown; a wrong shape here is not what the command of that name returns. */
export function listReply(reply: unknown): readonly unknown[] {
  assert(Array.isArray(reply), 'Redis replied with a list');
  return reply;
}

export function textReply(reply: unknown): string {
  assert(typeof reply === 'string', 'Redis replied with a text');
  return reply;
}

export function numberReply(reply: unknown): number {
  return reply === null || reply === undefined ? 0 : Number(reply);
}

export type StreamEntry = {
  readonly position: number;
  readonly aside: number;
  readonly type: string;
  readonly data: string;
};

/** One item of an XRANGE reply: `[id, [field, value, …]]`. */
export function streamEntry(item: unknown): StreamEntry {
  const [id, fields] = listReply(item);
  const name = textReply(id);
  const dash = name.indexOf('-');
  const values = listReply(fields);
  return {
    position: Number(name.slice(0, dash)),
    aside: Number(name.slice(dash + 1)),
    type: textReply(values[1]),
    data: textReply(values[3]),
  };
}

export function timeReply(reply: unknown): number {
  const [seconds, microseconds] = listReply(reply);
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
