/** `stowage backtest --data prometheus` on a real Prometheus with three and a half days of history, beside the same usage from files. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../src/cli/testing/run-command.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { formatTime } from '../../src/lib/rfc3339.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/prometheus.ts';
import { type StoredSeries, storeSeries } from '../prometheus/stored-series.ts';
import { programFolder } from './real-cluster.ts';

const MIB = 1024 * 1024;
const DAY = 86_400_000;
const STEP = 300_000;
const SCRAPE = 60_000;
/** Scrapes are in the middle of minutes: none is on the edge of a step, which belongs to either side by version. */
const OFFSET = SCRAPE / 2;
/** The latest scrapes are not asked for: they may still be on their way. */
const end = Math.floor((createSystemClock().now() - SCRAPE) / STEP) * STEP;
const start = end - 3.5 * DAY;

/** What is used in the step that ends at `at`: a daily wave, noise, and a burst now and then; the same for each run at equal steps. */
function millicoresAt(at: number): number {
  const step = Math.round((at - start) / STEP);
  const noise = ((step * 7919) % 1000) / 1000;
  const burst = step % 97 < 3 ? 2.5 : 1;
  return Math.round((300 + 180 * Math.sin((2 * Math.PI * step) / 288)) * (0.8 + 0.4 * noise) * burst);
}
/** Every other day as much again, for an hour. */
function bytesAt(at: number): number {
  const step = Math.round((at - start) / STEP);
  const isPeak = step % 576 > 400 && step % 576 <= 412;
  return Math.round((200 + 20 * Math.sin((2 * Math.PI * step) / 288)) * (isPeak ? 2 : 1)) * MIB;
}

interface Life {
  readonly from: number;
  readonly to: number;
  /** When the container restarts: its counter begins anew. */
  readonly restarts?: readonly number[];
}
const always: Life = { from: start, to: end };

function* scrapes({ from, to }: Life): Generator<number> {
  for (let at = from + OFFSET; at < to; at += SCRAPE) yield at;
}
const stepOf = (at: number): number => Math.ceil(at / STEP) * STEP;

/**
 * CPU seconds since the start; straight within a step, so that its rate over one is what was used in it. Half a millicore more, as
 * rates are cut to whole ones and may be a hair too low.
 */
function* cpuOf(life: Life, whole: (at: number) => number): Generator<[number, number]> {
  const millicores = (at: number): number => whole(at) + 0.5;
  const restarts = [...(life.restarts ?? [])];
  let seconds = 50_000;
  let before = life.from;
  for (const at of scrapes(life)) {
    if (at >= (restarts[0] ?? Number.POSITIVE_INFINITY)) {
      restarts.shift();
      seconds = 0;
      before = at - OFFSET;
    }
    const edge = Math.max(before, stepOf(at) - STEP);
    seconds += ((edge - before) / 1e6) * millicores(stepOf(before + 1)) + ((at - edge) / 1e6) * millicores(stepOf(at));
    before = at;
    yield [at, seconds];
  }
}
function* levelOf(life: Life, value: (at: number) => number): Generator<[number, number]> {
  for (const at of scrapes(life)) yield [at, value(stepOf(at))];
}

interface Container extends Life {
  readonly pod: string;
  readonly container?: string;
  readonly namespace?: string;
  readonly millicores?: (at: number) => number;
  readonly bytes?: (at: number) => number;
}
const labelsOf = ({ pod, container = 'app', namespace = 'shop' }: Container, job: string) => ({
  namespace,
  pod,
  container,
  id: `/kubepods/${pod}/${container}`,
  job,
});
/** Each kubelet is scraped by two jobs, as where an operator's and a hand-written one overlap. */
const jobs = ['kubelet', 'kubelet-again'];

