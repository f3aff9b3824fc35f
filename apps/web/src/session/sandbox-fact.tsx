import type { Session } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Fact } from './fact.tsx';

/** In which sandbox its agent runs, or why in none: then it could answer for whoever looks at this. */
export function SandboxFact({ session: { sandbox } }: { readonly session: Session }): ReactNode {
  if (sandbox === undefined) return null;
  if (sandbox.kind !== 'none') return <Fact name="sandbox">{sandbox.kind}</Fact>;
  return (
    <Fact name="sandbox">
      <strong title="Without a sandbox an agent is as free as its account, and could answer for you">none</strong>
      {sandbox.reason !== undefined && <span className="muted"> {sandbox.reason}</span>}
    </Fact>
  );
}
