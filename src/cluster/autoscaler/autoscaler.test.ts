import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { isReady } from '../pod-state.ts';
import { testPool as pool } from '../testing/node-pool.ts';
import {
  startVirtualCluster,
  testDeployment,
  testStatefulSet,
  type VirtualCluster,
} from '../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };
const CAPACITY = 'karpenter.sh/capacity-type';

const deploy = async (
  at: VirtualCluster,
  name: string,
  replicas: number,
  side?: string,
  cpu = '500m',
): Promise<void> => {
  const spec = side === undefined ? {} : { nodeSelector: { [CAPACITY]: side } };
  await at.cluster.api.create(resources.deployments, testDeployment(name, { replicas, cpu, spec }), IN_DEFAULT);
};
const scale = ({ cluster }: VirtualCluster, name: string, replicas: number) =>
  cluster.api.patch(resources.deployments, name, { type: 'merge', body: { spec: { replicas } } }, IN_DEFAULT);
const nodes = ({ cluster }: VirtualCluster) => [...cluster.caches.of(resources.nodes).all()];
const readyPods = (at: VirtualCluster): number => at.pods().filter(isReady).length;
const taintKeys = (at: VirtualCluster, name: string): string[] =>
  (at.cluster.caches.of(resources.nodes).get(name)?.spec?.taints ?? []).map(({ key }) => key);

