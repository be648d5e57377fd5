/**
 * `npm run differential -- [--sequences N] [--seed S] [--only pods,leases] [--print] [--full]`: rows of API requests drawn at random, right and wrong ones,
 * sent to the embedded API server and to a real one (etcd and kube-apiserver alone); tells every kind of difference with the seeds that show it.
 * `--sequences 1 --seed S --print` tells the requests of one row. `--record` keeps what both answer for `npm test`.
 */
import { writeFileSync } from 'node:fs';
import { createSystemClock } from '../src/lib/clock.ts';
import type { Difference } from '../test/conformance/differential/compare.ts';
import { drawSequence } from '../test/conformance/differential/draw-sequence.ts';
import { DIFFERENTIAL_USER, startEmbeddedApi } from '../test/conformance/differential/embedded-api.ts';
import { PREFIX, RECORD, type RecordedAnswers } from '../test/conformance/differential/recorded-answers.ts';
import { type DifferentialResult, runDifferential } from '../test/conformance/differential/run-differential.ts';
import { createEndpoint } from '../test/conformance/endpoint.ts';
import { ensureBinaries } from '../test/controlplane/build.ts';
import { startControlPlane } from '../test/controlplane/control-plane.ts';
import { readVersions } from '../test/controlplane/versions.ts';
import { readOptions } from './options.ts';

const values = readOptions(
  'npm run differential -- [--sequences N] [--seed S] [--only pods,leases] [--print] [--full] [--record]',
  {
    sequences: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    print: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
);
const [count, first] = [Number(values.sequences), Number(values.seed)];
if (!Number.isInteger(count) || !Number.isInteger(first) || count < 1 || first < 0) {
  console.error('Give whole numbers: npm run differential -- --sequences 300 --seed 1');
  process.exit(2);
}
const only = values.only?.split(',');
const seeds = Array.from({ length: count }, (_, index) => first + index);
if (values.print) {
  for (const seed of seeds)
    for (const [index, step] of drawSequence({ seed, prefix: PREFIX, ...(only && { only }) }).steps.entries())
      console.log(
        `${seed}.${index}`,
        step.what,
        step.how,
        '\n   ',
        step.method,
        step.path,
        step.contentType ?? '',
        step.text ?? JSON.stringify(step.body) ?? '',
      );
}

const clock = createSystemClock();
const report = (line: string): void => void process.stderr.write(`${line}\n`);
const binaries = await ensureBinaries({ clock, env: process.env, report });
const controlPlane = await startControlPlane({ binaries, clock, controllers: false });
const embedded = await startEmbeddedApi();
try {
  const credentials = await controlPlane.authority.issueClient(DIFFERENTIAL_USER, ['system:masters']);
  const real = createEndpoint({ url: controlPlane.url, caPem: controlPlane.caPem, credentials });
  const result = await runDifferential({
    real,
    embedded: embedded.endpoint,
    seeds,
    prefix: PREFIX,
    ...(only && { only }),
  });
  real.close();
  const differences = result.sequences.flatMap((sequence) => sequence.differences);
  tell(differences);
  const told = `${count} sequences from seed ${first}, ${result.requests} requests`;
  console.log(
    `${told}: ${differences.length} differences in ${new Set(differences.map(({ seed }) => seed)).size} sequences`,
  );
  if (values.record) record(result);
  process.exitCode = differences.length === 0 ? 0 : 1;
} finally {
  await embedded.stop();
  await controlPlane.stop();
}

function record({ sequences }: DifferentialResult): void {
  const recorded: RecordedAnswers = {
    kubernetes: readVersions().kubernetes,
    sequences: Object.fromEntries(sequences.map(({ seed, agreed }) => [seed, agreed])),
  };
  const lines = JSON.stringify(recorded).replaceAll('],"', '],\n"');
  writeFileSync(RECORD, `${lines}\n`);
}

/** Kinds of differences, the most frequent first. */
function tell(differences: readonly Difference[]): void {
  const short = (value: unknown): string => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
    return values.full ? text : text.slice(0, 230);
  };
  const groups = Map.groupBy(differences, ({ step, where }) => `${step.what} | ${where}`);
  for (const [title, group] of [...groups].sort((a, b) => a[1].length - b[1].length)) {
    console.log(`\n${title}  (${group.length})`);
    for (const { seed, index, step, real, embedded: ours } of group.slice(0, 4)) {
      console.log(`  ${seed}.${index} [${step.how}] ${step.path.replace(/^.*\//, '')}`);
      console.log(`    real ${short(real)}\n    ours ${short(ours)}`);
    }
  }
}
