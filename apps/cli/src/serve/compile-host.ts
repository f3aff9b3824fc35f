import { serveJobs } from '@concerto/runtime/hosted';
import { checkProgram } from '../doctor/check-program.ts';
import { compileQuietly } from '../language/compile-target.ts';
import type { CheckReply, CompileJob, CompileReply, SourcesReply } from './compile-jobs.ts';
import { sourcesIn } from './program-files.ts';

/** The process in which a server reads and checks programs: whatever a source does to the checker, it does it here. */

serveJobs((job) => (isJob(job) ? perform(job) : undefined));

function perform(job: CompileJob): CheckReply | CompileReply | SourcesReply {
  if (job.kind === 'check') return { finding: checkProgram(job.check, job.entry, job.color) };
  if (job.kind === 'sources') return { files: sourcesIn(job.folder, job.entry) };
  const { compiled, complaints } = compileQuietly(job.entry, job.color);
  if (compiled === undefined) return { complaints };
  const { module, projectDirectory } = compiled;
  return { complaints, program: { module, projectDirectory } };
}

/** Written by this version of ourselves. */
function isJob(data: unknown): data is CompileJob {
  return typeof data === 'object' && data !== null && 'kind' in data;
}