describe('the autoscaler', () => {
  test('starts with the least number of nodes of each pool', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od', { minNodes: 3 }), pool('spot')] });
    await at.seconds(1);
    expect(at.cluster.autoscaler.nodesOf('od')).toHaveLength(3);
    expect(new Set(nodes(at).map((node) => node.metadata?.labels?.['topology.kubernetes.io/zone'])).size).toBe(3);
  });

  test('adds a spot node for a pod that asks for spot, and no more than are needed', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od', { minNodes: 1 }), pool('spot')] });
    await deploy(at, 'web', 7, 'spot');
    await at.seconds(20);
    expect(readyPods(at)).toBe(0);
    await at.seconds(60);
    expect(at.cluster.autoscaler.nodesOf('spot')).toHaveLength(1);
    expect(readyPods(at)).toBe(7);
    const spot = nodes(at).find((node) => node.metadata?.name?.startsWith('spot-'));
    expect(spot?.metadata?.labels).toMatchObject({
      [CAPACITY]: 'spot',
      'karpenter.sh/nodepool': 'spot',
      'node.kubernetes.io/instance-type': 'm5.xlarge',
    });
  });

  test('takes the cheapest pool that fits, and a larger one where that does not', async () => {
    const pools = [
      pool('od-large', { cpuMillis: 16_000, pricePerHour: 0.8 }),
      pool('od'),
      pool('od-dear', { pricePerHour: 0.5 }),
    ];
    await using at = await startVirtualCluster({ pools });
    await deploy(at, 'small', 2);
    await deploy(at, 'large', 1, undefined, '8');
    await at.seconds(120);
    expect(readyPods(at)).toBe(3);
    expect(at.cluster.autoscaler.nodesOf('od-dear')).toHaveLength(0);
    expect(at.cluster.autoscaler.nodesOf('od-large')).toHaveLength(1);
  });

  test('never has more nodes of a pool than allowed', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot', { maxNodes: 2 })] });
    await deploy(at, 'web', 50, 'spot');
    await at.seconds(600);
    expect(at.cluster.autoscaler.nodesOf('spot')).toHaveLength(2);
    expect(readyPods(at)).toBe(14);
  });

  test('leaves pods waiting that no pool can take', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od'), pool('spot')] });
    await deploy(at, 'huge', 1, undefined, '64');
    await at.seconds(600);
    expect(nodes(at)).toEqual([]);
    expect(readyPods(at)).toBe(0);
  });

  test('turns to the next pool when the cloud has no capacity, and comes back after three minutes', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot-a', { pricePerHour: 0.05 }), pool('spot-b')] });
    at.cluster.autoscaler.setPoolAvailability('spot-a', false);
    await deploy(at, 'web', 2, 'spot');
    await at.seconds(90);
    expect([at.cluster.autoscaler.nodesOf('spot-a').length, at.cluster.autoscaler.nodesOf('spot-b').length]).toEqual([
      0, 1,
    ]);
    at.cluster.autoscaler.setPoolAvailability('spot-a', true);
    await scale(at, 'web', 20);
    await at.seconds(60);
    // Refused a minute ago: not asked again yet.
    expect(at.cluster.autoscaler.nodesOf('spot-a')).toHaveLength(0);
    await at.seconds(180);
    await scale(at, 'web', 40);
    await at.seconds(90);
    expect(at.cluster.autoscaler.nodesOf('spot-a').length).toBeGreaterThan(0);
  });

  test('serves waiting pods by itself once capacity is back', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot')] });
    at.cluster.autoscaler.setPoolAvailability('spot', false);
    await deploy(at, 'web', 3, 'spot');
    await at.seconds(300);
    expect(readyPods(at)).toBe(0);
    at.cluster.autoscaler.setPoolAvailability('spot', true);
    await at.seconds(300);
    expect(readyPods(at)).toBe(3);
  });

  test('closes one zone only', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot', { zones: ['eu-1a', 'eu-1b'] })] });
    at.cluster.autoscaler.setPoolAvailability('spot', false, 'eu-1a');
    await deploy(at, 'web', 20, 'spot');
    await at.seconds(120);
    expect(new Set(nodes(at).map((node) => node.metadata?.labels?.['topology.kubernetes.io/zone']))).toEqual(
      new Set(['eu-1b']),
    );
  });

  test('removes empty nodes down to the least number', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od', { minNodes: 1 })] });
    await deploy(at, 'web', 28);
    await at.seconds(120);
    expect(at.cluster.autoscaler.nodesOf('od').length).toBeGreaterThanOrEqual(4);
    await scale(at, 'web', 0);
    await at.seconds(120);
    expect(nodes(at)).toHaveLength(1);
  });

  test('makes a node where the volume of a pod is', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od')] });
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const set = { volumeClaimTemplates: [claim] };
    await at.cluster.api.create(resources.statefulSets, testStatefulSet('db', { cpu: '3', set }), IN_DEFAULT);
    await at.seconds(180);
    const zoneOf = (): string | undefined => {
      const node = nodes(at).find((each) => each.metadata?.name === at.pods()[0]?.spec?.nodeName);
      return node?.metadata?.labels?.['topology.kubernetes.io/zone'];
    };
    const zone = zoneOf();
    expect(zone).toBeDefined();
    await at.cluster.api.patch(
      resources.statefulSets,
      'db',
      { type: 'merge', body: { spec: { replicas: 0 } } },
      IN_DEFAULT,
    );
    await at.seconds(300);
    expect(nodes(at)).toEqual([]);
    await at.cluster.api.patch(
      resources.statefulSets,
      'db',
      { type: 'merge', body: { spec: { replicas: 1 } } },
      IN_DEFAULT,
    );
    await at.seconds(180);
    expect(readyPods(at)).toBe(1);
    expect(zoneOf()).toBe(zone);
  });

  test('adds up what nodes cost', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od', { minNodes: 2, pricePerHour: 0.5 })] });
    await at.seconds(3 * 3600);
    expect(at.cluster.autoscaler.cost()).toBeCloseTo(3, 5);
  });
});

