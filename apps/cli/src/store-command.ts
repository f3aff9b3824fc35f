import { type CopyProgress, copyStore, openEventLog, type Store } from '@concerto/log';
import { defineCommand, parseArguments, UsageError } from './arguments.ts';

export const spec = defineCommand({
  name: 'store',
  summary: 'Move everything from one store to another.',
  usage: 'copy FROM TO',
  options: {
    quiet: { type: 'boolean', short: 'q', help: 'no progress, only the result' },
  },
  minPositionals: 3,
  maxPositionals: 3,
  details: [
    'FROM and TO are store URLs: sqlite:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB.',
    'TO must be empty, and nothing may use FROM meanwhile. What arrived is read back and compared, stream by stream.',
  ].join('\n'),
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [verb, fromUrl = '', toUrl = ''] = positionals;
  if (verb !== 'copy')
    throw new UsageError(`there is no \`concerto store ${verb}\`; there is \`concerto store copy FROM TO\``);
  for (const url of [fromUrl, toUrl]) {
    if (url === 'memory:') throw new UsageError('a memory store belongs to one process; there is nothing to copy');
  }
  const from = await openEventLog(fromUrl, { now: Date.now, mustExist: true });
  try {
    return await copyInto(from, toUrl, values.quiet);
  } finally {
    await from.close();
  }
}

async function copyInto(from: Store, toUrl: string, quiet: boolean): Promise<number> {
  const to = await openEventLog(toUrl, { now: Date.now, onWarning: (message) => console.error(`warning: ${message}`) });
  try {
    const progress = quiet ? {} : { onProgress: progressLine() };
    const { streams, entries, documents, leases } = await copyStore(from, to, { now: Date.now, ...progress });
    console.log(
      `copied and verified: ${entries} entries in ${streams} streams, ${documents} documents, ${leases} leases`,
    );
    return 0;
  } finally {
    await to.close();
  }
}

/** One line a phase, and more of them only on a terminal that can overwrite them. */
function progressLine(): (progress: CopyProgress) => void {
  let phase: string | undefined;
  let last = 0;
  return (step) => {
    const isNew = step.phase !== phase;
    phase = step.phase;
    if (isNew) console.error(`${step.phase}…`);
    if (!process.stderr.isTTY || Date.now() - last < 200) return;
    last = Date.now();
    process.stderr.write(`\r${step.records}${step.total === undefined ? '' : ` of ${step.total}`} records\r`);
  };
}
