import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Json } from '@concerto/base';
import type { ProgramRequest } from './machine/machine.ts';

/** 2^53: a float of the full precision comes from two draws of this many values together. */
const HIGH = 2 ** 26;
const LOW = 2 ** 27;
/** The largest range `randomInt` takes. */
const WIDEST = 2 ** 48 - 1;

export function performRandom(request: Extract<ProgramRequest, { kind: 'random' }>): Json {
  switch (request.of) {
    case 'float':
      return fraction();
    case 'uuid':
      return randomUUID();
    case 'bytes':
      return randomBytes(request.count).toString('hex');
    case 'int': {
      const width = request.high - request.low + 1;
      if (width <= WIDEST) return request.low + randomInt(width);
      return request.low + Math.floor(fraction() * width);
    }
  }
}

function fraction(): number {
  return (randomInt(HIGH) * LOW + randomInt(LOW)) / (HIGH * LOW);
}
