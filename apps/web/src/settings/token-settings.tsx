import type { Role, TokenAdded } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { ConfirmButton } from '../keeping/confirm-button.tsx';
import { CopyButton } from '../text/copy-button.tsx';
import { Age } from '../time/moment.tsx';
import { useChange } from './use-change.ts';

/** With what each may beside those before it. */
const roles: Readonly<Record<Role, string>> = {
  observer: 'reads',
  agent: 'starts and steers, never answers for people',
  member: 'answers too',
  owner: 'changes how things are done',
};
const isRole = (text: string): text is Role => text in roles;

/** Who may call beside the owner of the machine. */
export function TokenSettings(): ReactNode {
  const { value, reload } = useFetched((signal) => client.tokens({ signal }), { key: 'tokens' });
  const [added, setAdded] = useState<TokenAdded>();
  const { isBusy, change } = useChange(reload);
  return (
    <section aria-labelledby="tokens-title">
      <h2 id="tokens-title">Tokens</h2>
      {value?.tokens.length === 0 && <p className="muted">None beside the server's own.</p>}
      <ul className="plain-list">
        {value?.tokens.map(({ name, role, addedAt, addedBy }) => (
          <li key={name} className="rule-row">
            <div>
              <strong>{name}</strong> {role}{' '}
              <span className="muted">
                by {addedBy}, <Age at={addedAt} />
              </span>
            </div>
            <ConfirmButton
              label="Revoke"
              question="Revoke for good?"
              title="Whoever has it is let in no more"
              about={`the token of ${name}`}
              disabled={isBusy}
              onMeant={() => void change(() => client.revokeToken(name), `The token of ${name} is revoked.`)}
            />
          </li>
        ))}
      </ul>
      {added !== undefined && (
        <p className="told-once">
          The token of <strong>{added.name}</strong>, told this once: <code>{added.token}</code>{' '}
          <CopyButton text={() => added.token} label="Copy the token" />
        </p>
      )}
      <AddToken
        isBusy={isBusy}
        onAdd={(name, role) => void change(async () => setAdded(await client.addToken({ name, role })))}
      />
    </section>
  );
}

type AddProps = { readonly isBusy: boolean; readonly onAdd: (name: string, role: Role) => void };

function AddToken({ isBusy, onAdd }: AddProps): ReactNode {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('member');
  return (
    <form
      className="inline-form"
      aria-label="Add a token"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(name, role);
        setName('');
      }}
    >
      <label className="field">
        <span className="field-label">Name</span>
        <input value={name} required pattern="[A-Za-z0-9_\-]{1,64}" onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        <span className="field-label">Role</span>
        <select
          value={role}
          onChange={({ target }) => {
            if (isRole(target.value)) setRole(target.value);
          }}
        >
          {Object.entries(roles).map(([one, may]) => (
            <option key={one} value={one}>
              {one}: {may}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="button" disabled={isBusy || name === ''}>
        Add
      </button>
    </form>
  );
}
