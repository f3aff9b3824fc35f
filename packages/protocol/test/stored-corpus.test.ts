import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  Ack,
  AgentJournalEntry,
  BlobHead,
  PersonRecord,
  PoolRecord,
  RunnerCommand,
  SessionRecord,
  ToolConfig,
} from '@concerto/protocol';
import { expect, test } from 'vitest';
import { describeCorpus } from './corpus.ts';

const unions = {
  'session-record': SessionRecord,
  'pool-record': PoolRecord,
  'person-record': PersonRecord,
  'runner-command': RunnerCommand,
  ack: Ack,
  'agent-journal': AgentJournalEntry,
};

describeCorpus('stored', { ...unions, 'tool-config': ToolConfig, 'blob-head': BlobHead });

test.each(Object.entries(unions))('%s: every variant has a sample that must stay readable', (name, union) => {
  const folder = join(import.meta.dirname, 'corpus', 'stored', name, 'accepted');
  // `released.resting.json` is a second one of `released`, for a field that came later.
  const samples = [...new Set(readdirSync(folder).map((file) => file.replace(/\..*$/, '')))];
  const variants = union.def.options.flatMap((option) => option.shape.type.def.values);
  expect(samples.toSorted()).toEqual(variants.toSorted());
});
