import type { Session } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Fact } from './fact.tsx';

/** Only where there is none: then the agent could answer for whoever looks at this. */
export function SandboxFact({ session: { sandbox } }: { readonly session: Session }): ReactNode {
  if (sandbox?.kind !== 'none') return null;
  return (
    <Fact name="sandbox">
      <strong title="Without a sandbox an agent is as free as its account, and could answer for you">none</strong>
      {sandbox.reason !== undefined && <span className="muted"> {sandbox.reason}</span>}
    </Fact>
  );
}
