import type { Json } from '@concerto/base';
import { memberOf } from '../json-member.ts';

/** The tool with which the model says when it wants to be woken, to go on with its work. */
export const sleepTool = 'ScheduleWakeup';
/** What the program calls such a time when it has come; of other times that were set it says another word. */
export const loopWakeup = 'loop_wakeup';

/** It chooses the very moment itself, a minute or so later; one that has not come then will not. */
const lateMs = 600_000;

export type ClaudeSleep = { readonly until: string; readonly withinMs: number };

/** Until when it sleeps after a call of the tool; undefined where it does not. */
export function sleepOf(told: Json | undefined): ClaudeSleep | undefined {
  const [at, seconds] = [memberOf(told, 'scheduledFor'), memberOf(told, 'clampedDelaySeconds')];
  if (typeof at !== 'number' || at <= 0 || typeof seconds !== 'number') return undefined;
  const until = new Date(at);
  if (Number.isNaN(until.getTime())) return undefined;
  return { until: until.toISOString(), withinMs: seconds * 1_000 + lateMs };
}
