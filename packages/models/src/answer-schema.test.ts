import type { Json } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import { answerSchema, strictSchema } from './answer-schema.ts';

const object = (properties: Record<string, Json>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

describe('strict schemas', () => {
  test('everything is required, and what was optional may be null', () => {
    expect(strictSchema(object({ a: { type: 'string' }, b: { type: 'integer', default: 3 } }, ['a']))).toEqual(
      object({ a: { type: 'string' }, b: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }, ['a', 'b']),
    );
  });

  test('also in arrays, choices and definitions that refer to themselves', () => {
    const node = object({ next: { $ref: '#/$defs/Node' }, values: { type: 'array', items: { type: 'number' } } }, [
      'values',
    ]);
    const root = { ...object({ root: { $ref: '#/$defs/Node' } }, ['root']), $defs: { Node: node } };
    const next = { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] };
    expect(strictSchema(root)?.$defs).toEqual({
      Node: object({ next, values: { type: 'array', items: { type: 'number' } } }, ['next', 'values']),
    });
  });

  test.each([
    ['a free map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a value of any type', {}],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['an array of anything', { type: 'array' }],
  ])('%s has no strict form', (_name, inner) => {
    expect(strictSchema(object({ inner }, ['inner']))).toBeUndefined();
    const answer = answerSchema(object({ inner }, ['inner']));
    expect(answer.strict).toBe(false);
    expect(answer.schema.properties).toEqual({ inner });
  });
});

describe('what is not an object', () => {
  test('is wrapped, definitions stay at the top', () => {
    const item = object({ name: { type: 'string' } }, ['name']);
    const { schema, unwrap } = answerSchema({ type: 'array', items: { $ref: '#/$defs/Item' }, $defs: { Item: item } });
    expect(schema).toEqual({
      ...object({ value: { type: 'array', items: { $ref: '#/$defs/Item' } } }, ['value']),
      $defs: { Item: item },
    });
    expect(unwrap('{"value":[{"name":"x"}]}')).toBe('[{"name":"x"}]');
  });

  test('an answer that is not wrapped stays as it came', () => {
    const { unwrap } = answerSchema({ type: 'integer' });
    expect(unwrap('42')).toBe('42');
    expect(unwrap('no JSON')).toBe('no JSON');
  });

  test('a reference at the top is followed', () => {
    const item = object({ name: { type: 'string' } }, ['name']);
    expect(answerSchema({ $ref: '#/$defs/Item', $defs: { Item: item } }).schema).toEqual({
      ...item,
      $defs: { Item: item },
    });
  });
});
