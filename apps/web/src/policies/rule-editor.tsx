import type { PolicyTried, RuleList, StoredRule } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { useAttempt } from '../fetching/use-attempt.ts';
import { useChange } from '../settings/use-change.ts';
import { Icon } from '../shell/icon.tsx';
import { matchText } from './match-text.ts';
import { storedOf } from './rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleWords } from './rule-words.tsx';
import { TriedRequests } from './tried-requests.tsx';

type Props = { readonly list: RuleList; readonly onPut: () => void };

/** Which rule is in the form: one of the draft, or a new one. */
type Edited = number | 'new' | undefined;

/** The rules that are kept here, as a draft: tried on what was asked before, then put in force all at once. */
export function RuleEditor({ list, onPut }: Props): ReactNode {
  const [draft, setDraft] = useState<readonly StoredRule[]>();
  const [edited, setEdited] = useState<Edited>();
  const trial = useAttempt<PolicyTried>();
  const { isBusy, change } = useChange(onPut);
  const rules = draft ?? storedOf(list);
  const write = (next: readonly StoredRule[]): void => {
    setDraft(next);
    setEdited(undefined);
    trial.forget();
  };
  const put = async (): Promise<void> => {
    const { version } = list;
    await client.putRules({ rules: [...rules], version });
    setDraft(undefined);
    trial.forget();
  };
  return (
    <div className="rule-editor">
      <ol className="plain-list" aria-label="Rules that are kept here">
        {rules.map((rule, index) => (
          // A new rule has no name yet; it is where it is.
          <li key={rule.id ?? `new ${index}`}>
            {edited === index ? (
              <RuleForm
                rule={rule}
                onDone={(next) => write(rules.with(index, next))}
                onLeave={() => setEdited(undefined)}
              />
            ) : (
              <DraftRule
                rule={rule}
                isFirst={index === 0}
                onEdit={() => setEdited(index)}
                onUp={() => write(moved(rules, index))}
                onRemove={() => write(rules.toSpliced(index, 1))}
              />
            )}
          </li>
        ))}
      </ol>
      {edited === 'new' ? (
        <RuleForm rule={undefined} onDone={(next) => write([...rules, next])} onLeave={() => setEdited(undefined)} />
      ) : (
        <button type="button" className="button small" onClick={() => setEdited('new')}>
          <Icon name="plus" />
          Add a rule
        </button>
      )}
      <DraftBar
        isDraft={draft !== undefined}
        isBusy={isBusy}
        isTrying={trial.isBusy}
        onTry={() => void trial.attempt(() => client.tryPolicy({ rules: [...rules] }))}
        onPut={() => void change(put, 'The rules count from the next request on.')}
        onDiscard={() => setDraft(undefined)}
      />
      {trial.problem !== undefined && (
        <p className="inline-problem" role="alert">
          {trial.problem}
        </p>
      )}
      {trial.value !== undefined && <TriedRequests tried={trial.value} />}
    </div>
  );
}

type BarProps = {
  readonly isDraft: boolean;
  readonly isBusy: boolean;
  readonly isTrying: boolean;
  readonly onTry: () => void;
  readonly onPut: () => void;
  readonly onDiscard: () => void;
};

function DraftBar({ isDraft, isBusy, isTrying, onTry, onPut, onDiscard }: BarProps): ReactNode {
  return (
    <fieldset className="draft-bar" aria-label="Draft">
      {isDraft && <strong>This is a draft: it does not count yet.</strong>}
      <button type="button" className="button small" disabled={isTrying} onClick={onTry}>
        <Icon name="retry" />
        {isTrying ? 'Trying …' : 'Try on past sessions'}
      </button>
      {isDraft && (
        <>
          <button type="button" className="button primary small" disabled={isBusy} onClick={onPut}>
            Put in force
          </button>
          <button type="button" className="button small" onClick={onDiscard}>
            Discard
          </button>
        </>
      )}
    </fieldset>
  );
}

type DraftRuleProps = {
  readonly rule: StoredRule;
  readonly isFirst: boolean;
  readonly onEdit: () => void;
  readonly onUp: () => void;
  readonly onRemove: () => void;
};

function DraftRule({ rule, isFirst, onEdit, onUp, onRemove }: DraftRuleProps): ReactNode {
  const words = `${rule.decide} ${matchText(rule)}`;
  return (
    <div className="rule-row">
      <RuleWords rule={rule} />
      <span className="rule-actions">
        <button
          type="button"
          className="icon-button"
          disabled={isFirst}
          aria-label={`Before the others: ${words}`}
          title="One up: the first that matches decides"
          onClick={onUp}
        >
          <Icon name="up" />
        </button>
        <button type="button" className="icon-button" aria-label={`Edit: ${words}`} title="Edit" onClick={onEdit}>
          <Icon name="edit" />
        </button>
        <button type="button" className="icon-button" aria-label={`Revoke: ${words}`} title="Revoke" onClick={onRemove}>
          <Icon name="close" />
        </button>
      </span>
    </div>
  );
}

function moved(rules: readonly StoredRule[], index: number): readonly StoredRule[] {
  const [rule] = rules.slice(index, index + 1);
  return rule === undefined ? rules : rules.toSpliced(index, 1).toSpliced(index - 1, 0, rule);
}
