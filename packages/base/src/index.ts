export { assert, unreachable } from './assert.ts';
export { canonicalJson } from './canonical-json.ts';
export { harmless, harmlessDeep, harmlessJson, harmlessLine, withoutStyles } from './harmless-text.ts';
export type { Json, JsonObject } from './json.ts';
export { isNestedTooDeep, jsonDepthMax } from './json-depth.ts';
export { compilePattern, type LinearPattern } from './linear-pattern.ts';
export { matchesWildcard } from './matches-wildcard.ts';
export { nearest } from './nearest.ts';
export { err, ok, type Result } from './result.ts';
