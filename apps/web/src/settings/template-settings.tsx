import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { ConfirmButton } from '../keeping/confirm-button.tsx';
import { useChange } from './use-change.ts';

/** Starts that were given a name. */
export function TemplateSettings({ mayChange }: { readonly mayChange: boolean }): ReactNode {
  const { value, reload } = useFetched((signal) => client.templates({ signal }), { key: 'templates' });
  const { isBusy, change } = useChange(reload);
  if (value === undefined) return null;
  return (
    <section aria-labelledby="templates-title">
      <h2 id="templates-title">Templates</h2>
      {value.templates.length === 0 && <p className="muted">None. [templates.NAME] in the manifest declares one.</p>}
      <ul className="plain-list">
        {value.templates.map(({ name, agent, program, assistant, prompt }) => (
          <li key={name} className="rule-row">
            <div>
              <strong>{name}</strong> <span className="muted">starts {agent ?? program ?? assistant ?? 'nothing'}</span>
              {prompt !== undefined && <p className="muted">{prompt.split('\n', 1)}</p>}
            </div>
            {mayChange && (
              <ConfirmButton
                label="Delete"
                question="Delete it for good?"
                title="Nothing brings it back"
                about={`template ${name}`}
                disabled={isBusy}
                onMeant={() => void change(() => client.deleteTemplate(name), `The template ${name} is gone.`)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
