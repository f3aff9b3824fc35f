import type { CommandTable } from './command-line.ts';

// One line a command; the file behind it exports `spec` (see arguments.ts) and `run(argv)`.
export const commands: CommandTable = {
  serve: { summary: 'start the server', load: () => import('./serve/serve-command.ts') },
  sessions: { summary: 'start, watch and steer sessions', load: () => import('./sessions/sessions-command.ts') },
  watch: { summary: 'all sessions in one view', load: () => import('./sessions/watch-command.ts') },
  pool: { summary: 'how many sessions run, and may', load: () => import('./sessions/pool-command.ts') },
  runner: { summary: 'run sessions for servers elsewhere', load: () => import('./serve/runner-command.ts') },
  token: { summary: 'print the token of this folder’s server', load: () => import('./state/token-command.ts') },
  trust: { summary: 'trust the files of a folder', load: () => import('./state/trust-command.ts') },
  store: { summary: 'move everything from one store to another', load: () => import('./store-command.ts') },
  doctor: { summary: 'check this machine and each agent', load: () => import('./doctor/doctor-command.ts') },
  run: { summary: 'run a program', load: () => import('./language/run-command.ts') },
  check: { summary: 'type-check programs', load: () => import('./language/check-command.ts') },
  fmt: { summary: 'format programs', load: () => import('./language/fmt-command.ts') },
  test: { summary: 'run the tests of programs', load: () => import('./language/test-command.ts') },
  build: { summary: 'compile a program to a file', load: () => import('./language/build-command.ts') },
  disasm: { summary: 'print a compiled program', load: () => import('./language/disasm-command.ts') },
  explain: { summary: 'say what an error code means', load: () => import('./language/explain-command.ts') },
  schema: { summary: 'print the JSON schema of Concerto.toml', load: () => import('./language/schema-command.ts') },
  play: { summary: 'be an agent that plays a script', load: () => import('./play-command.ts') },
  lsp: { summary: 'serve an editor: the language server', load: () => import('./lsp-command.ts') },
  new: { summary: 'create a project', load: () => import('./language/new-command.ts') },
  signals: { summary: 'read § signals on stdin, write events', load: () => import('./signals-command.ts') },
  completion: { summary: 'complete commands in your shell', load: () => import('./completion-command.ts') },
  init: { summary: 'create a project (the same as new)', load: () => import('./language/new-command.ts') },
};
