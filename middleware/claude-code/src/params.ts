import * as z from 'zod';

/** `[agents.NAME.params]` of the manifest. */
export type Params = z.infer<typeof Params>;
export const Params = z.strictObject({
  /** Where Claude Code works; relative to the manifest's folder. */
  work_dir: z.string().min(1).optional(),
  /** A model's id, or an alias such as `opus` or `sonnet`. */
  model: z.string().min(1).optional(),
  /** Tools, and rules such as `Bash(git log:*)`, that need no approval. */
  allowed_tools: z.array(z.string().min(1)).optional(),
  /** The program, when it is not the `claude` of the PATH. */
  command: z.string().min(1).optional(),
});

const TOOLS = ['Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'Read', 'Task', 'WebFetch', 'WebSearch', 'Write'];

/** `read` is what people write, `Read` is what the program knows. Rules of others, such as `mcp__…`, stay as they are. */
export function toolRule(rule: string): string {
  const [name = '', ...rest] = rule.split('(');
  const known = TOOLS.find((tool) => tool.toLowerCase() === name.toLowerCase());
  return [known ?? name, ...rest].join('(');
}

/** The command line of a session that is driven over stdin and stdout, and asks us about permissions. */
export function commandLine(params: Params, resumed?: string): string[] {
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--input-format',
    'stream-json',
    // Without it the program refuses `stream-json`.
    '--verbose',
    '--include-partial-messages',
    '--permission-prompt-tool',
    'stdio',
    ...(params.model === undefined ? [] : ['--model', params.model]),
    ...(params.allowed_tools === undefined || params.allowed_tools.length === 0
      ? []
      : ['--allowedTools', params.allowed_tools.map(toolRule).join(',')]),
    ...(resumed === undefined ? [] : ['--resume', resumed]),
  ];
}
