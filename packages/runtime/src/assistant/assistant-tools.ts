import type { JsonObject } from '@concerto/base';
import type { McpServers, ModelTool } from '@concerto/models';
import type { ToolConfig, ToolServer } from '@concerto/protocol';
import { toolRule } from '@concerto/session';
import * as z from 'zod';
import type { Catalog } from '../catalog.ts';
import { type AssistantAgents, findAgent } from './assistant-agents.ts';
import { elicit } from './assistant-elicitation.ts';
import { partsOfFiles } from './assistant-files.ts';
import { type AssistantFunction, assistantFunctions } from './assistant-functions.ts';
import { WithFiles } from './assistant-result.ts';
import type { AssistantSpec } from './assistant-spec.ts';

/** A function the model may call. */
export type AssistantTool = ModelTool & {
  /** Whether a person is asked before each call. */
  readonly asks: boolean;
  readonly run: AssistantFunction['run'];
  readonly leave?: AssistantFunction['leave'];
  readonly fault?: AssistantFunction['fault'];
  /** Run again from its beginning it does nothing twice. */
  readonly repeats?: boolean;
  /** The session that a call of it is. */
  readonly opens?: (callId: string) => string;
};

type Rules = Pick<AssistantSpec, 'allow' | 'deny' | 'ask'>;

/** Settings of all servers the session needs, its own before the assistant's; none that it must not have. */
export function serverSettings(spec: AssistantSpec, tools: ToolConfig | undefined): Readonly<Record<string, unknown>> {
  const own = Object.entries(tools?.servers ?? {}).map(([name, server]) => [name, settingsOf(server)] as const);
  const all = Object.entries({ ...spec.servers, ...Object.fromEntries(own) });
  return Object.fromEntries(all.filter(([name]) => isWanted(name, spec, tools)));
}

/** A whole server is denied by its own name; by a pattern for its tools only those are. */
function isWanted(server: string, spec: AssistantSpec, tools: ToolConfig | undefined): boolean {
  if (tools?.servers?.[server]?.enabled === false) return false;
  return [spec.deny, tools?.deny].every((deny) => toolRule({ deny: [...(deny ?? [])] }, server) !== 'deny');
}

/** In the words of `[mcp.NAME]`: a reference stays one, and what is written is meant as it stands. */
function settingsOf(server: ToolServer): JsonObject {
  const { transport } = server;
  if (transport !== 'stdio') return { transport, url: server.url, headers: referring(server.headers) };
  const { command, args = [], env, cwd } = server;
  return { transport, command, args, env: referring(env), ...(cwd === undefined ? {} : { working_dir: cwd }) };
}

function referring(settings: Extract<ToolServer, { transport: 'stdio' }>['env'] = {}): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === 'string' ? { text: value } : `\${${value.env}}`,
    ]),
  );
}

const Task = z.object({ prompt: z.string().trim().min(1) });
const taskParameters = z.json().parse(z.toJSONSchema(Task));

/** The agents of the manifest that the assistant may call, each under its own name. */
export function agentTools(
  spec: AssistantSpec,
  tools: ToolConfig | undefined,
  { agents, catalog }: { readonly agents: AssistantAgents; readonly catalog: Catalog },
): readonly AssistantTool[] {
  return (spec.agents ?? []).flatMap((name): AssistantTool[] => {
    const entry = findAgent(catalog, name);
    const rule = ruleOf(spec, tools, { tool: name });
    if (entry === undefined || rule === 'deny') return [];
    const about = `${entry.kind === 'program' ? 'A program' : 'An agent'} that works on its own, in a session of its own, and knows nothing of this conversation: give it the whole task. What it hands over is the result.`;
    return [
      {
        name,
        description: entry.description === undefined ? about : `${entry.description}. ${about}`,
        parameters: taskParameters,
        asks: rule === 'ask',
        opens: (callId) => agents.idOf(callId),
        // The call is a session, which is opened once.
        repeats: true,
        run: async (args, { callId, signal, status }) => {
          const task = Task.safeParse(args);
          if (!task.success) throw new Error('the arguments do not fit: prompt: is a text that says what to do');
          return await agents.call(entry, { callId, prompt: task.data.prompt, signal, status });
        },
      },
    ];
  });
}

/** Everything else that the model may call, by name: our functions by theirs, a server's tools as `server.tool`. */
export async function openTools(
  spec: AssistantSpec,
  tools: ToolConfig | undefined,
  servers: { readonly names: readonly string[]; readonly open: McpServers; readonly signal: AbortSignal },
): Promise<readonly AssistantTool[]> {
  const found: AssistantTool[] = [];
  for (const name of spec.functions) {
    const rule = ruleOf(spec, tools, { tool: name });
    const known = assistantFunctions[name];
    if (rule !== 'deny') found.push({ name, ...known, asks: rule === 'ask' || known.leave !== undefined });
  }
  const lists = await Promise.all(
    servers.names.map(async (server) =>
      (await servers.open.tools(server, servers.signal)).map((tool) => ({ server, tool })),
    ),
  );
  for (const { server, tool } of lists.flat()) {
    const rule = ruleOf(spec, tools, { tool: tool.name, server });
    if (rule === 'deny') continue;
    found.push({
      name: `${server}.${tool.name}`,
      description: tool.description,
      parameters: tool.parameters,
      asks: rule === 'ask',
      run: async (args, { signal, status, ask }) => {
        const given = await servers.open.callWatched(server, tool.name, args, {
          signal,
          onProgress: status,
          onElicit: async (form, until) =>
            await elicit(form, { server, ask: async (event) => await ask(event, until) }),
        });
        return given.files.length === 0 ? given.value : new WithFiles(given.value, partsOfFiles(given.files));
      },
    });
  }
  return found;
}

/**
 * The function a model means. It may spell a server's tool as others do (`mcp__server__tool`, `server/tool`), or leave
 * the server away where only one has such a tool.
 */
export function findTool(tools: ReadonlyMap<string, AssistantTool>, name: string): AssistantTool | undefined {
  const exact = tools.get(name);
  if (exact !== undefined) return exact;
  const meant = name.replace(/^mcp__/, '').replaceAll(/__|::|\//g, '.');
  const fits = [...tools.values()].filter((tool) => tool.name === meant || tool.name.endsWith(`.${meant}`));
  return fits.length === 1 ? fits[0] : undefined;
}

/** What the assistant's declaration forbids no session allows; each may ask where the other would not. */
function ruleOf(
  rules: Rules,
  tools: ToolConfig | undefined,
  { tool, server }: { readonly tool: string; readonly server?: string },
): 'auto' | 'ask' | 'deny' {
  const named = server === undefined ? {} : { servers: { [server]: tools?.servers?.[server] ?? declared } };
  const lists = { ...listOf('allow', rules.allow), ...listOf('deny', rules.deny) };
  const own = toolRule({ ...named, ...lists }, tool, server);
  const session = toolRule(
    { ...named, ...listOf('allow', tools?.allow), ...listOf('deny', tools?.deny) },
    tool,
    server,
  );
  if (own === 'deny' || session === 'deny') return 'deny';
  const isAsked = toolRule({ ...named, deny: [...(rules.ask ?? [])] }, tool, server) === 'deny';
  return isAsked || session === 'ask' ? 'ask' : 'auto';
}

function listOf(name: 'allow' | 'deny', patterns: readonly string[] | undefined): ToolConfig {
  return patterns === undefined ? {} : { [name]: [...patterns] };
}

/** A server of the manifest, about whose tools the session says nothing. */
const declared: ToolServer = { transport: 'stdio', command: 'declared' };
