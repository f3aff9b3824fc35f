import type { Routing } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Plain } from '../text/plain.tsx';
import { Who } from './who.tsx';

/** Who was asked before a person, or is asked now, and why; nothing where a person was asked at once. */
export function RoutedLine({ routed }: { readonly routed: readonly Routing[] }): ReactNode {
  const shown = routed.filter(({ to, reason }) => to !== 'person' || reason !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul className="routed" aria-label="Who was asked">
      {shown.map(({ to, reason, at }) => (
        <li key={`${at} ${to}`}>
          <strong>
            <Who actor={to} />
          </strong>
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
