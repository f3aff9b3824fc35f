import type { IrModule } from '@concerto/ir';

/** Shorter texts are too likely to be part of an ordinary word. */
const SHORTEST_SECRET = 6;
const SECRET_NAME = /key|token|secret|passw|credential|auth/i;
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|"api_key_env":"([A-Za-z_][A-Za-z0-9_]*)"/g;
/** A mark we wrote, or `[secret:` of somebody else, which is written with a second colon. */
const MARK = /\[secret:(?::|([A-Za-z_][A-Za-z0-9_]*)\])/g;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Keeps values of secret variables out of a journal: each is written as `[secret:NAME]` and read back as what the
 * variable holds then. Works on lines of JSON.
 */
export class JournalSecrets {
  /** As they stand inside a JSON string, longest first: one may contain another. */
  readonly #values: (readonly [name: string, written: string])[];
  readonly #written: Map<string, string>;
  readonly #missing: 'refuse' | 'pretend';

  /** `missing`: what becomes of a mark whose variable is not set here. */
  constructor(module: IrModule, environment: Environment, missing: 'refuse' | 'pretend') {
    const references = JSON.stringify([module.manifest, module.agents, module.mcp]).matchAll(REFERENCE);
    const referred = new Set([...references].map(([, variable, key]) => variable ?? key));
    this.#values = Object.entries(environment).flatMap(([name, value]) => {
      if (value === undefined || value.length < SHORTEST_SECRET) return [];
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return [];
      return SECRET_NAME.test(name) || referred.has(name) ? [[name, inJson(value)] as const] : [];
    });
    this.#values.sort(([, a], [, b]) => b.length - a.length);
    this.#written = new Map(this.#values);
    this.#missing = missing;
  }

  strike(line: string): string {
    let struck = line.replaceAll('[secret:', '[secret::');
    for (const [name, written] of this.#values) {
      if (struck.includes(written)) struck = struck.replaceAll(written, `[secret:${name}]`);
    }
    return struck;
  }

  /** Throws the name of a variable that is needed and not set. */
  restore(line: string): string {
    if (!line.includes('[secret:')) return line;
    return line.replaceAll(MARK, (_mark, name: string | undefined) => {
      if (name === undefined) return '[secret:';
      return this.#written.get(name) ?? this.#absent(name);
    });
  }

  #absent(name: string): string {
    if (this.#missing === 'refuse') throw new MissingSecret(name);
    // Stands for the value, and is struck out again as the value would be.
    const written = `\\u0000${name}`;
    this.#values.push([name, written]);
    this.#written.set(name, written);
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

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
