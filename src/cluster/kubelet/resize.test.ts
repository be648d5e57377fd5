import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { findCondition } from '../objects.ts';
import { barePod, conditions, container, IN_DEFAULT, STEADY, start, stored } from '../testing/bare-pod.ts';
import { startVirtualCluster, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';

describe('an in-place resize', () => {
  const resize = ({ cluster }: VirtualCluster, cpu: string, name = 'a') =>
    cluster.api.patch(
      resources.pods,
      name,
      {
        type: 'strategic',
        body: { spec: { containers: [{ name: 'app', resources: { requests: { cpu }, limits: { cpu: '4' } } }] } },
      },
      { ...IN_DEFAULT, subresource: 'resize' },
    );

  test('is done without a restart', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod());
    await at.seconds(5);
    await resize(at, '300m');
    await at.seconds(0.05);
    expect(conditions(at)).toContain('PodResizeInProgress=True');
    expect(container(at)).toMatchObject({
      allocatedResources: { cpu: '300m' },
      resources: { requests: { cpu: '200m' } },
    });
    await at.seconds(0.1);
    expect(container(at)).toMatchObject({
      restartCount: 0,
      resources: { requests: { cpu: '300m' }, limits: { cpu: '4' } },
    });
    expect(conditions(at).filter((text) => text.startsWith('PodResize'))).toEqual([]);
  });

  test('is deferred while the node is full and done when a neighbour leaves', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1, 1000), ...STEADY });
    await start(at, barePod());
    const neighbour = barePod();
    await start(at, {
      ...neighbour,
      metadata: { ...neighbour.metadata, name: 'b' },
      spec: { containers: [{ name: 'app', image: 'i', resources: { requests: { cpu: '600m' } } }] },
    });
    await at.seconds(5);
    await resize(at, '500m');
    await at.seconds(1);
    const pending = findCondition(stored(at)?.status?.conditions, 'PodResizePending');
    expect(pending).toMatchObject({
      status: 'True',
      reason: 'Deferred',
      message: "Node didn't have enough resource: cpu, requested: 500, used: 600, capacity: 1000",
    });
    await at.cluster.api.delete(resources.pods, 'b', IN_DEFAULT);
    await at.seconds(2);
    expect(container(at)?.resources?.requests?.['cpu']).toBe('500m');
    expect(findCondition(stored(at)?.status?.conditions, 'PodResizePending')).toBeUndefined();
  });

  test('of a container that waits in CrashLoopBackOff is done before it starts again', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod());
    await at.seconds(5);
    for (let ends = 0; ends < 2; ends++) {
      at.cluster.kubelet.endContainer('default/a', 'app', 1);
      await at.seconds(2);
    }
    expect(container(at)).toMatchObject({ restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } });
    await resize(at, '300m');
    await at.seconds(1);
    expect(container(at)).toMatchObject({
      allocatedResources: { cpu: '300m' },
      resources: { requests: { cpu: '300m' } },
    });
    await at.seconds(10);
    expect(container(at)).toMatchObject({ restartCount: 2, resources: { requests: { cpu: '300m' } } });
    expect(container(at)?.state?.running).toBeDefined();
    expect(conditions(at).filter((text) => text.startsWith('PodResize'))).toEqual([]);
  });

  test('restarts a container whose policy wants it', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const limits = { cpu: '400m' };
    await start(
      at,
      barePod(
        {},
        { containers: [{ name: 'app', image: 'i', resizePolicy, resources: { requests: { cpu: '200m' }, limits } }] },
      ),
    );
    await at.seconds(5);
    await resize(at, '300m');
    await at.seconds(2);
    expect(container(at)).toMatchObject({ restartCount: 1, resources: { requests: { cpu: '300m' } } });
  });
});
