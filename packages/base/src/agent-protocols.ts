/** The wires that an agent may speak. Here, where the manifest's reader and the drivers both find them. */
export const agentProtocols = ['ndjson', 'acp', 'claude', 'codex'] as const;
export type AgentProtocol = (typeof agentProtocols)[number];

type Program = { readonly command: string; readonly install: string };

const programs: Readonly<Partial<Record<AgentProtocol, Program>>> = {
  claude: { command: 'claude', install: 'npm install -g @anthropic-ai/claude-code' },
  codex: { command: 'codex', install: 'npm install -g @openai/codex' },
};

/** The program that is meant where the manifest names none, and how it is installed. */
export function programOfProtocol(protocol: AgentProtocol): Program | undefined {
  return programs[protocol];
}
