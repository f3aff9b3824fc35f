export { Blobs } from './blobs.ts';
export { checkStore, type StoreCheck, type StoreProblem } from './check-store.ts';
export { type CopyOptions, type CopyProgress, type CopyReport, copyStore } from './copy-store.ts';
export {
  type Append,
  type Appended,
  type DocumentPage,
  type DocumentWrite,
  type Entry,
  type EventLog,
  type Lease,
  type LeaseRequest,
  type ListRequest,
  LogError,
  type LogErrorCode,
  MAX_ENTRY_LENGTH,
  type NewEntry,
  type Page,
  type Positions,
  type ReadRequest,
  type StoredDocument,
  type StreamAppend,
  type StreamName,
  streamNames,
} from './event-log.ts';
export { type FollowRequest, follow } from './follow.ts';
export { type Durations, Histogram } from './histogram.ts';
export { LazyDocument } from './lazy-document.ts';
export { LazyEntry } from './lazy-entry.ts';
export { type LogMeasures, type MeasuredLog, measuredLog } from './measured-log.ts';
export { memoryEventLog } from './memory/memory-event-log.ts';
export { backupStore, openEventLog, type StoreOptions } from './open-event-log.ts';
export type { RedisFacts } from './redis/redis-server-check.ts';
export type { Store, StoreRecord } from './store.ts';
