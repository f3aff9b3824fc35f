import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Benchmark, meetsTarget, type Row } from './row.ts';

const folder = dirname(fileURLToPath(import.meta.url));
const resultsFile = join(folder, 'results.json');
const wanted = process.argv.slice(2);

const files = readdirSync(folder).filter((file) => file.endsWith('.bench.ts'));
const names = files.map((file) => file.replace('.bench.ts', ''));
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`bench: there is no ${unknown.join(', ')}; there are ${names.join(', ')}`);
  process.exit(2);
}

const results: Record<string, { readonly rows: readonly Row[]; readonly commit: string; readonly node: string }> =
  existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' }).stdout.trim();

for (const name of names) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const benchmark: Benchmark = await import(pathToFileURL(join(folder, `${name}.bench.ts`)).href);
  console.log(`\n${benchmark.name}`);
  const rows = await benchmark.run();
  for (const row of rows) console.log(line(row));
  results[name] = { rows, commit, node: process.version };
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
}
process.exit(0);

function line(row: Row): string {
  const met = meetsTarget(row);
  const verdict = { true: 'ok', false: 'MISSED', undefined: '' }[String(met)];
  const cells = [
    row.name.padEnd(52),
    `${figure(row.ours)} ${row.unit}`.padStart(18),
    `reference ${figure(row.reference)}`.padStart(22),
    `ratio ${row.ratio.toFixed(2)} ±${Math.round(row.spread * 100)}%`.padStart(18),
    `${row.target ?? ''} ${verdict}`,
  ];
  return `  ${cells.join('  ')}`;
}

function figure(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)}M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)}k`;
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
