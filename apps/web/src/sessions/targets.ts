import type { ConcertoClient } from '@concerto/client';

/** Something that a session can be started with. */
export type Target = {
  readonly key: string;
  readonly kind: 'agent' | 'program' | 'assistant' | 'template';
  readonly name: string;
  readonly description: string | undefined;
  /** It brings its own prompt. */
  readonly hasPrompt: boolean;
};

export async function listTargets(client: ConcertoClient, signal: AbortSignal): Promise<readonly Target[]> {
  const [{ agents }, { templates }] = await Promise.all([client.agents({ signal }), client.templates({ signal })]);
  return [
    ...agents.map(({ kind, name, description }) => ({
      key: `${kind} ${name}`,
      kind,
      name,
      description,
      hasPrompt: kind === 'program',
    })),
    ...templates.map(({ name, prompt, agent, program, assistant }) => ({
      key: `template ${name}`,
      kind: 'template' as const,
      name,
      description: prompt ?? `Starts ${agent ?? program ?? assistant ?? 'a session'}`,
      hasPrompt: prompt !== undefined,
    })),
  ];
}
