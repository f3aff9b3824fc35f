import type { Json } from '@concerto/base';
import { z } from 'zod';

/** Any JSON, typed as the rooms pass it on: nobody changes what was stored. */
export const JsonValue: z.ZodType<Json> = z.json();
