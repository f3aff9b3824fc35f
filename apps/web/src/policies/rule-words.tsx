import type { RuleRow, StoredRule } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { whoText } from '../requests/who-text.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { matchText } from './match-text.ts';

/** A rule in words; a row of the list also has its name, and why it can never decide anything. */
export function RuleWords({ rule }: { readonly rule: StoredRule & Pick<RuleRow, 'warning'> }): ReactNode {
  const { id, decide, reason, warning, addedBy, from } = rule;
  return (
    <div>
      <strong>{decide}</strong> <code>{matchText(rule)}</code>
      {reason !== undefined && <p className="muted">{reason}</p>}
      {warning !== undefined && <p className="inline-problem">{warning}</p>}
      <p className="muted">
        {id ?? 'new'}
        {addedBy !== undefined && ` · by ${whoText(addedBy)}`}
        {from !== undefined && (
          <>
            {' · '}
            <Link href={sessionPath(from.session)}>where it was decided</Link>
          </>
        )}
      </p>
    </div>
  );
}
