import { readFileSync } from 'node:fs';
import { shorten } from './wire-shape.ts';

const shownLength = 60;
const shownMax = 5;

/** For people: `123 (sleep 100)`. The processes may be gone by now. */
export function describeProcesses(pids: readonly number[]): string {
  const shown = pids.slice(0, shownMax).map((pid) => `${pid}${commandLine(pid)}`);
  return pids.length > shownMax ? `${shown.join(', ')}, …` : shown.join(', ');
}

function commandLine(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean).join(' ');
    return words === '' ? '' : ` (${shorten(words, shownLength)})`;
  } catch {
    return ''; // It has ended meanwhile, or this system does not tell.
  }
}
