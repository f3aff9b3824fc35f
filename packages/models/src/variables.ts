export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Text with references to variables in it, or text that is meant as it stands. */
export type Setting = string | { readonly text: string };

export type Resolved = {
  readonly values: Readonly<Record<string, string>>;
  /** What was read from the environment; never to be shown. */
  readonly secrets: readonly string[];
  /** Variables that are not set. */
  readonly missing: readonly string[];
};

/** Fills in `${NAME}` from the environment, so that a manifest holds the names of secrets and not the secrets. */
export function resolveVariables(table: Readonly<Record<string, Setting>>, environment: Environment): Resolved {
  const secrets: string[] = [];
  const missing: string[] = [];
  const values: Record<string, string> = {};
  for (const [key, written] of Object.entries(table)) {
    if (typeof written !== 'string') {
      values[key] = written.text;
      continue;
    }
    values[key] = written.replaceAll(REFERENCE, (_whole, name: string) => {
      const found = environment[name];
      if (found === undefined) missing.push(name);
      else secrets.push(found);
      return found ?? '';
    });
  }
  return { values, secrets, missing };
}
