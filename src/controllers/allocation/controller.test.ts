import { expect, onTestFinished, test } from 'vitest';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { SizingChange } from '../../observe/sizing/live-sizing-view.ts';
import { type AllocationControllerOptions, createAllocationController } from './controller.ts';

/** A workload with a pod on each of two nodes. */
function setUp() {
  const clock = createVirtualClock(0);
  let workload = aSizedWorkload();
  const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
  const [one, other] = ['n1', 'n2'].map((nodeName) => aSizedPod(owner, `web-${nodeName}`, {}, { nodeName }));
  const passes: string[] = [];
  const tell: {
    change?: (change: SizingChange) => void;
    pod?: (before: typeof one, after: typeof one) => void;
  } = {};
  const options = {
    view: {
      freshness: () => ({ synced: true, stale: [] }),
      nodes: () => [],
      workload: () => workload,
      podsOf: () => [one, other].map((pod) => ({ pod })),
      onChange(listener: (change: SizingChange) => void) {
        tell.change = listener;
        return () => {};
      },
      onPod(listener: (before: typeof one, after: typeof one) => void) {
        tell.pod = listener;
        return () => {};
      },
    },
    stores: { isFresh: () => true, all: () => [], allIn: () => [], onChange: () => () => {} },
    agents: { begin: () => {}, review: () => [] },
    pass: {
      async over(name: string) {
        passes.push(name);
        return { pods: [], againAfterMillis: undefined };
      },
    },
    actuator: { review: async () => {} },
    onPodGone: () => {},
    metrics: createMetrics(),
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    workers: 1,
  } as unknown as AllocationControllerOptions;
  const stopper = new AbortController();
  const running = createAllocationController(options).run(stopper.signal);
  onTestFinished(async () => {
    stopper.abort();
    await clock.advance(0);
    await running;
  });
  /** Nodes that were passed over since, within the time in which bounds are looked at. */
  const passed = async () => {
    await clock.advance(3000);
    return passes.splice(0).sort();
  };
  return {
    passed,
    changeWorkload(replicas: number) {
      workload = aSizedWorkload({ replicas });
      tell.change?.({ kind: 'workload', key: workloadKey(workload) });
    },
    changePod() {
      tell.pod?.(one, one);
      // As the view tells it.
      tell.change?.({ kind: 'workload', key: workloadKey(workload) });
    },
  };
}

test('a workload that changes has the nodes of all its pods looked at, a pod that changes only its own', async () => {
  const { passed, changeWorkload, changePod } = setUp();
  changeWorkload(2);
  expect(await passed()).toEqual(['n1', 'n2']);
  changePod();
  changePod();
  expect(await passed()).toEqual(['n1']);
  changeWorkload(3);
  expect(await passed()).toEqual(['n1', 'n2']);
});
