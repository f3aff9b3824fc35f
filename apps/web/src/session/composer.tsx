import type { Session, SessionStatus, SessionView, SuspendEvent } from '@concerto/protocol';
import { messageLengthMax } from '@concerto/protocol';
import type { KeyboardEvent, ReactNode, Ref } from 'react';
import { useMay } from '../people/may.ts';
import { GrowingField } from '../shell/growing-field.tsx';
import { Icon } from '../shell/icon.tsx';
import { Plain } from '../text/plain.tsx';
import { type Addressee, addresseeOf } from './addressee.ts';
import { AttachButton, AttachmentList, useAttachments } from './attachments.tsx';
import { isOver } from './lifecycle-table.ts';
import { RunAgain } from './run-again.tsx';
import { commandsFor, SlashCommands } from './slash-commands.tsx';
import { useAskedSince } from './use-asked-since.ts';
import { type SendWay, useSender } from './use-sender.ts';

type Props = {
  readonly session: Session;
  /** As the events have it, which may be newer. */
  readonly status: SessionStatus;
  /** What waits longest for an answer. */
  readonly open: SuspendEvent | undefined;
  readonly fieldRef: Ref<HTMLTextAreaElement | null>;
  readonly onSent: () => void;
  /** What the agent understands after a slash. */
  readonly commands: SessionView['agent']['commands'];
};

/** Says something to the agent: the answer that it waits for, now into what it does, or later as its next task. */
export function Composer({ session, status, open, fieldRef, onSent, commands }: Props): ReactNode {
  const { text, problem, write, send } = useSender(session.id, onSent);
  const files = useAttachments();
  const maySend = useMay('agent');
  const isEmpty = (text.trim() === '' && files.parts.length === 0) || !files.isReady;
  // Between two turns there is nothing to steer and nothing to queue behind.
  const isBetween = isBetweenTurns(status);
  const addressee = addresseeOf(useMay('member') ? open : undefined, text);
  const offered = commandsFor(text, commands);
  const asked = useAskedSince(addressee, text);
  const sendBy = (way: SendWay | undefined): void => {
    if (isEmpty || (way === undefined && asked.holdsBack())) return;
    send(way ?? addressee?.answer ?? 'queued', files.parts, files.take());
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === 'Escape') event.currentTarget.blur();
    const [first] = offered;
    if (event.key === 'Tab' && !event.shiftKey && first !== undefined) {
      event.preventDefault();
      return write(`/${first.name} `);
    }
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if ((event.ctrlKey || event.metaKey) && !isBetween) return sendBy('immediate');
    sendBy(event.altKey ? 'queued' : undefined);
  };
  if (!maySend || isOver(status)) return <RunAgain session={session} isOver={isOver(status)} />;
  return (
    <form className="composer" aria-label="Message to the agent" onSubmit={(event) => event.preventDefault()}>
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      <Saying addressee={addressee} text={text} isTold={asked.isTold} />
      <SlashCommands commands={offered} onPick={(name) => write(`/${name} `)} />
      <AttachmentList attached={files.attached} onRemove={files.remove} />
      <GrowingField
        fieldRef={fieldRef}
        value={text}
        maxLength={messageLengthMax}
        aria-label="Message"
        placeholder={placeholderOf(status, addressee)}
        onChange={(event) => {
          asked.writes();
          write(event.target.value);
        }}
        onKeyDown={press}
        onPaste={(event) => files.add(event.clipboardData.files)}
        onDrop={(event) => {
          if (event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          files.add(event.dataTransfer.files);
        }}
      />
      <Actions
        hint={hintOf(session, status, addressee)}
        isBetween={isBetween}
        isEmpty={isEmpty}
        addressee={addressee}
        onSend={sendBy}
        onFiles={files.add}
      />
    </form>
  );
}

type SayingProps = { readonly addressee: Addressee | undefined; readonly text: string; readonly isTold: boolean };

/** To what is being answered; and whether that was asked after the text was begun. */
function Saying({ addressee, text, isTold }: SayingProps): ReactNode {
  return (
    <>
      {addressee !== undefined && (addressee.verb === 'Answer' || text.trim() !== '') && (
        <p className="composer-answers">
          <Icon name="question" />
          <span className="composer-asked">
            <strong>{addressee.saying}:</strong>{' '}
            <bdi>
              <Plain text={addressee.question} />
            </bdi>
          </span>
        </p>
      )}
      {isTold && (
        <p className="inline-problem" role="alert">
          This was asked after you began to write. Press Enter again if it is your answer; Alt+Enter queues it.
        </p>
      )}
    </>
  );
}

type ActionsProps = {
  readonly hint: string;
  readonly isBetween: boolean;
  readonly isEmpty: boolean;
  readonly addressee: Addressee | undefined;
  readonly onSend: (way: SendWay | undefined) => void;
  readonly onFiles: (files: Iterable<File>) => void;
};

function Actions({ hint, isBetween, isEmpty, addressee, onSend, onFiles }: ActionsProps): ReactNode {
  return (
    <div className="composer-actions">
      <AttachButton onFiles={onFiles} />
      <p className="hint">{hint}</p>
      {!isBetween && (
        <button
          type="button"
          className="button steer"
          disabled={isEmpty}
          title="Say it now, in the running turn (Ctrl+Enter)"
          onClick={() => onSend('immediate')}
        >
          <Icon name="bolt" />
          Steer
        </button>
      )}
      <button
        type="button"
        className={addressee === undefined ? 'button primary' : 'button'}
        disabled={isEmpty}
        title={isBetween ? 'Send (Enter)' : 'Deliver after the running turn (Alt+Enter)'}
        onClick={() => onSend('queued')}
      >
        <Icon name={isBetween ? 'send' : 'queue'} />
        {isBetween ? 'Send' : 'Queue'}
      </button>
      {addressee !== undefined && (
        <button
          type="button"
          className="button primary"
          disabled={isEmpty}
          title={`${addressee.verb} (Enter)`}
          onClick={() => onSend(undefined)}
        >
          <Icon name="send" />
          {addressee.verb}
        </button>
      )}
    </div>
  );
}

function isBetweenTurns(status: SessionStatus): boolean {
  return status === 'idle' || status === 'interrupted';
}

function placeholderOf(status: SessionStatus, addressee: Addressee | undefined): string {
  if (addressee !== undefined) return addressee.verb === 'Answer' ? 'Your answer …' : 'Say why not, or yes …';
  if (status === 'paused') return 'For when it is resumed …';
  return isBetweenTurns(status) ? 'What next?' : 'Steer the agent now, or queue its next task …';
}

function hintOf({ capabilities }: Session, status: SessionStatus, addressee: Addressee | undefined): string {
  const canSteer = capabilities === undefined || capabilities.includes('steer');
  if (addressee !== undefined) return 'Enter answers · Alt+Enter queues · Ctrl+Enter steers';
  if (status === 'idle') return 'Enter to send';
  if (status === 'interrupted') return 'Enter to send. The queue waits until you send something or press Go on';
  if (status === 'paused') return 'Messages are held until you resume';
  if (!canSteer) return 'This agent cannot be steered mid-turn: a steer comes first in its next turn';
  return 'Enter queues · Ctrl+Enter steers';
}
