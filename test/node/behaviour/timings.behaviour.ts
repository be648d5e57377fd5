/** How long things take. The real kubelet's times are printed and written to a file; the embedded one's have to lie within those that were measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import type { Pod } from '../../../src/api/core.ts';
import { resources } from '../../../src/api/resources.ts';
import { isReady } from '../pod-access.ts';
import { describeOnKubelets, type Stage } from './describe-on-kubelets.ts';
import { amounts, resizeConditions, statusOf } from './pods.ts';

interface Timing {
  readonly n: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}
type Timings = Record<string, Timing>;

const measuredFile = join(import.meta.dirname, 'measured.json');
/** For the table. Where nobody asks for it, a real kubelet only has to show each of the times. */
const ROUNDS = inject('realNodes') === undefined || process.env['STOWAGE_TIMINGS'] !== undefined ? 6 : 2;

function summarize(samples: readonly number[]): Timing {
  const sorted = samples.map(Math.round).sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  return { n: sorted.length, median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) };
}

interface Seen {
  readonly atMillis: number;
  /** Undefined once it is deleted. */
  readonly pod: Pod | undefined;
}

/** Everything a watch tells about the pods of the stage's namespace while `work` goes on. */
async function watched(stage: Stage, work: (seen: readonly Seen[]) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const seen: Seen[] = [];
  const watching = (async () => {
    const options = { namespace: stage.current, sendInitialEvents: true, signal: stop.signal };
    for await (const event of stage.api.watch<Pod>(resources.pods, options)) {
      if (event.type === 'BOOKMARK' || event.type === 'ERROR') continue;
      seen.push({ atMillis: stage.now(), pod: event.type === 'DELETED' ? undefined : event.object });
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await work(seen);
  stop.abort();
  await watching;
}

/** When the first sighting after `fromMillis` that fits was made, relative to it. */
function first(
  stage: Stage,
  seen: readonly Seen[],
  fromMillis: number,
  fits: (pod: Pod | undefined) => boolean,
): Promise<number> {
  return stage.eventually(() => {
    const found = seen.find(({ atMillis, pod }) => atMillis >= fromMillis && fits(pod));
    if (found === undefined) throw new Error('not seen yet');
    return found.atMillis - fromMillis;
  });
}

const isBound = (pod: Pod | undefined): boolean => pod?.spec?.nodeName !== undefined;
const runs = (pod: Pod | undefined): boolean =>
  pod?.status?.containerStatuses?.every(({ state }) => state?.running !== undefined) === true;

// One after the other, and alone: what is measured is the kubelet, not what it does at the same time.
describeOnKubelets.inOrder('times', (test) => {
  const samples = new Map<string, number[]>();
  const record = (name: string, millis: number): void => void samples.set(name, [...(samples.get(name) ?? []), millis]);
  const start = amounts([100, 200], [32, 64]);
  // A grace period long enough that nothing is killed for it.
  const one = (name: string) => ({ name, graceSeconds: 30, containers: [{ name: 'main', resources: start }] });

  test('of starting and ending a pod', async (stage) => {
    const { api, create, now, current } = stage;
    await watched(stage, async (seen) => {
      for (let round = 0; round < ROUNDS; round++) {
        const name = `pod-${round}`;
        const is = (pod: Pod | undefined): boolean => pod?.metadata?.name === name;
        const created = now();
        await create(one(name));
        const bound = await first(stage, seen, created, (pod) => is(pod) && isBound(pod));
        const running = await first(stage, seen, created, (pod) => is(pod) && runs(pod));
        record('bound to running', running - bound);
        const ready = await first(stage, seen, created, (pod) => is(pod) && pod !== undefined && isReady(pod));
        record('running to ready (probe each second)', ready - running);
        const deleted = now();
        await api.delete(resources.pods, name, { namespace: current });
        record('deleted to gone', await first(stage, seen, deleted, (pod) => pod === undefined));
      }
    });
  });

  test('of resizing a pod', async (stage) => {
    const { run, resize, now } = stage;
    await run(one('a'));
    await watched(stage, async (seen) => {
      for (let round = 0; round < 2 * ROUNDS; round++) {
        const next = round % 2 === 0 ? amounts([200, 400], [32, 64]) : start;
        const asked = now();
        await resize('a', { main: next });
        const allocated = (pod: Pod | undefined): boolean =>
          pod !== undefined && statusOf(pod, 'main').allocatedResources?.['cpu'] === next.requests?.['cpu'];
        const isDone = (pod: Pod | undefined): boolean =>
          pod !== undefined &&
          allocated(pod) &&
          statusOf(pod, 'main').resources?.limits?.['cpu'] === next.limits?.['cpu'] &&
          resizeConditions(pod).length === 0;
        record('resize asked to allocated', await first(stage, seen, asked, allocated));
        record('resize asked to done', await first(stage, seen, asked, isDone));
      }
    });
  });

  test('of the restart of a container that failed', async (stage) => {
    const { run, exit, now } = stage;
    await watched(stage, async (seen) => {
      for (let round = 0; round < ROUNDS / 2; round++) {
        const pod = await run(one(`pod-${round}`));
        const asked = now();
        await exit(pod, 'main', 1);
        const isBack = (each: Pod | undefined): boolean =>
          each?.metadata?.uid === pod.metadata?.uid &&
          each !== undefined &&
          runs(each) &&
          statusOf(each, 'main').restartCount === 1;
        record('failed to running again', await first(stage, seen, asked, isBack));
      }
    });
  });

  test('are those of the real kubelet', async (stage) => {
    const timings: Timings = Object.fromEntries([...samples].map(([name, each]) => [name, summarize(each)]));
    if (stage.name === 'real') {
      const target = process.env['STOWAGE_TIMINGS'];
      if (target !== undefined) writeFileSync(target, `${JSON.stringify(timings, null, 2)}\n`);
      console.table(timings);
      expect(Object.keys(timings)).toHaveLength(6);
      return;
    }
    const measured: Timings = JSON.parse(readFileSync(measuredFile, 'utf8'));
    expect(Object.keys(timings).sort()).toEqual(Object.keys(measured).sort());
    for (const [name, { median }] of Object.entries(timings)) {
      expect(median, name).toBeGreaterThanOrEqual(measured[name]?.min ?? Number.POSITIVE_INFINITY);
      expect(median, name).toBeLessThanOrEqual(measured[name]?.max ?? Number.NEGATIVE_INFINITY);
    }
  });
});