describe('an interruption', () => {
  test('gives two minutes of notice, moves the pods and takes the node', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot')] });
    await deploy(at, 'web', 4, 'spot');
    await at.seconds(120);
    const [name = ''] = at.cluster.autoscaler.nodesOf('spot');
    void at.cluster.autoscaler.interrupt(name);
    await at.seconds(1);
    expect(taintKeys(at, name)).toContain('karpenter.sh/disrupted');
    const events = (await at.cluster.api.list(resources.events, IN_DEFAULT)).items;
    expect(events.map(({ reason, regarding }) => [reason, regarding?.name])).toEqual([['SpotInterrupted', name]]);
    await at.seconds(100);
    expect(readyPods(at)).toBe(4);
    expect(at.pods().every((pod) => pod.spec?.nodeName !== name)).toBe(true);
    expect(at.cluster.kubelet.isAlive(name)).toBe(true);
    await at.seconds(40);
    expect(at.cluster.kubelet.isAlive(name)).toBe(false);
    expect(nodes(at).some((node) => node.metadata?.name === name)).toBe(false);
  });

  test('respects budgets while it can: at no time are more pods missing than allowed', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot')] });
    await deploy(at, 'web', 4, 'spot');
    const budget = {
      apiVersion: 'policy/v1' as const,
      kind: 'PodDisruptionBudget' as const,
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    };
    await at.cluster.api.create(resources.podDisruptionBudgets, budget, IN_DEFAULT);
    await at.seconds(120);
    const [name = ''] = at.cluster.autoscaler.nodesOf('spot');
    let fewest = 4;
    at.cluster.caches.of(resources.pods).onChange(() => {
      fewest = Math.min(fewest, readyPods(at));
    });
    fewest = 4;
    void at.cluster.autoscaler.interrupt(name);
    await at.seconds(119);
    expect(fewest).toBe(3);
  });

  test('that nobody reacts to loses the pods with the node', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot')], autoscaler: { onInterruption: 'ignore' } });
    await deploy(at, 'web', 2, 'spot');
    await at.seconds(120);
    const [name = ''] = at.cluster.autoscaler.nodesOf('spot');
    void at.cluster.autoscaler.interrupt(name);
    await at.seconds(119);
    expect(readyPods(at)).toBe(2);
    await at.seconds(240);
    expect(readyPods(at)).toBe(2);
    expect(at.pods().every((pod) => pod.spec?.nodeName !== name)).toBe(true);
  });

  test('of a node that is not there or not spot-made is nothing', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot')] });
    await at.cluster.autoscaler.interrupt('nowhere');
    expect(nodes(at)).toEqual([]);
  });

  test('comes by itself at about the rate of the pool', async () => {
    await using at = await startVirtualCluster({ pools: [pool('spot', { interruptionsPerHour: 0.5, minNodes: 5 })] });
    await deploy(at, 'web', 30, 'spot');
    await at.seconds(24 * 3600);
    const events = (await at.cluster.api.list(resources.events, IN_DEFAULT)).items.length;
    // 24 h x 5 nodes x 0.5: 60 expected, give or take three standard deviations.
    expect(events).toBeGreaterThan(35);
    expect(events).toBeLessThan(85);
  });

  test('as a storm hits a share of the spot nodes within its time, and no others', async () => {
    await using at = await startVirtualCluster({
      pools: [pool('od', { minNodes: 3 }), pool('spot', { minNodes: 10 })],
    });
    await at.seconds(60);
    const hit = at.cluster.autoscaler.storm({ share: 1, withinMillis: 60_000 });
    expect(hit).toHaveLength(10);
    await at.seconds(200);
    const left = nodes(at).map((node) => node.metadata?.name ?? '');
    expect(left.filter((name) => hit.includes(name))).toEqual([]);
    // Others take their place, as the pool never has fewer than ten for long.
    expect(at.cluster.autoscaler.nodesOf('spot')).toHaveLength(10);
    expect(left.filter((name) => name.startsWith('od-'))).toHaveLength(3);
  });
});

describe('a machine that dies without notice', () => {
  test('is gone a minute later, its pods with it, and is paid for until then', async () => {
    await using at = await startVirtualCluster({ pools: [pool('od', { minNodes: 1 }), pool('spot')] });
    await deploy(at, 'web', 2, 'spot');
    await at.seconds(120);
    const [name = ''] = at.cluster.autoscaler.nodesOf('spot');
    at.cluster.autoscaler.loseNode(name);
    at.cluster.autoscaler.loseNode('nowhere');
    expect(at.cluster.kubelet.isAlive(name)).toBe(false);
    expect(at.cluster.autoscaler.interruptions()).toBe(0);
    await at.seconds(600);
    expect(nodes(at).some((node) => node.metadata?.name === name)).toBe(false);
    expect(readyPods(at)).toBe(2);
    const hours = at.cluster.autoscaler.nodeHours();
    expect(hours.get('od')).toBeCloseTo(0.2, 2);
    expect((hours.get('spot') ?? 0) * 0.08 + (hours.get('od') ?? 0) * 0.2).toBeCloseTo(at.cluster.autoscaler.cost(), 9);
  });
});
