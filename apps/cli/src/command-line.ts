import { harmless, nearest } from '@concerto/base';
import { type CommandSpec, fitted, helpText, UsageError } from './arguments.ts';

/** What a file behind the table exports. */
interface CommandModule {
  readonly spec: CommandSpec;
  /** What `--help` shows, where it depends on the rest of the line. */
  readonly specOf?: (argv: readonly string[]) => CommandSpec;
  /** The words that can stand first, where there are some. */
  readonly subcommands?: readonly string[];
  /** Resolves with the exit code. */
  run(argv: string[]): Promise<number>;
}

interface CommandEntry {
  readonly summary: string;
  /** Loads the command's code only when it is called: starting must stay cheap. */
  readonly load: () => Promise<CommandModule>;
}

export type CommandTable = { readonly [name: string]: CommandEntry };

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Read only when asked for. */
  readonly version: () => string;
  /** How wide it is; as wide as it takes when absent. */
  readonly columns?: number;
}

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

export async function runCommandLine(
  commands: CommandTable,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    terminal.err(fitted(overview(commands), columnsOf(terminal)));
    return EXIT_USAGE;
  }
  if (first === '--help' || first === '-h' || (first === 'help' && rest.length === 0)) {
    terminal.out(fitted(overview(commands), columnsOf(terminal)));
    return 0;
  }
  if (['--version', '-V', '-v', 'version'].includes(first)) {
    terminal.out(`concerto ${terminal.version()}\n`);
    return 0;
  }
  const asksHelp = first === 'help';
  const name = asksHelp ? (rest[0] ?? '') : first;
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) {
    terminal.err(unknownCommand(commands, name));
    return EXIT_USAGE;
  }
  let about = name;
  try {
    const module = await entry.load();
    about = module.specOf?.(rest).name ?? name;
    if (asksHelp || wantsHelp(rest)) {
      const words = asksHelp ? rest.slice(1) : rest;
      terminal.out(helpText(module.specOf?.(words) ?? module.spec, columnsOf(terminal)));
      return 0;
    }
    return await module.run(rest);
  } catch (error) {
    return reportFailure(error, about, terminal);
  }
}

function columnsOf({ columns = Number.POSITIVE_INFINITY }: Terminal): number {
  return columns;
}

function reportFailure(error: unknown, name: string, terminal: Terminal): number {
  if (error instanceof UsageError) {
    terminal.err(`error: ${error.message}\nSee \`concerto ${name} --help\`.\n`);
    return EXIT_USAGE;
  }
  const message = error instanceof Error ? error.message : String(error);
  terminal.err(`error: ${harmless(message)}\n`);
  if (process.env.CONCERTO_DEBUG !== undefined && error instanceof Error) terminal.err(`${error.stack ?? ''}\n`);
  return EXIT_FAILURE;
}

function wantsHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

function unknownCommand(commands: CommandTable, name: string): string {
  const kind = name.startsWith('-') ? 'option' : 'command';
  const meant = nearest(name, [...Object.keys(commands), 'help', 'version']);
  const hint = meant === undefined ? '' : ` Did you mean \`concerto ${meant}\`?`;
  return `error: unknown ${kind} \`${name}\`.${hint}\nSee \`concerto --help\`.\n`;
}

function overview(commands: CommandTable): string {
  const names = Object.keys(commands);
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${commands[name]?.summary ?? ''}`);
  return [
    'Concerto: supervise live agents, and the language to do it in.',
    '',
    'usage: concerto COMMAND [ARGUMENTS]',
    '',
    ...lines,
    '',
    '`concerto COMMAND --help` shows what a command takes, `concerto --version` which one this is.',
    '',
  ].join('\n');
}
