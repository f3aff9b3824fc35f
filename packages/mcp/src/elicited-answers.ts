import type { ConcertoClient } from '@concerto/client';
import type { SuspendEvent } from '@concerto/protocol';
import { questionOf, readAnswer } from '@concerto/wires';
import { type InputRequests, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import * as z from 'zod';

const Json = z.json();

/** A form for each question; its fields are what an answer consists of. */
export function formsOf(events: readonly SuspendEvent[]): InputRequests {
  return Object.fromEntries(
    events.map((event) => [
      event.requestId,
      inputRequired.elicit({ message: questionOf(event), requestedSchema: formOf(event) }),
    ]),
  );
}

function formOf(event: SuspendEvent) {
  if (event.type === 'queryConsent') {
    return z.object({ approved: z.boolean().describe('allow it'), reason: z.string().optional() });
  }
  if (event.type === 'waitForChoice') {
    return z.object({ selected: z.enum(event.choices.map(({ id }) => id)).describe(questionOf(event)) });
  }
  return z.object({ text: z.string() });
}

/** Gives the session what the user has filled in; what is no longer asked is passed over. */
export async function takeAnswers(
  client: ConcertoClient,
  id: string,
  inputResponses: Record<string, unknown>,
): Promise<void> {
  const { requests } = await client.requests(id);
  for (const { requestId, event } of requests) {
    const given = inputResponse(inputResponses, requestId);
    if (given.kind !== 'elicit') continue;
    const content = Json.safeParse(given.content);
    if (given.action === 'accept' && content.success) {
      const payload = event.type === 'waitForChoice' ? Reflect.get(Object(content.data), 'selected') : content.data;
      const { response, reason } = readAnswer(event, Json.parse(payload));
      await client.answer(id, requestId, response, reason === undefined ? {} : { reason });
    } else if (given.action === 'decline' && event.type === 'queryConsent') {
      await client.answer(id, requestId, false, { reason: 'declined' });
    }
  }
}
