import type { Routing } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Plain } from '../text/plain.tsx';
import { Who } from './who.tsx';

type Props = { readonly routed: readonly Routing[]; readonly settledBy: string | undefined };

/** Who was asked before a person, or is asked now, and why; nothing of a person who was asked at once, or of who answered. */
export function RoutedLine({ routed, settledBy }: Props): ReactNode {
  const shown = routed.filter(({ to, reason }) => (to !== 'person' && to !== settledBy) || reason !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul className="routed" aria-label="Who was asked">
      {shown.map(({ to, reason, at }) => (
        <li key={`${at} ${to}`}>
          <strong>Asked {to === 'person' ? 'a person' : <Who actor={to} />}</strong>
          {reason !== undefined && (
            <>
              : <Plain text={reason} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
