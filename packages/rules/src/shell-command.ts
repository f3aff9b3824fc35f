/** One command of a line: its words without their quotes, and whether it writes to a file by itself. */
export type CommandPart = { readonly words: readonly string[]; readonly writes: boolean };

/**
 * A command line taken apart. `unclear` says why nobody can tell from the text what would run; whatever was found is in
 * `parts` all the same, for rules that forbid.
 */
export type CommandLine = { readonly parts: readonly CommandPart[]; readonly unclear?: string };

/** Words that begin something other than a command. */
const keywords = new Set(
  'if then else elif fi for while until do done case esac function select in { } ! [[ ]] coproc time'.split(' '),
);
/** Programs that run what their arguments, a variable or a file say. */
const runners = new Set(
  [
    'eval source . exec trap command builtin sh bash zsh dash ksh fish busybox ssh xargs parallel watch timeout nohup setsid',
    'env sudo doas su runuser pkexec setpriv chroot unshare nsenter nice ionice chrt taskset prlimit setarch stdbuf flock',
    'script strace ltrace systemd-run fakeroot xvfb-run',
  ].flatMap((line) => line.split(' ')),
);
/** Programs that look for files and run a command on what they find, with the options after which it stands. */
const finders: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['find', new Set(['-exec', '-execdir', '-ok', '-okdir'])],
  ['fd', new Set(['-x', '-X', '--exec', '--exec-batch'])],
]);

class Reader {
  readonly text: string;
  at = 0;
  depth = 0;
  unclear: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get next(): string {
    return this.text[this.at] ?? '';
  }

  doubt(why: string): void {
    this.unclear ??= why;
  }
}

/** Longer than anybody reads, and deeper than anybody writes. */
const charactersMax = 20_000;
const depthMax = 20;
/** Where in a command that runs others the other may begin. */
const tailsMax = 50;

export function readCommand(command: string | readonly string[], depth = 0): CommandLine {
  if (typeof command !== 'string') return ofWords(command);
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\x00-\x08\x0B-\x1F\x7F-\x9F]/.test(command))
    return { parts: wordsOf(command), unclear: 'it has control characters' };
  if (command.length > charactersMax || depth > depthMax) {
    return { parts: wordsOf(command), unclear: 'it is too long to be read' };
  }
  const reader = new Reader(command);
  const parts = readParts(reader, '').flatMap((part) => [part, ...ofFinder(part)]);
  const odd = parts.map(oddity).find((why) => why !== undefined);
  const unclear = reader.unclear ?? odd;
  return {
    parts: [...parts, ...parts.flatMap((part) => inner(part, depth))],
    ...(unclear === undefined ? {} : { unclear }),
  };
}

/** Given as a list it goes to no shell, unless it is one. */
function ofWords(words: readonly string[]): CommandLine {
  const whole = { words, writes: false };
  const parts = [whole, ...ofFinder(whole)];
  const unclear = parts.map(oddity).find((why) => why !== undefined);
  return {
    parts: [...parts, ...parts.flatMap((part) => inner(part, 0))],
    ...(unclear === undefined ? {} : { unclear }),
  };
}

function wordsOf(text: string): readonly CommandPart[] {
  // oxlint-disable-next-line no-control-regex -- they are what is cut at
  return [{ words: text.split(/[\x00-\x20\x7F-\x9F]+/).filter((word) => word !== ''), writes: false }];
}

