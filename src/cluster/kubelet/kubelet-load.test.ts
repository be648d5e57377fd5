import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import type { Clock } from '../../lib/clock.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createKubeletLoad } from './kubelet-load.ts';
import type { ContainerRuntime } from './pod-status.ts';
import type { PodWorker } from './pod-worker.ts';

/** A node for as long as its only container, which uses one core. */
function setUp() {
  const virtual = createVirtualClock(0);
  let looks = Number.NEGATIVE_INFINITY;
  let aheadMillis = 0;
  const clock: Clock = {
    now() {
      if (++looks === 0) aheadMillis += 300;
      return virtual.now() + aheadMillis;
    },
    setTimer: virtual.setTimer,
  };
  const container: ContainerRuntime = {
    name: 'app',
    image: 'app:1',
    state: { kind: 'running', startedAtMillis: 0 },
    lastEnd: undefined,
    restarts: 0,
    isReady: true,
    resources: {},
    allocated: undefined,
    memoryBytes: 0,
  };
  const pod: Pod = {
    metadata: { name: 'web', annotations: { 'stowage.test/cpu': '1' } },
    spec: { containers: [{ name: 'app', image: 'app:1' }] },
  };
  const worker = { pod: () => pod, containers: [container], useMemory: () => {} } as unknown as PodWorker;
  const machine = {
    isAlive: true,
    sinceMillis: 0,
    allocatable: new Map([['cpu', 4000]]),
    workers: new Map([['web', worker]]),
  };
  const load = createKubeletLoad({ clock, machines: () => [machine], onInvalid: () => {} });
  return {
    virtual,
    /** The process stands still for 300 ms at its n-th look at the clock from now on. */
    standStillAt(n: number) {
      looks = -n;
    },
    set(byMillis: number) {
      aheadMillis += byMillis;
    },
    look() {
      const { at, containers, cpuSeconds } = load.usage(machine);
      return { at, container: containers[0]?.cpuSeconds, node: cpuSeconds };
    },
  };
}

describe('what a node has used', () => {
  test.each([1, 2, 3])('is told as of the time told with it, where the process stands still at look %d', async (n) => {
    const { virtual, look, standStillAt } = setUp();
    await virtual.advance(1000);
    standStillAt(n);
    const { at, container, node } = look();
    expect(container).toBeCloseTo(at / 1000);
    // The system's part of it.
    expect(node).toBeCloseTo((1.02 * at) / 1000);
  });

  test('by a container never falls, and grows on, where the clock is set back', async () => {
    const { virtual, look, set } = setUp();
    await virtual.advance(10_000);
    expect(look().container).toBeCloseTo(10);
    set(-5000);
    expect(look().container).toBeCloseTo(10);
    await virtual.advance(2000);
    expect(look().container).toBeCloseTo(12);
  });
});
