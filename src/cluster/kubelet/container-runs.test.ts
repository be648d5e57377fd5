import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { containerToStart } from '../testing/container-runtime.ts';
import type { Behaviour } from './behaviour.ts';
import { createContainerRuns } from './container-runs.ts';
import type { ContainerRuntime } from './pod-status.ts';

const QUIET: Behaviour = {
  startMillis: 0,
  readyMillis: 0,
  unreadyAfterMillis: 'never',
  unreadyForMillis: 'never',
  crashAfterMillis: 'never',
  completeAfterMillis: 'never',
  stopMillis: 0,
  hasImageError: false,
};

/** A container that runs since 0. */
function setUp(spec: Partial<NonNullable<Pod['spec']>> = {}, behaviour: Partial<Behaviour> = {}) {
  const clock = createVirtualClock(0);
  const pod: Pod = { metadata: { namespace: 'shop', name: 'a', uid: 'u' }, spec: { containers: [], ...spec } };
  const container = containerToStart();
  const seen = { isOver: false, reports: 0 };
  const runs = createContainerRuns({
    clock,
    behaviour: { ...QUIET, ...behaviour },
    after: clock.setTimer,
    report: () => void seen.reports++,
    pod: () => pod,
    isOver: () => seen.isOver,
  });
  runs.start(container);
  const at = async (millis: number): Promise<ContainerRuntime> => {
    await clock.advance(millis - clock.now());
    return container;
  };
  return { runs, container, seen, at };
}

describe('a container whose process ends', () => {
  test('has ended until that is noticed, and then begins anew', async () => {
    const { runs, container, seen, at } = setUp();
    await at(5000);
    runs.end(container, 1, 'Error');
    const ended = { exitCode: 1, reason: 'Error', startedAtMillis: 0, finishedAtMillis: 5000, run: 0 };
    expect(await at(6119)).toMatchObject({ state: { kind: 'terminated', ...ended }, isReady: false, restarts: 0 });
    expect(await at(6120)).toMatchObject({
      state: { kind: 'running', startedAtMillis: 6120 },
      isReady: true,
      lastEnd: ended,
      restarts: 1,
    });
    expect(seen.reports).toBe(2);
  });

  test('waits in CrashLoopBackOff from the second time on', async () => {
    const { runs, container, at } = setUp();
    runs.end(container, 1, 'Error');
    await at(2000);
    runs.end(container, 137, 'OOMKilled');
    const message = 'back-off 10s restarting failed container=app pod=a_shop(u)';
    expect(await at(11_999)).toMatchObject({
      state: { kind: 'waiting', reason: 'CrashLoopBackOff', message },
      lastEnd: { reason: 'OOMKilled', run: 1 },
      restarts: 1,
    });
    expect(await at(12_000)).toMatchObject({ state: { kind: 'running' }, restarts: 2 });
  });

  test.each([
    ['Always', 0, 1],
    ['Always', 1, 1],
    ['OnFailure', 0, 0],
    ['OnFailure', 1, 1],
    ['Never', 1, 0],
  ])('by the policy %s after exit code %i begins anew %i times', async (restartPolicy, exitCode, restarts) => {
    const { runs, container, at } = setUp({ restartPolicy });
    runs.end(container, exitCode, 'Error');
    expect(await at(60_000)).toMatchObject({ restarts });
  });

  test('stays so where its pod is over, by then or before it would begin', async () => {
    const before = setUp();
    before.seen.isOver = true;
    before.runs.end(before.container, 1, 'Error');
    expect(await before.at(60_000)).toMatchObject({ state: { kind: 'terminated' }, restarts: 0 });
    const meanwhile = setUp();
    meanwhile.runs.end(meanwhile.container, 1, 'Error');
    meanwhile.seen.isOver = true;
    expect(await meanwhile.at(60_000)).toMatchObject({ state: { kind: 'terminated' }, restarts: 0 });
  });

  test('ends once', async () => {
    const { runs, container, seen, at } = setUp();
    runs.end(container, 1, 'Error');
    runs.end(container, 137, 'OOMKilled');
    runs.restart(container);
    expect(container).toMatchObject({ state: { kind: 'terminated', exitCode: 1 }, restarts: 0 });
    expect(seen.reports).toBe(1);
    expect(await at(60_000)).toMatchObject({ restarts: 1 });
  });
});

describe('a container that the kubelet restarts', () => {
  test('begins anew at once, however often it did before', async () => {
    const { runs, container, at } = setUp();
    for (const millis of [1000, 2000, 3000]) {
      await at(millis);
      runs.restart(container);
    }
    expect(container).toMatchObject({
      state: { kind: 'running', startedAtMillis: 3000 },
      lastEnd: { exitCode: 0, reason: 'Completed', startedAtMillis: 2000, finishedAtMillis: 3000, run: 2 },
      restarts: 3,
    });
  });

  test('is no more held to the script of the run before', async () => {
    const { runs, container, at } = setUp({}, { crashAfterMillis: 10_000 });
    await at(5000);
    runs.restart(container);
    expect(await at(14_999)).toMatchObject({ state: { kind: 'running' }, restarts: 1 });
    expect(await at(15_000)).toMatchObject({ state: { kind: 'waiting' }, lastEnd: { exitCode: 1, run: 1 } });
  });
});
