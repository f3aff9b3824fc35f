import { parseArgs } from 'node:util';
import { nearest } from '@concerto/base';
import { type Margin, wrapped } from './terminal/wrap.ts';

interface OptionSpec {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: boolean;
  /** How the help names the value of a string option, such as `FILE`. */
  readonly value?: string;
  readonly help: string;
}

export type OptionTable = { readonly [name: string]: OptionSpec };

/** What a command takes; also the source of its `--help`. */
export interface CommandSpec<Options extends OptionTable = OptionTable> {
  readonly name: string;
  readonly summary: string;
  /** The line after `concerto NAME`, such as `[PATH...]`. */
  readonly usage: string;
  readonly options: Options;
  readonly minPositionals?: number;
  /** Unlimited when absent. */
  readonly maxPositionals?: number;
  /** Further paragraphs of the help. */
  readonly details?: string;
}

type OptionValue<Spec extends OptionSpec> = Spec['type'] extends 'boolean'
  ? boolean
  : Spec['multiple'] extends true
    ? string[]
    : string | undefined;

export interface ParsedArguments<Options extends OptionTable> {
  readonly values: { readonly [Name in keyof Options]: OptionValue<Options[Name]> };
  readonly positionals: readonly string[];
}

/** The caller typed something this command does not take: exit code 2. */
export class UsageError extends Error {
  readonly code = 'usage';
}

export function defineCommand<const Options extends OptionTable>(spec: CommandSpec<Options>): CommandSpec<Options> {
  return spec;
}

/** Throws `UsageError`, which `main` prints. */
export function parseArguments<const Options extends OptionTable>(
  spec: CommandSpec<Options>,
  argv: readonly string[],
): ParsedArguments<Options> {
  const { tokens } = parseArgs({
    args: [...argv],
    options: parseArgsOptions(spec.options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: { [name: string]: boolean | string | string[] | undefined } = {};
  for (const [name, option] of Object.entries(spec.options)) values[name] = initialValue(option);
  const positionals: string[] = [];
  let numberAt = -1;
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    // A number below zero is no option: whoever takes it says what is wrong with it. `-10` is a token for each digit.
    const typed = argv[token.index];
    if (typed !== undefined && /^-\d/.test(typed)) {
      if (token.index !== numberAt) positionals.push(typed);
      numberAt = token.index;
      continue;
    }
    const option = Object.hasOwn(spec.options, token.name) ? spec.options[token.name] : undefined;
    if (option === undefined) throw new UsageError(unknownOption(spec, token.rawName));
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`);
      values[token.name] = true;
      continue;
    }
    if (token.value === undefined || (!token.inlineValue && isOption(spec, token.value)))
      throw new UsageError(`${token.rawName} needs a value (${option.value ?? 'TEXT'})`);
    const previous = values[token.name];
    if (Array.isArray(previous)) previous.push(token.value);
    else values[token.name] = token.value;
  }
  checkPositionals(spec, positionals);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value was set by the type of its own option above
  return { values: values as ParsedArguments<Options>['values'], positionals };
}

/** Whoever forgot a value did not mean the next option as one. */
function isOption({ options }: CommandSpec, text: string): boolean {
  return text.startsWith('--') && Object.hasOwn(options, text.slice(2));
}

function parseArgsOptions(options: OptionTable): { [name: string]: { type: 'boolean' | 'string'; short?: string } } {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]) => [name, short === undefined ? { type } : { type, short }]),
  );
}

function initialValue(option: OptionSpec): boolean | string[] | undefined {
  if (option.type === 'boolean') return false;
  return option.multiple === true ? [] : undefined;
}

function unknownOption(spec: CommandSpec, rawName: string): string {
  const known = [...Object.keys(spec.options), 'help'];
  const meant = nearest(rawName.replace(/^-+/, ''), known);
  const hint = meant === undefined ? '' : `; did you mean --${meant}?`;
  return `unknown option ${rawName}${hint}`;
}

function checkPositionals(spec: CommandSpec, positionals: readonly string[]): void {
  if (positionals.length < (spec.minPositionals ?? 0)) {
    throw new UsageError(`expected: concerto ${spec.name} ${spec.usage}`);
  }
  const extra = positionals[spec.maxPositionals ?? positionals.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)}`);
}

/** No line is wider than the terminal; a pipe has as many columns as it takes. */
export function helpText(spec: CommandSpec, columns = Number.POSITIVE_INFINITY): string {
  const rows = Object.entries(spec.options).map(([name, option]) => {
    const short = option.short === undefined ? '    ' : `-${option.short}, `;
    const value = option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : '';
    return { left: `${short}--${name}${value}`, right: option.help };
  });
  rows.push({ left: '-h, --help', right: 'show this text' });
  const width = Math.max(...rows.map((row) => row.left.length));
  const lines = rows.map((row) => `  ${row.left.padEnd(width)}  ${row.right}`);
  const details = spec.details === undefined ? [] : ['', spec.details];
  const text = [
    `${spec.summary}`,
    '',
    `usage: concerto ${`${spec.name} ${spec.usage}`.trim()}`,
    '',
    'options:',
    ...lines,
    ...details,
    '',
  ].join('\n');
  return fitted(text, columns);
}

/** Lines that are too long go on below where what they say began: behind a name and two blanks, if there is one. */
export function fitted(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= columns ? [line] : brokenLine(line, columns)))
    .join('\n');
}

function brokenLine(line: string, columns: number): readonly string[] {
  const [, indent = '', name = '', rest = ''] = /^(\s*)(?:(\S.*?\s{2,})(?=\S))?(.*)$/.exec(line) ?? [];
  const left = indent + name;
  // Beside a wide name would be no room.
  if (left.length > columns / 2)
    return [left.trimEnd(), ...wrapped(rest, columns, evenMargin(' '.repeat(indent.length + 4)))];
  return wrapped(rest, columns, { first: left, others: ' '.repeat(left.length) });
}

function evenMargin(margin: string): Margin {
  return { first: margin, others: margin };
}
