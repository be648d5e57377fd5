/**
 * `npm run chaos -- [--seeds N] [--seed S] [--short] [--print] [--verbose]`: random scenarios under faults in virtual time, held to the
 * invariants. Seeds run from S (default 1) on; what breaks is told with its seed, and `--seeds 1 --seed S` plays it again.
 * `--minutes M` ends after that time with as many seeds as it got to. `--verbose` tells the figures of every seed. `--print` writes the scenario of seed S as a file for `stowage simulate`.
 */
import { stringify } from 'yaml';
import { LONG_CHAOS, randomScenario, SHORT_CHAOS } from '../src/simulator/chaos/random-scenario.ts';
import { runChaos } from '../src/simulator/chaos/run-chaos.ts';
import { startOperator } from '../src/wire.ts';
import { readOptions } from './options.ts';

const values = readOptions('npm run chaos -- [--seeds N] [--seed S] [--minutes M] [--short] [--print] [--verbose]', {
  seeds: { type: 'string', default: '20' },
  seed: { type: 'string', default: '1' },
  minutes: { type: 'string', default: 'Infinity' },
  short: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  print: { type: 'boolean', default: false },
});
const [seeds, first, minutes] = [Number(values.seeds), Number(values.seed), Number(values.minutes)];
if (!Number.isInteger(seeds) || !Number.isInteger(first) || seeds < 1 || first < 0 || !(minutes > 0)) {
  console.error('Give whole numbers: npm run chaos -- --seeds 100 --seed 1');
  process.exit(2);
}
const size = values.short ? SHORT_CHAOS : LONG_CHAOS;
if (values.print) {
  console.log(stringify(randomScenario(first, size)));
  process.exit(0);
}

let [broken, hours, played] = [0, 0, 0];
const endsAt = performance.now() + minutes * 60_000;
const checks = new Map<string, number>();
for (let seed = first; seed < first + seeds && performance.now() < endsAt; seed++) {
  played++;
  const report = await runChaos(seed, size, startOperator).catch((error: unknown) => {
    console.log(`seed ${seed}: ended with ${error instanceof Error ? error.stack : String(error)}`);
    broken++;
    return undefined;
  });
  if (report === undefined) continue;
  for (const [invariant, count] of Object.entries(report.checks))
    checks.set(invariant, (checks.get(invariant) ?? 0) + count);
  hours += report.figures.hours;
  if (values.verbose) console.log(`seed ${seed}: ${JSON.stringify(report.figures)} ${report.problems.join('; ')}`);
  if (report.violations.length + report.problems.length === 0) continue;
  broken++;
  console.log(`seed ${seed}: ${report.violations.length} violations`);
  for (const problem of report.problems.slice(0, 3)) console.log(`  problem  ${problem}`);
  for (const { invariant, at, detail } of report.violations.slice(0, 3))
    console.log(`  ${invariant}  ${new Date(at).toISOString()}  ${detail}`);
}
const held = broken === 0 ? 'every invariant held' : `${broken} seeds broke an invariant`;
console.log(`Checks: ${[...checks].map(([invariant, count]) => `${invariant} ${count}`).join(', ')}`);
console.log(`${played} seeds from ${first}, ${hours} simulated hours: ${held}`);
process.exitCode = broken === 0 ? 0 : 1;
