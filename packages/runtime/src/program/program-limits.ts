import * as z from 'zod';

const mebibyte = 1024 * 1024;
const some = z.int().positive();

/** What one program in a server may use. It keeps those that it was started with, as it keeps its code. */
export const ProgramLimits = z.strictObject({
  /** Calls and loop turns without a word to the world: the default is some seconds of them. */
  steps: some.default(100_000_000),
  /** Bytes that all its values take together, roughly. */
  memory: some.default(256 * mebibyte),
  /** Calls within calls. */
  depth: some.default(10_000),
  /** Elements of one collection, characters of one text. */
  size: some.default(32 * mebibyte),
  /** Milliseconds of computing at one go: a slice of steps takes few of them, but a built-in is not cut. */
  slice: some.default(5_000),
  /** Things at the same time. */
  at_once: some.default(4_096),
  /** Sessions that it opens in its life. */
  children: some.default(1_000),
  /** Bytes that one run has said and heard: a longer one is not read back. */
  stream: some.default(256 * mebibyte),
});
export type ProgramLimits = z.output<typeof ProgramLimits>;

export const defaultLimits: ProgramLimits = ProgramLimits.parse({});