const web: Container = { ...always, pod: 'web-7d4f9c5b8-x2k7p', millicores: millicoresAt, bytes: bytesAt };
const half = start + 2 * DAY;
const containers: readonly Container[] = [
  web,
  // The pause container and the pod's own total are no containers.
  { ...web, container: '', millicores: () => 9000, bytes: () => 9000 * MIB },
  { ...web, container: 'POD', millicores: () => 1, bytes: () => MIB },
  // A rollout in the middle, and a container that restarts twice.
  { ...always, to: half, pod: 'api-5c9d8f7b6-qqzzz', millicores: () => 400, bytes: () => 300 * MIB },
  {
    ...always,
    from: half,
    restarts: [half + DAY / 2, half + DAY],
    pod: 'api-6b7c8d9f5-bbbbb',
    millicores: () => 400,
    bytes: () => 300 * MIB,
  },
  // Nobody's of `api`, though its name begins so.
  { ...always, pod: 'api-edge-6b7c8d9f5-ccccc', millicores: () => 4000, bytes: () => 4000 * MIB },
  // Too young to be judged.
  { ...always, from: end - DAY, pod: 'new-6b7c8d9f5-ddddd', millicores: () => 10, bytes: () => 10 * MIB },
  { ...always, namespace: 'bank', pod: 'db-0', container: 'postgres', millicores: () => 250, bytes: () => 800 * MIB },
];

/** What kube-state-metrics tells, beyond the end as well: a test may take a while. */
const told = (labels: Readonly<Record<string, string>>, value = 1): StoredSeries => ({
  labels: { job: 'kube-state-metrics', ...labels },
  samples: levelOf({ from: end - 3_600_000, to: end + 3_600_000 }, () => value),
});
const owned: readonly (readonly [namespace: string, pod: string, kind: string, name: string])[] = [
  ['shop', 'web-7d4f9c5b8-x2k7p', 'ReplicaSet', 'web-7d4f9c5b8'],
  ['shop', 'api-6b7c8d9f5-bbbbb', 'ReplicaSet', 'api-6b7c8d9f5'],
  ['shop', 'api-edge-6b7c8d9f5-ccccc', 'ReplicaSet', 'api-edge-6b7c8d9f5'],
  ['shop', 'new-6b7c8d9f5-ddddd', 'ReplicaSet', 'new-6b7c8d9f5'],
  ['bank', 'db-0', 'StatefulSet', 'db'],
];

