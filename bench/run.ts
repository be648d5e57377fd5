/**
 * `npm run bench -- NAME... [--json] [--check]`: runs benchmarks, each in a process of its own so that none warms or
 * fills the heap of another. `--check` ends with the worst figure on the last line and exits 1 where a bar falls short.
 * `memory --case=NAME` measures a part of the longest of them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchResult, checkBars, formatFigure, renderResult, shortfall } from './bench-result.ts';
import { memoryCases } from './memory-cases.ts';

const folder = join(import.meta.dirname, 'benchmarks');
const available = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.replace(/\.ts$/, ''))
  : [];

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')));
const cases = memoryCases.filter((name) => wanted.includes('memory') && flags.delete(`--case=${name}`));
const unknown = [
  ...wanted.filter((name) => !available.includes(name)),
  ...[...flags].filter((flag) => !['--json', '--check'].includes(flag)),
];
if (unknown.length > 0 || wanted.length === 0) {
  console.error(
    `Usage: npm run bench -- NAME... [--json] [--check] [--case=CASE...]\nNames: ${available.join(', ')}\nCases of memory: ${memoryCases.join(', ')}${unknown.length > 0 ? `\nUnknown: ${unknown.join(', ')}` : ''}`,
  );
  process.exit(2);
}

const results: BenchResult[] = [];
for (const name of wanted) {
  const child = spawnSync(
    process.execPath,
    ['--expose-gc', join(folder, `${name}.ts`), ...(name === 'memory' ? cases : [])],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 << 20,
    },
  );
  if (child.status !== 0) {
    console.error(`benchmark ${name} failed`);
    process.exit(1);
  }
  const result = JSON.parse(child.stdout) as BenchResult;
  results.push(result);
  console.log(flags.has('--json') ? JSON.stringify({ ...result, bars: checkBars(result) }) : renderResult(result));
}

if (flags.has('--check')) {
  const judged = results.flatMap((result) =>
    result.bars.map((bar) => ({ result, bar, beyond: shortfall(result, bar) })),
  );
  const worst = judged.sort((a, b) => b.beyond - a.beyond)[0];
  const failed = results.some((result) => checkBars(result).some((bar) => !bar.ok));
  if (worst !== undefined) {
    const figure = formatFigure(worst.result.figures[worst.bar.key]);
    console.log(`worst: ${worst.result.name} ${worst.bar.key} = ${figure} (bar ${worst.bar.op} ${worst.bar.value})`);
  }
  process.exitCode = failed ? 1 : 0;
}