function oddity({ words }: CommandPart): string | undefined {
  const [first = ''] = words;
  if (keywords.has(first)) return `\`${first}\` is not a plain command`;
  if (/^[A-Za-z_]\w*\+?=/.test(first)) return 'it sets a variable for what it runs';
  if (/[$*?[\]{}~]/.test(first)) return 'which program it runs depends on more than the text';
  if (runners.has(baseName(first))) return `\`${baseName(first)}\` runs what its arguments say`;
  return undefined;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

/** The commands that `find . -exec rm {} +` runs. */
function ofFinder({ words }: CommandPart): readonly CommandPart[] {
  const [first = '', ...rest] = words;
  const options = finders.get(baseName(first));
  if (options === undefined) return [];
  return rest.slice(0, tailsMax).flatMap((word, index) => {
    if (!options.has(word)) return [];
    const tail = rest.slice(index + 1);
    const end = tail.findIndex((next) => next === ';' || next === '+');
    return [{ words: end < 0 ? tail : tail.slice(0, end), writes: false }];
  });
}

/** What stands within a command that runs others: `sudo rm x`, `sh -c "rm x"`, `A=1 rm x`. */
function inner({ words }: CommandPart, depth: number): readonly CommandPart[] {
  const [first = '', ...rest] = words;
  const assigns = /^[A-Za-z_]\w*\+?=/.test(first);
  if (!assigns && !runners.has(baseName(first)) && !keywords.has(first)) return [];
  const scripts = rest.filter((word) => /\s/.test(word)).flatMap((word) => readCommand(word, depth + 1).parts);
  const tails = rest.slice(0, tailsMax).map((_, index) => ({ words: rest.slice(index), writes: false }));
  return [...scripts, ...tails];
}

function readParts(reader: Reader, until: string): readonly CommandPart[] {
  reader.depth += 1;
  if (reader.depth > depthMax) {
    reader.doubt('it is too deep to be read');
    const rest = reader.text.slice(reader.at);
    reader.at = reader.text.length;
    return wordsOf(rest);
  }
  const parts = readList(reader, until);
  reader.depth -= 1;
  return parts;
}

function readList(reader: Reader, until: string): readonly CommandPart[] {
  const parts: CommandPart[] = [];
  let words: string[] = [];
  let writes = false;
  const flush = (): void => {
    // One that only writes is a command too: `> file` empties it.
    if (words.length > 0 || writes) parts.push({ words, writes });
    words = [];
    writes = false;
  };
  while (reader.at < reader.text.length) {
    const character = reader.next;
    if (character === until) {
      reader.at += 1;
      flush();
      return parts;
    }
    if (character === ' ' || character === '\t') reader.at += 1;
    else if (';&|\n'.includes(character)) {
      reader.at += 1;
      flush();
    } else if (character === '(' || character === ')') {
      reader.doubt('it has a subshell');
      reader.at += 1;
      flush();
    } else if (character === '<' || character === '>') writes = readRedirection(reader, parts) || writes;
    else if (character === '#') {
      reader.doubt('it has a comment');
      reader.at += 1;
    } else if (/^\d+[<>]/.test(reader.text.slice(reader.at, reader.at + 8))) reader.at += 1;
    else words.push(readWord(reader, parts));
  }
  if (until !== '') reader.doubt('something is not closed');
  flush();
  return parts;
}

/** Whether it writes; what it reads or writes is no word of the command. */
function readRedirection(reader: Reader, parts: CommandPart[]): boolean {
  const sign = /^(<<<|<<-?|<\(|>\(|&>>?|>>|>\||>&|<&|<>|<|>)/.exec(reader.text.slice(reader.at))?.[0] ?? '';
  reader.at += sign.length;
  if (sign === '<(' || sign === '>(') {
    reader.doubt('it runs a command within the command');
    parts.push(...readParts(reader, ')'));
    return false;
  }
  if (sign.startsWith('<<')) {
    reader.doubt('it has a document within');
    return false;
  }
  while (reader.next === ' ' || reader.next === '\t') reader.at += 1;
  const target = readWord(reader, parts);
  const harmless = target === '/dev/null' || (sign === '>&' && /^(\d|-)$/.test(target));
  return sign.includes('>') && !harmless;
}

function readWord(reader: Reader, parts: CommandPart[]): string {
  let word = '';
  while (reader.at < reader.text.length) {
    const character = reader.next;
    if (' \t\n;&|<>()'.includes(character)) break;
    if (character === "'") word += readSingle(reader);
    else if (character === '"') word += readDouble(reader, parts);
    else if (character === '\\') word += readEscaped(reader);
    else if (character === '`') word += readBackticks(reader, parts);
    else if (character === '$') word += readDollar(reader, parts);
    else {
      word += character;
      reader.at += 1;
    }
  }
  return word;
}

function readEscaped(reader: Reader): string {
  const next = reader.text[reader.at + 1];
  reader.at += 2;
  if (next === undefined) reader.doubt('it ends within an escape');
  // A line that goes on.
  return next === undefined || next === '\n' ? '' : next;
}

function readSingle(reader: Reader): string {
  const end = reader.text.indexOf("'", reader.at + 1);
  if (end < 0) reader.doubt('a quote is not closed');
  const word = reader.text.slice(reader.at + 1, end < 0 ? undefined : end);
  reader.at = end < 0 ? reader.text.length : end + 1;
  return word;
}

function readDouble(reader: Reader, parts: CommandPart[]): string {
  let word = '';
  reader.at += 1;
  while (reader.at < reader.text.length) {
    const character = reader.next;
    if (character === '"') {
      reader.at += 1;
      return word;
    }
    if (character === '\\') {
      const next = reader.text[reader.at + 1] ?? '';
      if (next !== '\n') word += '"\\$`'.includes(next) ? next : `\\${next}`;
      reader.at += 2;
    } else if (character === '`') word += readBackticks(reader, parts);
    else if (character === '$') word += readDollar(reader, parts);
    else {
      word += character;
      reader.at += 1;
    }
  }
  reader.doubt('a quote is not closed');
  return word;
}

function readBackticks(reader: Reader, parts: CommandPart[]): string {
  reader.doubt('it runs a command within the command');
  reader.at += 1;
  const start = reader.at;
  parts.push(...readParts(reader, '`'));
  return reader.text.slice(start - 1, reader.at);
}

function readDollar(reader: Reader, parts: CommandPart[]): string {
  const start = reader.at;
  const next = reader.text[reader.at + 1] ?? '';
  reader.at += 1;
  if (next === '(') {
    reader.doubt('it runs a command within the command');
    reader.at += 1;
    parts.push(...readParts(reader, ')'));
  } else if (next === "'" || next === '"') {
    reader.doubt('it has a quote with escapes');
  } else if (next === '{') {
    const end = reader.text.indexOf('}', reader.at);
    if (end < 0) reader.doubt('something is not closed');
    const inside = reader.text.slice(reader.at, end < 0 ? undefined : end);
    if (!/^\{\w+$/.test(inside)) reader.doubt('it computes a word');
    reader.at = end < 0 ? reader.text.length : end + 1;
  }
  return reader.text.slice(start, reader.at);
}
