import type { Json } from '@concerto/base';
import * as z from 'zod';

/** Any JSON, as the readonly type the rest of the house uses. */
export const JsonValue: z.ZodType<Json> = z.json();
export const JsonRecord = z.record(z.string(), JsonValue);
