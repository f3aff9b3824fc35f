import type { Json, JsonObject } from '@concerto/base';
import { LlmContent, type Part } from '@concerto/protocol';
import * as z from 'zod';

const Text = z.looseObject({ text: z.string() });
const Given = z.looseObject({ title: z.string().optional(), content: LlmContent });

/** As one key of its kind, or with the kind as `type`. */
const Segment = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['asset', 'input']), content: LlmContent }),
  z.strictObject({ text: Text }),
  z.strictObject({ asset: Given }),
  z.strictObject({ input: Given }),
]);
type Segment = z.infer<typeof Segment>;

/** The token of its own cloud is not for us: it is read and forgotten. */
export const StartBeta = z.looseObject({ segments: z.array(Segment).min(1) });
export type StartBeta = z.infer<typeof StartBeta>;

/** What the segments say together. */
export function segmentsContent({ segments }: StartBeta): LlmContent {
  return { role: 'user', parts: segments.flatMap(partsOf) };
}

function partsOf(segment: Segment): readonly Part[] {
  if ('type' in segment) return segment.type === 'text' ? [{ text: segment.text }] : segment.content.parts;
  if ('text' in segment) return [{ text: segment.text.text }];
  return ('asset' in segment ? segment.asset : segment.input).content.parts;
}

/** The answer itself; which request it is for only where several are open. */
export const ResumeBeta = z.looseObject({
  interactionId: z.string().optional(),
  accessToken: z.string().optional(),
  selected: z.looseObject({ ids: z.array(z.string()) }).optional(),
  consent: z.boolean().optional(),
});
export type ResumeBeta = z.infer<typeof ResumeBeta>;

/** In the words of the seed's own wire; undefined where it says nothing. */
export function betaAnswer(resume: ResumeBeta): Json | undefined {
  const { interactionId: _id, accessToken: _token, selected, consent, ...rest } = resume;
  if (consent !== undefined) return consent;
  if (selected !== undefined) return { selected: selected.ids };
  if (Object.keys(rest).length === 0) return undefined;
  return z.record(z.string(), z.json()).parse(rest) satisfies JsonObject;
}
