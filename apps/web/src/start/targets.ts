import type { ConcertoClient } from '@concerto/client';
import type { AgentInfo, Template } from '@concerto/protocol';

/** Something that a session can be started with. */
export type Target = {
  readonly key: string;
  readonly kind: 'agent' | 'program' | 'assistant' | 'template';
  readonly name: string;
  readonly description: string | undefined;
  /** It brings its own prompt. */
  readonly hasPrompt: boolean;
  /** Who then works; of a template, that which it starts. */
  readonly worker: AgentInfo | undefined;
  /** Who answers for its sessions unless they say otherwise. */
  readonly supervisor: string | undefined;
};

export async function listTargets(client: ConcertoClient, signal: AbortSignal): Promise<readonly Target[]> {
  const [{ agents }, { templates }] = await Promise.all([client.agents({ signal }), client.templates({ signal })]);
  return [...agents.map(ofAgent), ...templates.map((template) => ofTemplate(template, agents))];
}

function ofAgent(worker: AgentInfo): Target {
  const { kind, name, description, supervisor } = worker;
  return { key: `${kind} ${name}`, kind, name, description, hasPrompt: kind === 'program', worker, supervisor };
}

function ofTemplate(template: Template, agents: readonly AgentInfo[]): Target {
  const { name, prompt, agent, program, assistant } = template;
  const started = agent ?? program ?? assistant;
  const worker = agents.find((one) => template[one.kind] === one.name);
  return {
    key: `template ${name}`,
    kind: 'template',
    name,
    description: prompt ?? `Starts ${started ?? 'a session'}`,
    hasPrompt: prompt !== undefined,
    worker,
    supervisor: template.supervisor ?? worker?.supervisor,
  };
}
