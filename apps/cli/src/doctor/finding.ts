/** What one check found. `help` says what to do about it. */
export type Finding = {
  readonly check: string;
  readonly message: string;
  /** The place in a file, drawn as `concerto check` draws it; for people only. */
  readonly picture?: string;
} & ({ readonly status: 'ok'; readonly help?: string } | { readonly status: 'warn' | 'fail'; readonly help: string });

export function passed(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function warned(check: string, message: string, help: string): Finding {
  return { check, status: 'warn', message, help };
}

export function failed(check: string, message: string, help: string): Finding {
  return { check, status: 'fail', message, help };
}

/** A group of checks that can run beside others. `say` tells what is waited for. */
export type CheckTask = {
  readonly name: string;
  readonly run: (say: (doing: string) => void) => Promise<readonly Finding[]>;
};

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
