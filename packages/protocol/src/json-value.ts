import type { Json } from '@concerto/base';
import * as z from 'zod/mini';

/** Any JSON, as the readonly type the rest of the house uses. */
export const JsonValue: z.ZodMiniType<Json> = z.json();
export const JsonRecord = z.record(z.string(), JsonValue);
