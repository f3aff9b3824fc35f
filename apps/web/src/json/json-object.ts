import type { JsonObject } from '@concerto/base';

/** For values that were parsed as JSON where they were received: an object can only hold JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
