import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import {
  JournalFile,
  ProgramJournal,
  type ProgramOutcome,
  type ProgramWorld,
  type ReplaySummary,
  runProgram,
} from '@concerto/runtime/program';
import { type LentAgents, lendAgents } from './lent-agents.ts';

export type StageOptions = {
  /** Lines of the manifest after `[project]`. */
  readonly manifest?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly answers?: readonly Json[];
  readonly mockModels?: boolean;
  readonly signal?: AbortSignal;
  /** The language's own events that count as emits. */
  readonly events?: readonly string[];
  /** In the stage's directory. */
  readonly journal?: string;
  readonly replayOnly?: boolean;
  readonly onEmit?: (channel: string) => void;
};

export type Performance = {
  /** `channel: value`, printed text and `[LEVEL] text` in the order they came. */
  readonly lines: readonly string[];
  readonly outcome: ProgramOutcome;
  /** The message of a failure, or of the error that `main` returned. */
  readonly problem: string | undefined;
  /** What was said when the journal was written, as `lines`. */
  readonly replayed: readonly string[];
  readonly summary: ReplaySummary | undefined;
};

/** A directory for one test's program. */
export class Stage {
  readonly directory = mkdtempSync(join(tmpdir(), 'concerto-program-'));

  write(name: string, text: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  async run(source: string, options: StageOptions = {}): Promise<Performance> {
    const head = '[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n';
    const { manifest } = readManifest(`${head}${options.manifest ?? ''}`);
    const built = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
    if (built.module === undefined) throw new Error(built.diagnostics.map(({ message }) => message).join('\n'));
    const { module } = built;
    const lines: string[] = [];
    let agents: Promise<LentAgents> | undefined;
    const answers = [...(options.answers ?? [])];
    const noticed = new Set<string>();
    const onNotice = (text: string): void => {
      if (!noticed.has(text)) world.log('info', text);
      noticed.add(text);
    };
    const world: ProgramWorld = {
      emit: (channel, payload, system) => {
        if (system && options.events?.includes(channel) !== true) return;
        lines.push(`${channel}: ${payload.shown}`);
        options.onEmit?.(channel);
      },
      print: (text) => lines.push(text),
      log: (level, text) => lines.push(`[${level.toUpperCase()}] ${text}`),
      ask: async (channel, payload) => {
        lines.push(`${channel}? ${payload.shown}`);
        return answers.shift() ?? null;
      },
      startAgent: async (agent, options) => {
        agents ??= lendAgents({ module, projectDirectory: this.directory }, onNotice);
        return await (await agents).start(agent, options);
      },
      environment: { PATH: process.env.PATH, ...options.environment },
      directory: this.directory,
      projectDirectory: this.directory,
      mockModels: options.mockModels ?? false,
    };
    const { signal } = options;
    const replayed: string[] = [];
    const kept: { summary?: ReplaySummary } = {};
    const journal =
      options.journal === undefined
        ? undefined
        : new ProgramJournal(module, {
            tape: new JournalFile(join(this.directory, options.journal), { readOnly: options.replayOnly ?? false }),
            replayOnly: options.replayOnly ?? false,
            arguments: {},
            environment: world.environment,
            onReplayed: (effect) => {
              if (effect.kind === 'emit' && !effect.system) replayed.push(`${effect.channel}: ${effect.payload.shown}`);
              if (effect.kind === 'print') replayed.push(effect.text);
              if (effect.kind === 'ask') replayed.push(`${effect.channel}? ${effect.payload.shown}`);
            },
            onReplayEnd: (summary) => {
              kept.summary = summary;
              answers.splice(0, journal?.answered ?? 0);
            },
          });
    try {
      const outcome = await runProgram(module, world, {
        entry: 'main',
        ...(signal === undefined ? {} : { signal }),
        ...(journal === undefined ? {} : { journal }),
      });
      return { lines, outcome, problem: problemOf(outcome), replayed, summary: kept.summary };
    } finally {
      journal?.close();
      await (await agents)?.close();
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function problemOf(outcome: ProgramOutcome): string | undefined {
  if (outcome.status === 'failed') return outcome.failure.message;
  return outcome.isError ? outcome.value.shown : undefined;
}
