import type { Blobs, EventLog } from '@concerto/log';
import { fileOf, type LlmContent, Part, type WorkEvent } from '@concerto/protocol';
import * as z from 'zod';
import type { Tenure } from '../session/tenure.ts';
import { inlineBytesMax, storedPart } from './take-content.ts';

export type KeepingPlace = {
  readonly session: string;
  readonly log: EventLog;
  readonly blobs: Blobs;
  /** Of the session's owner: a store that is away for a moment costs no file, and no turn. */
  readonly tenure: Pick<Tenure, 'patiently'>;
};

/** Whether there is a file in it that an event should not hold. */
function hasLargePart(parts: readonly Part[]): boolean {
  return parts.some((part) => {
    const file = fileOf(part);
    if (file?.at.kind === 'inline') return (file.bytes ?? 0) > inlineBytesMax;
    return hasLargePart(answerIn(part)?.functionResponse.parts ?? []);
  });
}

/** Pictures and other files stand within the answer of a call. */
const Answer = z.looseObject({
  functionResponse: z.looseObject({ name: z.string(), response: z.record(z.string(), z.json()), parts: z.array(Part) }),
});

function answerIn(part: Part): z.infer<typeof Answer> | undefined {
  return 'functionResponse' in part ? Answer.safeParse(part).data : undefined;
}

/** The parts of an event that is about to be written: what is large is kept beside the session. */
export async function keepLargeParts(parts: readonly Part[], place: KeepingPlace): Promise<readonly Part[]> {
  if (!hasLargePart(parts)) return parts;
  return await Promise.all(parts.map((part) => place.tenure.patiently(() => keptPart(part, place))));
}

/** The same bytes are the same file, however often it is tried. */
async function keptPart(part: Part, place: KeepingPlace): Promise<Part> {
  const { session, log, blobs } = place;
  const file = fileOf(part);
  const answer = answerIn(part);
  if (answer !== undefined) {
    const { functionResponse } = answer;
    const parts = await Promise.all(functionResponse.parts.map((one) => keptPart(one, place)));
    return { ...answer, functionResponse: { ...functionResponse, parts } };
  }
  if (file?.at.kind !== 'inline' || (file.bytes ?? 0) <= inlineBytesMax) return part;
  const blob = await blobs.put(file.mimeType, [Buffer.from(file.at.data, 'base64')]);
  for (const use of blobs.usesOf(session, [blob.handle])) await log.putDocument(use);
  return storedPart(blob, file.title);
}

/** What a worker shows, as it goes into the log; at once where nothing in it is large. */
export function keepLargeFiles(
  events: readonly WorkEvent[],
  place: KeepingPlace,
): readonly WorkEvent[] | Promise<readonly WorkEvent[]> {
  if (!events.some((event) => hasLargePart(contentOf(event)?.parts ?? []))) return events;
  return Promise.all(
    events.map(async (event) => {
      const content = contentOf(event);
      if (content === undefined || !hasLargePart(content.parts)) return event;
      return { ...event, content: { ...content, parts: [...(await keepLargeParts(content.parts, place))] } };
    }),
  );
}

function contentOf(event: WorkEvent): LlmContent | undefined {
  return event.type === 'content' || event.type === 'functionResult' ? event.content : undefined;
}
