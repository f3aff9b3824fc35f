export { assert, unreachable } from './assert.ts';
export { canonicalJson } from './canonical-json.ts';
export type { Json, JsonObject } from './json.ts';
export { nearest } from './nearest.ts';
export { err, ok, type Result } from './result.ts';
