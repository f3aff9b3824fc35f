import type { Json, JsonObject } from '@concerto/base';

/** What of an output may begin a call, or ask about one. */
type Word = {
  readonly kind: string;
  readonly raw?: JsonObject & { readonly type: string };
  readonly message?: object;
};

/** An agent that asks about a call of long ago names it by nothing that we still know. */
const callsMax = 1_000;

/** What an approval does not say of what it is about is taken from the `tool_call` that it names: rules and people see the same. */
export class NamedCalls {
  readonly #calls = new Map<Json, JsonObject>();

  complete<Output extends Word>(batch: readonly Output[]): readonly Output[] {
    return batch.some(isOfCall) ? batch.map((word) => completed(word, this.#calls)) : batch;
  }
}

function isOfCall({ raw }: Word): boolean {
  return raw?.type === 'tool_call' || (raw?.type === 'approval' && raw.call !== undefined);
}

function completed<Output extends Word>(word: Output, calls: Map<Json, JsonObject>): Output {
  const { raw, message } = word;
  if (raw?.type === 'tool_call' && raw.id !== undefined) {
    calls.set(raw.id, fieldsOf(raw));
    const [oldest] = calls.size > callsMax ? calls.keys() : [];
    if (oldest !== undefined) calls.delete(oldest);
  }
  const call = raw?.type === 'approval' && raw.call !== undefined ? calls.get(raw.call) : undefined;
  if (raw === undefined || call === undefined) return word;
  // Its own word counts: what is said of the command or the files is said of all of them.
  const missing = Object.fromEntries(Object.entries(call).filter(([name]) => raw[name] === undefined));
  return {
    ...word,
    raw: { ...raw, ...missing },
    ...(message === undefined ? {} : { message: { ...message, ...missing } }),
  };
}

function fieldsOf({ name, kind, args, locations, changes, server }: JsonObject): JsonObject {
  const said = isObject(args) ? args : {};
  const { command } = said;
  const isCommand =
    typeof command === 'string' || (Array.isArray(command) && command.every((word) => typeof word === 'string'));
  const paths = [...pathsIn(locations), ...pathsIn(changes)];
  return {
    ...(typeof name === 'string' ? { tool: name } : {}),
    ...(typeof kind === 'string' ? { kind } : {}),
    ...(isCommand ? { command } : {}),
    ...(paths.length === 0 ? {} : { paths: [...new Set(paths)] }),
    ...(typeof server === 'string' ? { server } : {}),
    ...(Array.isArray(changes) ? { changes } : {}),
  };
}

function pathsIn(places: Json | undefined): readonly string[] {
  if (!Array.isArray(places)) return [];
  return places.flatMap((place: Json) =>
    isObject(place) ? [place.path, place.moved_to].filter((path) => typeof path === 'string') : [],
  );
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
