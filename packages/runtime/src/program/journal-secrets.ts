import type { IrModule } from '@concerto/ir';

/** Shorter texts are too likely to be part of an ordinary word. */
const SHORTEST_SECRET = 6;
const SECRET_NAME = /key|token|secret|passw|credential|auth/i;
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|"api_key_env":"([A-Za-z_][A-Za-z0-9_]*)"/g;
const OPENING = '[secret:';
/** A mark we wrote, or the opening of one that somebody else wrote, which has a second colon. */
const MARK = /\[secret:(?::|([A-Za-z_][A-Za-z0-9_]*)\])/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Keeps values of secret variables out of a journal: each is written as `[secret:NAME]` and read back as what the
 * variable holds then. Works on lines of JSON.
 */
export class JournalSecrets {
  /** By name, the value as it stands inside a JSON string. */
  readonly #written = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #missing: 'refuse' | 'pretend';
  #found: RegExp | undefined;

  /** `missing`: what becomes of a mark whose variable is not set here. */
  constructor(module: IrModule, environment: Environment, missing: 'refuse' | 'pretend') {
    const references = JSON.stringify([module.manifest, module.agents, module.mcp]).matchAll(REFERENCE);
    const referred = new Set([...references].map(([, variable, key]) => variable ?? key));
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined || value.length < SHORTEST_SECRET || !NAME.test(name)) continue;
      if (SECRET_NAME.test(name) || referred.has(name)) this.#add(name, JSON.stringify(value).slice(1, -1));
    }
    this.#missing = missing;
  }

  #add(name: string, written: string): void {
    this.#written.set(name, written);
    if (!this.#names.has(written)) this.#names.set(written, name);
    this.#found = undefined;
  }

  /** In one pass: what stands for one secret may contain another. */
  strike(line: string): string {
    this.#found ??= this.#pattern();
    return line.replaceAll(this.#found, (found) => (found === OPENING ? `${OPENING}:` : this.#mark(found)));
  }

  #mark(written: string): string {
    return `${OPENING}${this.#names.get(written) ?? ''}]`;
  }

  /** The longest first: one secret may begin with another. */
  #pattern(): RegExp {
    const texts = [...this.#names.keys(), OPENING].sort((left, right) => right.length - left.length);
    return new RegExp(texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
  }

  /** Throws the name of a variable that is needed and not set. */
  restore(line: string): string {
    if (!line.includes(OPENING)) return line;
    return line.replaceAll(MARK, (_mark, name: string | undefined) => {
      if (name === undefined) return OPENING;
      return this.#written.get(name) ?? this.#absent(name);
    });
  }

  #absent(name: string): string {
    if (this.#missing === 'refuse') throw new MissingSecret(name);
    // Stands for the value, and is struck out again as the value would be.
    const written = `\\u0000${name}`;
    this.#add(name, written);
    return written;
  }
}

export class MissingSecret extends Error {
  override readonly name = 'MissingSecret';
  readonly code = 'missing-secret';
  readonly variable: string;

  constructor(variable: string) {
    super(`${variable} is not set`);
    this.variable = variable;
  }
}
