import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { ContainerUsage } from '../load/container-usage.ts';
import { findCondition } from '../objects.ts';
import { barePod, container, IN_DEFAULT, STEADY, start, stored } from '../testing/bare-pod.ts';
import { startVirtualCluster, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';

const MEBIBYTE = 1024 ** 2;
type Resources = NonNullable<NonNullable<Pod['spec']>['containers'][number]['resources']>;

const options = (cpuMillis = 4000) => ({ nodes: testNodes(1, cpuMillis), ...STEADY });

function loaded(name: string, annotations: Record<string, string>, held: Resources = {}): Pod {
  const pod = barePod(
    Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`stowage.test/${key}`, value])),
    { containers: [{ name: 'app', image: 'app:1', resources: held }] },
  );
  return { ...pod, metadata: { ...pod.metadata, name } };
}

const usages = ({ cluster }: VirtualCluster): Record<string, ContainerUsage> =>
  Object.fromEntries(cluster.kubelet.usages('node-1').map((usage) => [usage.pod.metadata?.name ?? '', usage]));

/** What a pod got on average over `seconds`. */
async function averages(at: VirtualCluster, seconds: number): Promise<Record<string, number>> {
  const before = usages(at);
  const copied = Object.fromEntries(Object.entries(before).map(([name, { cpuSeconds }]) => [name, cpuSeconds]));
  await at.seconds(seconds);
  return Object.fromEntries(
    Object.entries(usages(at)).map(([name, { cpuSeconds }]) => [
      name,
      Math.round(((cpuSeconds - (copied[name] ?? 0)) / seconds) * 1000),
    ]),
  );
}

describe('CPU', () => {
  test('is used as wanted where nothing is in the way', async () => {
    await using at = await startVirtualCluster(options());
    await start(at, loaded('a', { cpu: 'square(200m,800m,60s)' }));
    await start(at, loaded('b', {}));
    await at.seconds(60);
    expect(await averages(at, 600)).toEqual({ a: 500, b: 1 });
    expect(usages(at)['a']).toMatchObject({ periods: 0, throttledPeriods: 0, waitingSeconds: 0 });
  });

  test('in use at last is told without moving a counter, and only where something has a load', async () => {
    await using at = await startVirtualCluster(options());
    const { kubelet } = at.cluster;
    await start(at, loaded('b', {}));
    await at.seconds(60);
    expect(kubelet.cpuInUse('node-1')).toBeUndefined();
    await start(at, loaded('a', { cpu: '300m' }));
    await at.seconds(60);
    const { a } = usages(at);
    const counted = a?.cpuSeconds;
    await at.seconds(1);
    expect([kubelet.cpuInUse('node-1'), a?.cpuSeconds]).toEqual([301, counted]);
    kubelet.loseNode('node-1');
    expect([kubelet.cpuInUse('node-1'), kubelet.cpuInUse('no-such')]).toEqual([undefined, undefined]);
  });

  test('stops at the limit, with throttled periods and pressure', async () => {
    await using at = await startVirtualCluster(options());
    await start(at, loaded('a', { cpu: '1' }, { requests: { cpu: '200m' }, limits: { cpu: '400m' } }));
    await at.seconds(2);
    expect(await averages(at, 10)).toEqual({ a: 400 });
    // As on a real node: 100 periods in ten seconds, all throttled, six of ten seconds.
    const { a } = usages(at);
    expect(a?.periods).toBeCloseTo(100, 6);
    expect(a?.throttledPeriods).toBeCloseTo(100, 6);
    expect(a?.throttledSeconds).toBeCloseTo(6, 6);
    expect(a?.waitingSeconds).toBeCloseTo(6, 6);
  });

  test('is shared by requests when there is too little', async () => {
    await using at = await startVirtualCluster(options(1200));
    await start(at, loaded('a', { cpu: '2' }, { requests: { cpu: '200m' } }));
    await start(at, loaded('b', { cpu: '2' }, { requests: { cpu: '400m' } }));
    await at.seconds(30);
    const got = await averages(at, 60);
    expect(got['a']).toBeCloseTo(400, -1);
    expect(got['b']).toBeCloseTo(800, -1);
  });

  test('goes to those without requests last', async () => {
    await using at = await startVirtualCluster(options(1000));
    await start(at, loaded('a', { cpu: '2' }));
    await start(at, loaded('b', { cpu: '900m' }, { requests: { cpu: '500m' } }));
    await at.seconds(30);
    const got = await averages(at, 60);
    expect(got['b']).toBe(900);
    expect(got['a']).toBe(100);
  });

  test('follows a resize', async () => {
    await using at = await startVirtualCluster(options());
    await start(at, loaded('a', { cpu: '1' }, { requests: { cpu: '200m' }, limits: { cpu: '400m' } }));
    await at.seconds(30);
    const body = {
      spec: { containers: [{ name: 'app', resources: { requests: { cpu: '200m' }, limits: { cpu: '700m' } } }] },
    };
    await at.cluster.api.patch(
      resources.pods,
      'a',
      { type: 'strategic', body },
      { ...IN_DEFAULT, subresource: 'resize' },
    );
    await at.seconds(30);
    expect(await averages(at, 60)).toEqual({ a: 700 });
  });

  test('follows a changed annotation; one that cannot be read means idling', async () => {
    await using at = await startVirtualCluster(options());
    await start(at, loaded('a', { cpu: '300m' }));
    const change = (value: string) =>
      at.cluster.api.patch(
        resources.pods,
        'a',
        { type: 'merge', body: { metadata: { annotations: { 'stowage.test/cpu': value } } } },
        IN_DEFAULT,
      );
    await at.seconds(30);
    await change('600m');
    await at.seconds(30);
    expect(await averages(at, 60)).toEqual({ a: 600 });
    await change('a lot');
    await at.seconds(30);
    expect(await averages(at, 60)).toEqual({ a: 1 });
  });

  test('is told by container, sidecars included', async () => {
    await using at = await startVirtualCluster(options());
    const pod = loaded('a', { cpu: '100m', 'cpu.two': '200m', 'cpu.side': '50m' });
    await start(at, {
      ...pod,
      spec: {
        containers: [
          { name: 'one', image: 'i' },
          { name: 'two', image: 'i' },
          { name: 'three', image: 'i' },
        ],
        initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
      },
    });
    await at.seconds(30);
    const used = at.cluster.kubelet.usages('node-1').map((usage) => [usage.container.name, usage.usedMillicores]);
    expect(Object.fromEntries(used)).toEqual({ one: 100, two: 200, three: 1, side: 50 });
  });

  test('is no longer used by pods that are gone or on lost nodes', async () => {
    await using at = await startVirtualCluster(options());
    await start(at, loaded('a', { cpu: '100m' }));
    await start(at, loaded('b', { cpu: '100m' }));
    await at.seconds(30);
    await at.cluster.api.delete(resources.pods, 'a', { ...IN_DEFAULT, gracePeriodSeconds: 0 });
    await at.seconds(5);
    expect(Object.keys(usages(at))).toEqual(['b']);
    at.cluster.kubelet.loseNode('node-1');
    expect(usages(at)).toEqual({});
    expect(at.cluster.kubelet.usages('none')).toEqual([]);
  });
});

