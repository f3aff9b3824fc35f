import type { Context } from 'hono';
import { ProblemError } from './problem.ts';

/** Undefined where it is left out. What is neither is refused: it would be taken for something that nobody asked for. */
export function readFlag(c: Context, name: string): boolean | undefined {
  const text = c.req.query(name);
  if (text === undefined || text === 'true' || text === 'false')
    return text === undefined ? undefined : text === 'true';
  throw invalidQuery(name, 'must be `true` or `false`');
}

/** Whether that one word was given. */
export function readWord(c: Context, name: string, word: string): boolean {
  const text = c.req.query(name);
  if (text !== undefined && text !== word) throw invalidQuery(name, `must be \`${word}\`, or left out`);
  return text === word;
}

function invalidQuery(name: string, message: string): ProblemError {
  return new ProblemError(422, 'invalid_query', `\`${name}\`: ${message}`);
}
