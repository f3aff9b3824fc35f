import type { Json, JsonObject } from '@concerto/base';
import { type AgentEvent, textContent } from '@concerto/protocol';
import * as z from 'zod';
import type { Suspend } from '../worker.ts';
import { isObject, WithFiles } from './assistant-result.ts';
import { fetchText, listFolder, readAsFile, runCommand, type World, writeText } from './assistant-world.ts';
import { graphChange, graphEdits } from './graph-change.ts';

/** The functions we bring along. Those about a graph are performed by a client that has one. */
export const assistantFunctionNames = [
  'ask_user',
  'current_time',
  'read_graph',
  'inspect_node',
  'apply_edits',
  'edit_graph',
  'read_file',
  'list_files',
  'write_file',
  'fetch_url',
  'run_command',
] as const;
export type AssistantFunctionName = (typeof assistantFunctionNames)[number];

/** What a call has of the session it is made in. */
type CallContext = {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Resolves with the answer; rejects with the reason why there will be none. */
  readonly ask: (event: Suspend, until?: AbortSignal) => Promise<Json>;
  readonly show: (event: AgentEvent) => void;
  /** What the function is doing now, in words. */
  readonly status: (text: string) => void;
  readonly now: () => number;
  readonly world: World;
};

export type AssistantFunction = {
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Json;
  /** For one that is not run without leave: what it would do, in the words of rules. */
  readonly leave?: ((args: JsonObject) => JsonObject) | undefined;
  /** Why it cannot be run with these; known before anybody is asked for leave. */
  readonly fault?: (args: JsonObject) => string | undefined;
  /** It only asks, or only looks: run again from its beginning it does nothing twice. */
  readonly repeats: boolean;
  /** Rejects with an error whose message the model reads. */
  readonly run: (args: JsonObject, context: CallContext) => Promise<Json | WithFiles>;
};

const text = z.string().min(1);

export const assistantFunctions: Readonly<Record<AssistantFunctionName, AssistantFunction>> = {
  ask_user: define(
    'Ask the user and wait for the answer. With `options` the user picks one of them, or several with `multiple`.',
    {
      question: text,
      options: z.array(text).min(1).optional(),
      multiple: z.boolean().optional(),
    },
    ({ question, options, multiple }, { ask }) => ask(questionOf(question, options, multiple === true)),
  ),
  current_time: define('The date and time now, in UTC.', {}, async (_args, { now }) => new Date(now()).toISOString()),
  read_graph: define('The graph that is open in the user’s editor.', {}, (_args, { ask }) =>
    ask({ type: 'readGraph' }),
  ),
  inspect_node: define('One node of the graph in full.', { node_id: text }, ({ node_id: nodeId }, { ask }) =>
    ask({ type: 'inspectNode', nodeId }),
  ),
  apply_edits: define(
    'Change the graph, by `edits` or by a `transform`, and wait until the user’s editor has done it.',
    graphChange,
    async (args, { ask }) => {
      if ((args.edits === undefined) === (args.transform === undefined))
        throw new Error('the arguments do not fit: give `edits` or `transform`, and not both');
      return await ask({ type: 'applyEdits', ...args });
    },
  ),
  edit_graph: {
    ...define('Show a change of the graph without waiting for it.', graphEdits, async (args, { show }) => {
      show({ type: 'graphEdit', ...args });
      return { ok: true };
    }),
    repeats: false,
  },
  read_file: define('Read a file of the folder: its text, or a picture.', { path: text }, ({ path }, { world }) =>
    readAsFile(path, world),
  ),
  list_files: define('The names in a folder; folders end with /.', { path: text.default('.') }, ({ path }, { world }) =>
    listFolder(path, world),
  ),
  write_file: define(
    'Write a file of the folder. A person or a rule decides about each call.',
    { path: text, content: z.string() },
    ({ path, content }, { world }) => writeText(path, content, world),
    ({ path }) => ({ kind: 'edit', paths: [path ?? ''] }),
  ),
  fetch_url: define(
    'Fetch a web address. A person or a rule decides about each call.',
    { url: z.url({ protocol: /^https?$/ }) },
    ({ url }, { signal }) => fetchText(url, signal),
    ({ url }) => ({ kind: 'fetch', url: url ?? '' }),
  ),
  run_command: define(
    'Run a program in the folder, without a shell: its name and its arguments. A person or a rule decides about each call.',
    { command: z.array(z.string()).min(1) },
    ({ command }, { world, signal }) => runCommand(command, world, signal),
    ({ command }) => ({ kind: 'execute', command: command ?? [] }),
  ),
};

/** A client that could not do it says so in its answer. */
async function withoutError(answer: Promise<Json | WithFiles>): Promise<Json | WithFiles> {
  const given = await answer;
  if (!(given instanceof WithFiles) && isObject(given) && typeof given.$error === 'string')
    throw new Error(given.$error);
  return given;
}

function define<Shape extends z.ZodRawShape>(
  description: string,
  shape: Shape,
  run: (args: z.infer<z.ZodObject<Shape>>, context: CallContext) => Promise<Json | WithFiles>,
  leave?: (args: JsonObject) => JsonObject,
): AssistantFunction {
  const schema = z.object(shape);
  const parameters = z.json().parse(z.toJSONSchema(schema));
  const fault = (args: JsonObject): string | undefined => {
    const [issue] = schema.safeParse(args).error?.issues ?? [];
    return issue && `the arguments do not fit: ${issue.path.join('.')}: ${issue.message}`;
  };
  return {
    description,
    parameters,
    leave,
    fault,
    // What a client does is asked for under the same id, and done once.
    repeats: leave === undefined,
    run: async (args, context) => await withoutError(run(schema.parse(args), context)),
  };
}

function questionOf(question: string, options: readonly string[] | undefined, multiple: boolean): Suspend {
  const prompt = textContent(question);
  if (options === undefined) return { type: 'waitForInput', prompt, inputType: 'text' };
  const choices = options.map((option, index) => ({ id: `option-${index + 1}`, content: textContent(option) }));
  return { type: 'waitForChoice', prompt, choices, selectionMode: multiple ? 'multiple' : 'single' };
}
