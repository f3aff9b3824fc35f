import { type CommandSpec, defineCommand, parseArguments, UsageError } from './arguments.ts';
import { commands } from './commands.ts';
import { pass } from './terminal/print.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export const spec = defineCommand({
  name: 'completion',
  summary: 'Print what lets a shell complete commands and options.',
  usage: shells.join('|'),
  options: {},
  minPositionals: 1,
  maxPositionals: 1,
  details: [
    'bash: echo \'eval "$(concerto completion bash)"\' >> ~/.bashrc',
    'zsh:  echo \'eval "$(concerto completion zsh)"\' >> ~/.zshrc   (after compinit)',
    'fish: concerto completion fish > ~/.config/fish/completions/concerto.fish',
  ].join('\n'),
});

type Completed = {
  readonly name: string;
  readonly summary: string;
  readonly spec: CommandSpec;
  /** Its subcommands; those that have options of their own say them, any other takes the command's. */
  readonly verbs: readonly { readonly name: string; readonly spec: CommandSpec }[];
};

export async function run(argv: string[]): Promise<number> {
  const { positionals } = parseArguments(spec, argv);
  const shell = shells.find((name) => name === positionals[0]);
  if (shell === undefined) throw new UsageError(`there is completion for ${shells.join(', ')}`);
  const known = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]): Promise<Completed> => {
      const { spec: own, specOf, subcommands = [] } = await load();
      const verbs = subcommands.map((verb) => ({ name: verb, spec: specOf?.([verb]) ?? own }));
      return { name, summary, spec: own, verbs };
    }),
  );
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  pass(scripts[shell](known));
  return 0;
}

/** What can stand after a command; files are left to the shell. */
function optionsOf({ options }: CommandSpec): string {
  return [...Object.keys(options), 'help'].map((name) => `--${name}`).join(' ');
}

/** A line of a `case` for each command and subcommand that has options, and what stands there. */
function optionCases(known: readonly Completed[], line: (pattern: string, words: string) => string): readonly string[] {
  return known.flatMap(({ name, spec: own, verbs }) => [
    ...verbs.filter((verb) => verb.spec !== own).map((verb) => line(`"${name} ${verb.name}"`, optionsOf(verb.spec))),
    line(`"${name} "*`, optionsOf(own)),
  ]);
}

function bashScript(known: readonly Completed[]): string {
  const cases = optionCases(known, (pattern, words) => `    ${pattern}) words="${words}" ;;`);
  const verbs = known.flatMap(({ name, verbs: some }) =>
    some.length === 0 ? [] : [`    ${name}) words="$words ${some.map((verb) => verb.name).join(' ')}" ;;`],
  );
  return `_concerto() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${known.map(({ name }) => name).join(' ')} help"
  else case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases.join('\n')}
  esac; fi
  if [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in
${verbs.join('\n')}
  esac; fi
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
}
complete -o default -F _concerto concerto
`;
}

function zshScript(known: readonly Completed[]): string {
  const names = known.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = optionCases(known, (pattern, words) => `    ${pattern}) compadd -- ${words} ;;`);
  const verbs = known.flatMap(({ name, verbs: some }) =>
    some.length === 0 ? [] : [`    ${name}) compadd -- ${some.map((verb) => verb.name).join(' ')} ;;`],
  );
  return `#compdef concerto
_concerto() {
  local -a names
  names=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe 'command' names; return; fi
  if (( CURRENT == 3 )); then case "$words[2]" in
${verbs.join('\n')}
  esac; fi
  case "$words[2] $words[3]" in
${cases.join('\n')}
  esac
  _files
}
compdef _concerto concerto
`;
}

function fishScript(known: readonly Completed[]): string {
  const lines = known.flatMap(({ name, summary, spec: own, verbs }) => {
    const seen = `__fish_seen_subcommand_from ${name}`;
    const others = verbs.map((verb) => verb.name).join(' ');
    return [
      `complete -c concerto -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
      ...verbs.flatMap((verb) => [
        `complete -c concerto -n '${seen}; and not __fish_seen_subcommand_from ${others}' -f -a ${verb.name}`,
        ...fishOptions(
          `${seen}; and __fish_seen_subcommand_from ${verb.name}`,
          verb.spec === own ? {} : verb.spec.options,
        ),
      ]),
      ...(verbs.some((verb) => verb.spec !== own) ? [] : fishOptions(seen, own.options)),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function fishOptions(when: string, options: CommandSpec['options']): readonly string[] {
  return Object.entries(options).map(
    ([option, { type, help }]) =>
      `complete -c concerto -n '${when}' -l ${option}${type === 'string' ? ' -r' : ''} -d '${quoted(help)}'`,
  );
}

/** Within single quotes of any of the three. */
function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll('\\', '');
}