describe('memory', () => {
  test('that leaks ends the container at its limit, again and again, ever later', async () => {
    await using at = await startVirtualCluster(options());
    const held = { requests: { memory: '64Mi' }, limits: { memory: '100Mi' } };
    await start(at, loaded('a', { memory: 'leak(50Mi, 3600Mi)' }, held));
    await at.seconds(30);
    expect(usages(at)['a']?.memoryBytes).toBeCloseTo((50 + 28) * MEBIBYTE, -4);
    await at.seconds(40);
    expect(container(at)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
    });
    expect(usages(at)['a']?.memoryBytes).toBeLessThan(80 * MEBIBYTE);
    await at.seconds(52);
    expect(container(at)?.state?.waiting?.reason).toBe('CrashLoopBackOff');
    await at.seconds(3600);
    expect(container(at)?.restartCount).toBeGreaterThan(5);
  });

  test('in use refuses a lower limit until it is given back', async () => {
    await using at = await startVirtualCluster(options());
    const held = { requests: { memory: '64Mi' }, limits: { memory: '256Mi' } };
    await start(at, loaded('a', { memory: 'step(150Mi, 50Mi, 10m)' }, held));
    await at.seconds(60);
    const body = { spec: { containers: [{ name: 'app', resources: { limits: { memory: '100Mi' } } }] } };
    await at.cluster.api.patch(
      resources.pods,
      'a',
      { type: 'strategic', body },
      { ...IN_DEFAULT, subresource: 'resize' },
    );
    await at.seconds(5);
    expect(findCondition(stored(at)?.status?.conditions, 'PodResizeInProgress')).toMatchObject({
      reason: 'Error',
      message:
        'cannot decrease memory limits: [attempting to set container "app" memory limit (104857600) below current usage (157286400)]',
    });
    await at.seconds(600);
    expect(container(at)).toMatchObject({ restartCount: 0, resources: { limits: { memory: '100Mi' } } });
  });
});

test('pods without a load cost no timer', async () => {
  await using at = await startVirtualCluster(options());
  await start(at, loaded('a', {}));
  await at.seconds(10);
  const idle = at.clock.pendingTimers();
  await start(at, loaded('b', { cpu: '1' }));
  await at.seconds(10);
  expect(at.clock.pendingTimers()).toBe(idle + 1);
  await at.cluster.api.delete(resources.pods, 'b', { ...IN_DEFAULT, gracePeriodSeconds: 0 });
  await at.seconds(20);
  expect(at.clock.pendingTimers()).toBe(idle);
});