let dir = '';
let prometheus: RunningPrometheus | undefined;
beforeAll(async () => {
  dir = programFolder('prometheus');
  await storeSeries(dir, [
    {
      name: 'container_cpu_usage_seconds_total',
      type: 'counter',
      series: containers.flatMap((each) =>
        jobs.map((job) => ({
          labels: { ...labelsOf(each, job), cpu: 'total' },
          samples: cpuOf(each, each.millicores ?? (() => 0)),
        })),
      ),
    },
    {
      name: 'container_memory_working_set_bytes',
      type: 'gauge',
      series: containers.flatMap((each) =>
        jobs.map((job) => ({ labels: labelsOf(each, job), samples: levelOf(each, each.bytes ?? (() => 0)) })),
      ),
    },
    {
      name: 'kube_pod_owner',
      type: 'gauge',
      series: owned.map(([namespace, pod, owner_kind, owner_name]) => told({ namespace, pod, owner_kind, owner_name })),
    },
    {
      name: 'kube_replicaset_owner',
      type: 'gauge',
      series: owned
        .filter(([, , kind]) => kind === 'ReplicaSet')
        .map(([namespace, , , replicaset]) =>
          told({ namespace, replicaset, owner_kind: 'Deployment', owner_name: replicaset.replace(/-[^-]+$/, '') }),
        ),
    },
    {
      name: 'kube_pod_container_resource_requests',
      type: 'gauge',
      series: [
        told({ namespace: 'shop', pod: web.pod, container: 'app', resource: 'cpu', unit: 'core' }, 0.5),
        told({ namespace: 'shop', pod: web.pod, container: 'app', resource: 'memory', unit: 'byte' }, 400 * MIB),
      ],
    },
  ]);
  // What is stored is of no day that is to be forgotten.
  prometheus = await startPrometheus({ dir, scrapeConfigs: [], args: ['--storage.tsdb.retention.time=90d'] });
});
afterAll(async () => {
  await prometheus?.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface Figures {
  readonly slack: number;
  readonly underProvisioned: number;
  readonly deficit: number;
  readonly changesPerDay: number;
}
interface Row extends Figures {
  readonly strategy: string;
  readonly ooms: number;
  readonly leastSlack: number;
  readonly pooled: Figures;
  readonly perSeries: readonly { readonly series: string }[];
}

async function backtest(...args: readonly string[]) {
  const { code, stdout, stderr } = await runCommand(['backtest', '-o', 'json', ...args]);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const { cpu, memory, problems } = JSON.parse(stdout);
  return {
    cpu: cpu[0].strategies as Row[],
    memory: (memory[0]?.strategies ?? []) as Row[],
    containers: (memory[0]?.perContainer ?? []) as { trace: string; leastSlack: number; strategies: Row[] }[],
    problems: problems as string[],
  };
}
const fromPrometheus = (...args: readonly string[]) =>
  backtest('--data', 'prometheus', '--prometheus', prometheus?.url ?? '', '--since', '4d', ...args);

describe('a history in a real Prometheus', () => {
  test('gives the figures of the same usage from a file, strategy by strategy', async () => {
    const recordings = join(dir, 'recordings');
    mkdirSync(recordings);
    const lines = Array.from({ length: (end - start) / STEP }, (_, index) => {
      const at = start + (index + 1) * STEP;
      return `${formatTime(at)},${millicoresAt(at) / 40}`;
    });
    writeFileSync(join(recordings, 'web.csv'), lines.join('\n'));
    const file = await backtest('--data', recordings, '--cores', '4', '--request', '500m');
    const stored = await fromPrometheus('--workload', 'deploy/shop/web');
    expect(stored.problems).toEqual([]);
    expect(stored.cpu.map(({ strategy }) => strategy)).toEqual(file.cpu.map(({ strategy }) => strategy));
    expect(stored.cpu.map(({ strategy }) => strategy)).toContain('as is');
    for (const [index, { strategy, pooled }] of stored.cpu.entries()) {
      const { pooled: expected } = file.cpu[index] ?? { pooled };
      for (const figure of ['slack', 'underProvisioned', 'deficit', 'changesPerDay'] as const)
        expect([strategy, figure, pooled[figure]]).toEqual([strategy, figure, expect.closeTo(expected[figure], 9)]);
    }
    // Figures of nothing would be alike, too.
    expect(stored.cpu[0]?.pooled.slack).toBeGreaterThan(0.1);
    expect(stored.cpu[0]?.pooled.underProvisioned).toBeGreaterThan(0);
  });

  test('knows every workload, each with its own usage alone, and says what it leaves out', async () => {
    const { cpu, containers: found, problems } = await fromPrometheus();
    const names = [
      'Deployment shop/api app',
      'Deployment shop/api-edge app',
      'Deployment shop/web app',
      'StatefulSet bank/db postgres',
    ];
    expect(cpu[0]?.perSeries.map(({ series }) => series)).toEqual(names);
    expect(found.map(({ trace }) => trace)).toEqual(names);
    expect(problems).toEqual([
      'Deployment shop/new app is left out: it covers less than two days',
      'the row "as is" leaves out 3 containers without a CPU request and 3 containers without a memory request',
    ]);
    const [api] = found;
    // Across a rollout and two restarts it always uses the same, so the least that kills nothing leaves nothing idle.
    expect(api?.leastSlack).toBeCloseTo(0, 6);
    expect((await fromPrometheus('-n', 'bank')).cpu[0]?.perSeries).toHaveLength(1);
  });

  test('tells memory as it was: what is requested now would have been too little for two peaks', async () => {
    const { memory } = await fromPrometheus('--workload', 'deploy/shop/web');
    const asIs = memory.find(({ strategy }) => strategy === 'as is');
    const steps = Array.from({ length: (end - start) / STEP }, (_, index) => start + (index + 1) * STEP);
    const judged = steps.filter((at) => at > start + STEP + DAY && bytesAt(at) > 400 * MIB);
    expect(judged.length).toBeGreaterThan(0);
    expect(asIs?.ooms).toBe(judged.length);
    expect(memory[0]).toMatchObject({ strategy: 'stowage' });
    expect(memory[0]?.ooms).toBeLessThanOrEqual(memory.find(({ strategy }) => strategy === 'vpa-like')?.ooms ?? 0);
  });

  test('a counter that begins anew is no usage', async () => {
    const { cpu } = await fromPrometheus('--workload', 'deploy/shop/api');
    // 400 millicores all the time: a reset taken for usage would be above any request.
    for (const { strategy, pooled } of cpu.slice(0, 2))
      expect([strategy, pooled.underProvisioned, pooled.deficit]).toEqual([strategy, 0, 0]);
  });
});
