import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Campaign } from './campaign.ts';
import { subjectNames } from './subjects.ts';

/** `npm run fuzz` tries millions. */
const cases = 100;

describe.each(subjectNames)('whatever comes as %s', (name) => {
  test('is taken or refused', { timeout: 120_000 }, async () => {
    const campaign = new Campaign(name);
    const findings: unknown[] = [];
    for (let seed = 1; seed <= cases; seed++) findings.push(await campaign.finding(seed));
    expect(findings.filter((finding) => finding !== undefined)).toEqual([]);
  });

  test('what was found once is', { timeout: 120_000 }, async () => {
    const campaign = new Campaign(name);
    const folder = join(import.meta.dirname, 'found', name);
    for (const file of existsSync(folder) ? readdirSync(folder) : []) {
      expect(await campaign.finding(Number(file), readFileSync(join(folder, file), 'utf8'))).toBeUndefined();
    }
  });
});
