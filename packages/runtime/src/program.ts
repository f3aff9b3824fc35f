/** The half of the runtime that runs programs, for commands that start often and need nothing else. */
export { askMcpTools } from './program/ask-mcp-tools.ts';
export { JournalError, JournalFile } from './program/journal-file.ts';
export type { ReplaySummary } from './program/journal-options.ts';
export type { PlainValue, ProgramEffect, ProgramFailure, ProgramOutcome } from './program/machine/machine.ts';
export { ProgramJournal } from './program/program-journal.ts';
export { type ProgramWorld, WorldFailure } from './program/program-world.ts';
export { type RunOptions, runProgram } from './program/run-program.ts';
export { runTest, type TestOptions, type TestResult } from './program/run-test.ts';
