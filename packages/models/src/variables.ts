export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Resolved = {
  readonly values: Readonly<Record<string, string>>;
  /** What was read from the environment; never to be shown. */
  readonly secrets: readonly string[];
  /** Variables that are not set. */
  readonly missing: readonly string[];
};

/** Fills in `${NAME}` from the environment, so that a manifest holds the names of secrets and not the secrets. */
export function resolveVariables(table: Readonly<Record<string, string>>, environment: Environment): Resolved {
  const secrets: string[] = [];
  const missing: string[] = [];
  const values: Record<string, string> = {};
  for (const [key, written] of Object.entries(table)) {
    values[key] = written.replaceAll(REFERENCE, (_whole, name: string) => {
      const found = environment[name];
      if (found === undefined) missing.push(name);
      else secrets.push(found);
      return found ?? '';
    });
  }
  return { values, secrets, missing };
}
