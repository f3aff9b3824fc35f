import type { Json } from '@concerto/base';
import type { Audit } from '@concerto/protocol';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { isJsonObject } from '../json/json-object.ts';

export type Answers = ReadonlyMap<string, Json>;

const none: Answers = new Map();

/** What was answered to which request. The events only say that one was; the audit says what. */
export function useAnswers(id: string, answered: number, isReplaying: boolean): Answers {
  const isWanted = answered > 0 && !isReplaying;
  const { value } = useFetched(
    async (signal) => (isWanted ? answersOf(await client.audit(id, {}, { signal })) : none),
    {
      key: `${id} ${isWanted}`,
      revision: answered,
    },
  );
  return value ?? none;
}

function answersOf({ entries }: Audit): Answers {
  const answers = new Map<string, Json>();
  for (const { what, requestId, detail } of entries) {
    if (what !== 'request-answered' || requestId === undefined || !isJsonObject(detail)) continue;
    if (detail.response !== undefined) answers.set(requestId, detail.response);
  }
  return answers;
}
