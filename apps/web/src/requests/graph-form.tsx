import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import { graphPath } from '../routing/route.ts';
import { useLocation } from '../routing/use-location.ts';
import type { FormProps } from './request-card.tsx';

type Props = FormProps & { readonly sessionId: string };

/** What a graph is asked: it answers by itself where it is open, as here beside it or after a click. */
export function GraphForm({ event, sessionId, isSending, onAnswer }: Props): ReactNode {
  const isHere = useLocation().path.startsWith('/graph');
  const refuse = (): void =>
    onAnswer(
      event.type === 'applyEdits' ? { success: false, error: 'refused by the user' } : { error: 'refused by the user' },
    );
  if (isHere) return <p className="muted">The graph answers …</p>;
  return (
    <div className="choice-buttons">
      <Link href={graphPath(sessionId)} className="button primary">
        {event.type === 'applyEdits' ? 'Apply it in the graph' : 'Answer with the graph'}
      </Link>
      <button type="button" className="button" disabled={isSending} onClick={refuse}>
        Refuse
      </button>
    </div>
  );
}
