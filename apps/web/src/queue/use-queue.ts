import { ClientError } from '@concerto/client';
import type { MessageList } from '@concerto/protocol';
import { useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { post } from '../shell/notice-board.ts';
import { movable, moved } from './queue-order.ts';

export type QueueActions = {
  readonly edit: (message: string, content: string) => Promise<boolean>;
  readonly promote: (message: string) => Promise<boolean>;
  readonly move: (message: string, by: number) => Promise<boolean>;
  readonly unsend: (message: string) => Promise<boolean>;
  readonly settle: (message: string, how: 'resend' | 'drop') => Promise<boolean>;
};

export type Queue = {
  readonly list: MessageList | undefined;
  readonly error: unknown;
  /** The message that is being changed. */
  readonly busy: string | undefined;
  readonly actions: QueueActions;
};

/** The queue is the server's to keep: read again when it changed, and after everything we do to it. */
export function useQueue(id: string, revision: string): Queue {
  const {
    value: list,
    error,
    reload,
  } = useFetched((signal) => client.messages(id, { all: true }, { signal }), { key: id, revision });
  const [busy, setBusy] = useState<string>();
  const act = async (message: string, wish: () => Promise<unknown>): Promise<boolean> => {
    setBusy(message);
    try {
      await wish();
      return true;
    } catch (cause) {
      post('bad', refusalText(cause));
      return false;
    } finally {
      setBusy(undefined);
      reload();
    }
  };
  const move = async (message: string, by: number): Promise<boolean> => {
    if (list === undefined) return false;
    const ids = moved(movable(list.pending), message, by);
    return await act(message, () => client.orderMessages(id, { ids, version: list.version }));
  };
  return {
    list,
    error,
    busy,
    actions: {
      edit: (message, content) => act(message, () => client.editMessage(id, message, content)),
      promote: (message) => act(message, () => client.promoteMessage(id, message)),
      unsend: (message) => act(message, () => client.cancelMessage(id, message)),
      settle: (message, how) => act(message, () => client.settleMessage(id, message, how)),
      move,
    },
  };
}

function refusalText(cause: unknown): string {
  const code = cause instanceof ClientError ? cause.code : '';
  if (code === 'stale_order')
    return 'The queue had changed meanwhile. It is shown as it is now; move again if you still want to.';
  if (code === 'in_flight' || code === 'already_delivered') return `Too late: ${failureOf(cause).text}`;
  return failureOf(cause).text;
}
