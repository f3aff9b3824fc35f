import type { ConcertoClient } from '@concerto/client';
import { type SuspendEvent, textOf } from '@concerto/protocol';
import { detailsOf, questionOf, readAnswer } from '@concerto/wires';
import { type InputRequests, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import * as z from 'zod';

const AnyJson = z.json();
type Json = z.infer<typeof AnyJson>;
const Selected = z.object({ selected: z.union([z.string(), z.array(z.string())]) });

/** A form for each question; its fields are what an answer consists of. */
export function formsOf(events: readonly SuspendEvent[]): InputRequests {
  return Object.fromEntries(
    events.map((event) => [
      event.requestId,
      inputRequired.elicit({ message: messageOf(event), requestedSchema: formOf(event) }),
    ]),
  );
}

/** Choices stand in the form itself. */
function messageOf(event: SuspendEvent): string {
  const question = questionOf(event);
  const details = event.type === 'waitForChoice' ? '' : detailsOf(event);
  return details === '' ? question : `${question}\n\n${details.trimEnd()}`;
}

/** The ids of the choices by what a person reads in the form, which has no place for both in every client. */
function choicesOf({ choices }: Extract<SuspendEvent, { type: 'waitForChoice' }>): ReadonlyMap<string, string> {
  const labels = choices.map(({ content }) => textOf(content));
  const isClear = new Set(labels).size === labels.length && !labels.includes('');
  return new Map(choices.map(({ id }, index) => [isClear ? (labels[index] ?? id) : `${id}: ${labels[index]}`, id]));
}

function formOf(event: SuspendEvent) {
  if (event.type === 'queryConsent') {
    return z.object({ approved: z.boolean().describe('allow it'), reason: z.string().optional() });
  }
  if (event.type === 'waitForChoice') {
    const choice = z.enum([...choicesOf(event).keys()]);
    const selected = event.selectionMode === 'multiple' ? z.array(choice).min(1) : choice;
    return z.object({ selected: selected.describe(questionOf(event)) });
  }
  return z.object({ text: z.string() });
}

/**
 * Gives the session what the user has filled in; what is no longer asked is passed over. False when something that was
 * put before the user is left: whoever has sent it away is not asked the same again.
 */
export async function takeAnswers(
  client: ConcertoClient,
  id: string,
  inputResponses: Record<string, unknown>,
): Promise<boolean> {
  const { requests } = await client.requests(id);
  let isAllTaken = true;
  for (const { requestId, event } of requests) {
    const given = inputResponse(inputResponses, requestId);
    if (given.kind !== 'elicit') continue;
    const filled = given.action === 'accept' ? formOf(event).safeParse(given.content) : undefined;
    if (filled?.success === true) {
      const content = AnyJson.parse(filled.data);
      const payload = event.type === 'waitForChoice' ? selectedOf(event, content) : content;
      const { response, reason } = readAnswer(event, payload);
      await client.answer(id, requestId, response, reason === undefined ? {} : { reason });
    } else if (given.action === 'decline' && event.type === 'queryConsent') {
      await client.answer(id, requestId, false, { reason: 'declined' });
    } else isAllTaken = false;
  }
  return isAllTaken;
}

function selectedOf(event: Extract<SuspendEvent, { type: 'waitForChoice' }>, content: Json): Json {
  const ids = choicesOf(event);
  const read = Selected.safeParse(content);
  if (!read.success) return content;
  const { selected } = read.data;
  return (typeof selected === 'string' ? [selected] : selected).map((label) => ids.get(label) ?? label);
}
