import type { Blobs, EventLog } from '@concerto/log';
import { fileOf, type Part } from '@concerto/protocol';
import { inlineBytesMax, storedPart } from './take-content.ts';

type Place = { readonly session: string; readonly log: EventLog; readonly blobs: Blobs };

/** Whether there is a file in it that an event should not hold. */
function hasLargePart(parts: readonly Part[]): boolean {
  return parts.some((part) => {
    const file = fileOf(part);
    return file?.at.kind === 'inline' && (file.bytes ?? 0) > inlineBytesMax;
  });
}

/** The parts of an event that is about to be written: what is large is kept beside the session. */
export async function keepLargeParts(parts: readonly Part[], { session, log, blobs }: Place): Promise<readonly Part[]> {
  if (!hasLargePart(parts)) return parts;
  return await Promise.all(
    parts.map(async (part) => {
      const file = fileOf(part);
      if (file?.at.kind !== 'inline' || (file.bytes ?? 0) <= inlineBytesMax) return part;
      const blob = await blobs.put(file.mimeType, [Buffer.from(file.at.data, 'base64')]);
      for (const use of blobs.usesOf(session, [blob.handle])) await log.putDocument(use);
      return storedPart(blob, file.title);
    }),
  );
}
