import type { StartRequest } from '@concerto/client';
import { UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/print.ts';
import { attachTo } from './attach-to.ts';
import { readBudget } from './budget-words.ts';
import { sessionRules } from './rule-file.ts';
import { settingsIn } from './settings.ts';
import { textOrStdin } from './text-or-stdin.ts';
import { defineVerb } from './verb.ts';

export const start = defineVerb({
  usage: 'AGENT PROMPT|- [OPTIONS]',
  summary: 'start a session; - reads the prompt from stdin; --assistant, --program or --template NAME for AGENT',
  arguments: { min: 0, max: 2 },
  options: {
    assistant: { type: 'string', value: 'NAME', help: 'an assistant instead of an agent' },
    program: { type: 'string', value: 'NAME', help: 'a program instead of an agent' },
    template: { type: 'string', value: 'NAME', help: 'from a template' },
    title: { type: 'string', value: 'T', help: 'a title; default the first line of the prompt' },
    budget: { type: 'string', value: 'B', help: 'what it may use, such as tokens=100000,usd=0.5' },
    supervisor: { type: 'string', value: 'PROGRAM', help: 'the program that answers for it, or none' },
    rules: { type: 'string', value: 'FILE', help: 'its own rules: a manifest, a part of one, or JSON' },
    dir: { type: 'string', value: 'FOLDER', help: 'where it works, if its entry lets sessions choose' },
    set: {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      help: 'a param of its own, such as model=opus; may be given several times',
    },
    once: { type: 'boolean', help: 'the session ends with its first result' },
    wait: { type: 'boolean', help: 'wait for a slot when the pool is full' },
    attach: { type: 'boolean', help: 'follow it at once' },
  },
  run: async (client, args, options) => {
    const { title, budget, supervisor, once, wait, rules, dir, set } = options;
    const session = await client.start({
      ...(await startTarget(args, options)),
      ...(title === undefined ? {} : { title }),
      ...(budget === undefined ? {} : { budget: readBudget(budget) }),
      ...(once ? { once } : {}),
      ...(supervisor === undefined ? {} : { supervisor: supervisor === 'none' ? null : supervisor }),
      ...(rules === undefined ? {} : { rules: sessionRules(rules) }),
      ...(wait ? { ifFull: 'queue' as const } : {}),
      ...(dir === undefined ? {} : { workingDir: dir }),
      ...(set.length === 0 ? {} : { params: settingsIn(set) }),
    });
    if (options.attach) return await attachTo(client, session.id, options);
    if (options.json) printJson(session);
    else print(session.id);
    return 0;
  },
});

type Target = {
  readonly assistant: string | undefined;
  readonly program: string | undefined;
  readonly template: string | undefined;
};

/** An agent is the first argument; anything else has its own option, and may bring its own prompt. */
async function startTarget(args: readonly string[], { assistant, program, template }: Target): Promise<StartRequest> {
  const named = Object.entries({ assistant, program, template }).filter(([, name]) => name !== undefined);
  if (named.length > 1) throw new UsageError('name one of --assistant, --program and --template, not several');
  const [kind, name] = named[0] ?? ['agent', args[0]];
  const [prompt, ...more] = named.length === 0 ? args.slice(1) : args;
  const needsPrompt = kind === 'agent' || kind === 'assistant';
  if (name === undefined || more.length > 0 || (needsPrompt && prompt === undefined)) {
    const usage = named.length === 0 ? 'AGENT PROMPT' : `--${kind} NAME ${needsPrompt ? 'PROMPT' : '[PROMPT]'}`;
    throw new UsageError(`expected: concerto sessions start ${usage}`);
  }
  return { [kind]: name, ...(prompt === undefined ? {} : { prompt: await textOrStdin(prompt) }) };
}
