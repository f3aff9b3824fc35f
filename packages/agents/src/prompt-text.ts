import type { AgentPrompt } from './agent-connection.ts';

/** For an agent whose prompts are text and nothing else. */
export function promptText({ text, context }: AgentPrompt): string {
  if (context === undefined || context === null) return text;
  return `${text}\n\nContext:\n${typeof context === 'string' ? context : JSON.stringify(context, undefined, 2)}`;
}
