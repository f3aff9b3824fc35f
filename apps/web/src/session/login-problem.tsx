import type { SessionView } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';
import { CopyButton } from '../text/copy-button.tsx';

/** The agent cannot be asked anything before somebody has logged it in: what to run. */
export function LoginProblem({ agent }: { readonly agent: SessionView['agent'] }): ReactNode {
  const { login = '' } = agent;
  if (login === '') return null;
  const command = /`([^`]+)`/.exec(login)?.[1];
  return (
    <section className="waiting-line" aria-label="Not logged in">
      <Icon name="lock" />
      <span>
        <strong>Not logged in.</strong> {sentence(login).split('`').map(codeOrText)} Then say it again.
      </span>
      {command !== undefined && <CopyButton text={() => command} label={`Copy ${command}`} />}
    </section>
  );
}

/** What stands between backquotes is code. */
function codeOrText(text: string, index: number): ReactNode {
  return index % 2 === 1 ? <code key={`${index} ${text}`}>{text}</code> : text;
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
