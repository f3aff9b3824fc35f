import type { SessionView } from '@concerto/protocol';
import type { ReactNode } from 'react';

type Commands = NonNullable<SessionView['agent']['commands']>;

/** Those of the agent's own commands that begin as the text does; none once there is more than a word. */
export function commandsFor(text: string, commands: Commands | undefined): Commands {
  const begun = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (begun === undefined || commands === undefined) return [];
  return commands.filter(({ name }) => name.toLowerCase().startsWith(begun) && name.toLowerCase() !== begun);
}

type Props = { readonly commands: Commands; readonly onPick: (name: string) => void };

/** What the agent understands after a slash; Tab takes the first. */
export function SlashCommands({ commands, onPick }: Props): ReactNode {
  if (commands.length === 0) return null;
  return (
    <ul className="slash-commands" aria-label="Commands of the agent">
      {commands.map(({ name, description }) => (
        <li key={name}>
          <button type="button" onClick={() => onPick(name)}>
            <strong>/{name}</strong> <span className="muted">{description}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
