/** What a plan makes of what is measured, without a tree of files. */
import { describe, expect, test } from 'vitest';
import type { AllocationPod } from '../decide/allocation/allocation-pod.ts';
import { readMarks } from '../decide/allocation/marks.ts';
import { T0, testPodOf, testRules } from '../decide/allocation/testing/pods.ts';
import type { CpuWindow } from './cgroup/counter-ring.ts';
import type { GroupUse } from './followed-group.ts';
import { planTick, type Tick } from './planner.ts';

interface Figures {
  readonly usage: number;
  readonly throttled?: number;
  readonly pressure?: number;
}

function useOf({ usage, throttled, pressure }: Figures): GroupUse {
  const window: CpuWindow = {
    spanMillis: 2000,
    usageMillicores: usage,
    periods: 20,
    throttledRatio: throttled,
    throttledMillis: 0,
    pressureRatio: pressure,
  };
  return { window: () => window, settings: () => undefined, lastMillis: () => 0 };
}

/** One tick of a node with this pod alone. */
function tickOf(pod: AllocationPod, whole: Figures, containers: Readonly<Record<string, Figures>>): Tick {
  const use = {
    ...useOf(whole),
    container: (name: string) => useOf(containers[name] ?? { usage: 0 }),
  };
  return planTick({
    node: { name: 'n', allocatable: 4000, capacity: 4200, conditions: [{ type: 'Ready', status: 'True', since: 0 }] },
    pods: [{ pod, marks: readMarks(pod.marks), tracked: { groupUid: pod.uid, label: 'shop/a', containers: [] } }],
    stores: { allocation: () => undefined, namespaceManaged: () => undefined },
    sampler: { pod: () => use, node: () => ({ total: undefined, pods: undefined, system: undefined }) },
    metricOf: () => undefined,
    rules: testRules,
    tickMillis: 2000,
    samplingMillis: 1000,
    memory: new Map(),
    unenforced: new Map(),
    time: { steady: T0, wall: T0, monotonic: 0 },
  });
}

describe('a sidecar that its own limit throttles', () => {
  const app = { usage: 60 };
  const sidecar = { usage: 90, throttled: 0.9 };

  test('is told, and makes its pod want nothing: no share of the pod would raise that limit', () => {
    const pod = testPodOf([[150], [50, 100]]);
    const { plan, writes } = tickOf(pod, { usage: 150, pressure: 0.8 }, { c0: app, c1: sidecar });
    expect(plan.pods).toMatchObject([{ want: 275, demand: { cause: 'usage', shortage: 0 }, isForced: false }]);
    expect(writes[0]?.object.spec?.decision).toMatchObject({ cpuUsage: '150m', throttledRatio: 0.9 });
  });

  test('and does not hide that the container beside it waits for CPU', () => {
    const pod = testPodOf([[150], [50, 100]]);
    const { plan } = tickOf(pod, { usage: 195, pressure: 0.9 }, { c0: { usage: 105, pressure: 0.4 }, c1: sidecar });
    expect(plan.pods).toMatchObject([{ demand: { cause: 'pressure', shortage: 0.25 } }]);
  });

  test('nor where all containers have limits, and the pod has room below theirs', () => {
    const pod = testPodOf([
      [400, 2000],
      [50, 100],
    ]);
    const { plan } = tickOf(pod, { usage: 150, throttled: 0 }, { c0: { ...app, throttled: 0 }, c1: sidecar });
    expect(plan.pods).toMatchObject([{ want: 275, demand: { cause: 'usage' } }]);
  });

  test('but a ceiling of ours is another matter', () => {
    const text = '{"c0":{"requests":{"cpu":"400m"}},"c1":{"requests":{"cpu":"50m"},"limits":{"cpu":"100m"}}}';
    const pod = testPodOf(
      [
        [400, 440],
        [50, 100],
      ],
      { marks: { 'mbcas.io/original-resources': text } },
    );
    const throttled = { usage: 430, throttled: 0.9 };
    const { plan } = tickOf(pod, { usage: 450, throttled: 0 }, { c0: throttled, c1: { usage: 20, throttled: 0 } });
    expect(plan.pods).toMatchObject([{ demand: { cause: 'throttled', shortage: 0.9 } }]);
  });
});
