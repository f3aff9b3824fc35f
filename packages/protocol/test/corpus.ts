import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

type Shape = { safeParse(value: unknown): { success: boolean } };

const verdicts = ['accepted', 'rejected'] as const;

/**
 * Checks `corpus/FOLDER/SHAPE/{accepted,rejected}/*.json`. Red when a shape has no sample of either kind, so that
 * nobody adds a shape without saying what it takes, and when a folder names no shape, so that none is checked in vain.
 */
export function describeCorpus(folder: string, shapes: Readonly<Record<string, Shape>>): void {
  const root = join(import.meta.dirname, 'corpus', folder);

  describe(`corpus ${folder}`, () => {
    test('has a folder for each shape and a shape for each folder', () => {
      expect(readdirSync(root).toSorted()).toEqual(Object.keys(shapes).toSorted());
    });

    describe.each(Object.entries(shapes))('%s', (name, shape) => {
      test.each(verdicts)('has %s samples, and they are', (verdict) => {
        const samples = samplesIn(join(root, name, verdict));
        expect(samples).not.toEqual([]);
        for (const sample of samples) {
          const accepted = shape.safeParse(sample.value).success;
          expect(`${sample.file}: ${accepted ? 'accepted' : 'rejected'}`).toBe(`${sample.file}: ${verdict}`);
        }
      });
    });
  });
}

function samplesIn(folder: string): { file: string; value: unknown }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ file, value: JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown }));
}
