// Their suite, over our reading half; run by `durable-streams.test.ts`, which says which of it applies.
import { runConformanceTests } from '@durable-streams/server-conformance-tests';
import { afterAll } from 'vitest';
import { longPollMs, startWritingHalf } from './writing-half.ts';

const half = await startWritingHalf();
afterAll(() => half.close());
runConformanceTests({ baseUrl: half.url, longPollTimeoutMs: longPollMs });
