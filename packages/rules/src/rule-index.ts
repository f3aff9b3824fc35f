import type { Glob } from './glob.ts';
import { matches, type ReadyRule } from './match-rule.ts';
import type { PathPattern, Place } from './path-pattern.ts';
import type { RequestReading } from './request-reading.ts';

/**
 * Rules in their order, found by the first word of the command or the first folder of the path that they are about, so that a
 * thousand of them cost as much as those that may match.
 */
export class RuleIndex {
  readonly #rules: readonly ReadyRule[];
  /** Those that say nothing which could be looked up. */
  readonly #always: number[] = [];
  readonly #byKey = new Map<string, number[]>();
  #hasCommands = false;
  #hasPaths = false;

  constructor(rules: readonly ReadyRule[]) {
    this.#rules = rules;
    for (const [at, rule] of rules.entries()) this.#add(at, rule);
  }

  /** Every one that decides about the request, in their order. */
  matching(reading: RequestReading): readonly ReadyRule[] {
    return this.#rules.filter((rule) => matches(rule, reading));
  }

  /** The first of them. */
  first(reading: RequestReading): ReadyRule | undefined {
    const keys = this.#keysOf(reading);
    if (keys === undefined) return this.#rules.find((rule) => matches(rule, reading));
    const found = [...keys].flatMap((key) => this.#byKey.get(key) ?? []);
    const candidates = found.length === 0 ? this.#always : [...this.#always, ...found].sort((one, two) => one - two);
    for (const at of candidates) {
      const rule = this.#rules[at];
      if (rule !== undefined && matches(rule, reading)) return rule;
    }
    return undefined;
  }

  #add(at: number, { command, path, permits }: ReadyRule): void {
    const words = allOf(command, firstWord);
    const folders = words === undefined ? allOf(path, firstFolder) : undefined;
    const names = words ?? folders;
    if (names === undefined) {
      this.#always.push(at);
      return;
    }
    this.#hasCommands ||= words !== undefined;
    this.#hasPaths ||= folders !== undefined;
    for (const name of new Set(names)) {
      const key = keyOf(words === undefined ? 'path' : 'command', permits, name);
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, [at]);
      else known.push(at);
    }
  }

  /** Under which every rule stands that can match; undefined where that could be any. */
  #keysOf(reading: RequestReading): ReadonlySet<string> | undefined {
    const keys = new Set<string>();
    const { command } = reading.request;
    if (command !== undefined && this.#hasCommands) {
      const { forbidden, permitted } = reading;
      if (forbidden === 'too-many') return undefined;
      for (const text of forbidden) keys.add(keyOf('command', false, wordIn(text)));
      keys.add(keyOf('command', true, wordIn(command.text)));
      for (const [text = ''] of permitted === 'never' ? [] : permitted) keys.add(keyOf('command', true, wordIn(text)));
    }
    if (this.#hasPaths) {
      const { seenPlaces, truePlaces } = reading;
      for (const place of seenPlaces) addFolder(keys, false, place);
      for (const place of truePlaces === 'never' ? [] : truePlaces) addFolder(keys, true, place);
    }
    return keys;
  }
}

function keyOf(about: 'command' | 'path', permits: boolean, name: string): string {
  return `${about} ${permits ? 'yes' : 'no'} ${name}`;
}

function addFolder(keys: Set<string>, permits: boolean, { names: [name], isInside }: Place): void {
  if (isInside && name !== undefined) keys.add(keyOf('path', permits, name));
}

/** Undefined unless each of them has one. */
function allOf<Pattern>(
  patterns: readonly Pattern[] | undefined,
  nameOf: (pattern: Pattern) => string | undefined,
): readonly string[] | undefined {
  if (patterns === undefined) return undefined;
  const names = patterns.flatMap((pattern) => nameOf(pattern) ?? []);
  return names.length === patterns.length ? names : undefined;
}

/** Of a command that can only be written with it: `rm*` is also `rmdir`. */
function firstWord({ pieces: [first = ''], isExact }: Glob): string | undefined {
  return isExact || first.includes(' ') ? wordIn(first) : undefined;
}

function wordIn(text: string): string {
  const end = text.indexOf(' ');
  return end === -1 ? text : text.slice(0, end);
}

function firstFolder({ isAbsolute, parts: [first] }: PathPattern): string | undefined {
  return isAbsolute || first === undefined || first === 'any' || !first.isExact ? undefined : first.pieces[0];
}
