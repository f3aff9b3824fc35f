import type { LifecycleVerb, SessionStatus } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useMay } from '../people/may.ts';
import { Icon, type IconName } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';
import { useConfirm } from '../shell/use-confirm.ts';
import { statusWords } from '../status/status-words.ts';
import { isAllowed, isOver } from './lifecycle-table.ts';

type Props = { readonly id: string; readonly status: SessionStatus };

type Look = { readonly verb: LifecycleVerb; readonly label: string; readonly icon: IconName; readonly help: string };

const looks: readonly Look[] = [
  {
    verb: 'interrupt',
    label: 'Interrupt',
    icon: 'hand',
    help: 'End the running turn; the session stays, the queue waits',
  },
  { verb: 'pause', label: 'Pause', icon: 'pause', help: 'Hold at the next step; the agent stays alive' },
  { verb: 'resume', label: 'Resume', icon: 'play', help: 'Let it go on' },
  { verb: 'cancel', label: 'Cancel', icon: 'stop', help: 'End the session for good' },
];

/** Ask and see the status change: the buttons keep no state of the session's own. */
export function LifecycleButtons({ id, status }: Props): ReactNode {
  const [asking, setAsking] = useState<LifecycleVerb>();
  const { isConfirming, isMeant } = useConfirm();
  const mayControl = useMay('agent');
  const ask = async (verb: LifecycleVerb): Promise<void> => {
    if (verb === 'cancel' && !isMeant()) return;
    setAsking(verb);
    try {
      await client[verb](id);
    } catch (cause) {
      post('bad', failureOf(cause).text);
    } finally {
      setAsking(undefined);
    }
  };
  if (!mayControl || isOver(status)) return null;
  const shown = looks.filter(({ verb }) => isShown(verb, status));
  return (
    <fieldset className="lifecycle" aria-label="Session control">
      {shown.map((look) => {
        const { verb, icon, help } = look;
        const isRefused = !isAllowed(status, verb) && verb !== 'cancel';
        const isOff = isRefused || asking === verb;
        return (
          <button
            key={placeOf(verb, status)}
            type="button"
            className={verb === 'cancel' ? 'button danger-quiet' : 'button'}
            data-confirming={verb === 'cancel' && isConfirming}
            // Not `disabled`, which would take the focus from who pressed it.
            aria-disabled={isOff}
            title={isRefused ? `Not while it is ${statusWords[status].label.toLowerCase()}` : help}
            onClick={() => !isOff && void ask(verb)}
          >
            <Icon name={icon} />
            {labelOf(look, status, isConfirming)}
          </button>
        );
      })}
    </fieldset>
  );
}

function labelOf({ verb, label }: Look, status: SessionStatus, isConfirming: boolean): string {
  if (verb === 'cancel' && isConfirming) return 'End it for good?';
  return verb === 'resume' && status === 'interrupted' ? 'Go on' : label;
}

/** Pause and Resume share a place where only one of them can mean something. */
function isShown(verb: LifecycleVerb, status: SessionStatus): boolean {
  const isHeld = status === 'paused' || status === 'resuming' || status === 'interrupted';
  if (verb === 'pause') return !isHeld || status === 'interrupted';
  return verb !== 'resume' || isHeld;
}

/** The same place is the same button, which keeps the focus when its meaning turns. */
function placeOf(verb: LifecycleVerb, status: SessionStatus): string {
  return verb === 'resume' && status !== 'interrupted' ? 'pause' : verb;
}
