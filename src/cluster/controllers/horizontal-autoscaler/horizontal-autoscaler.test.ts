import { describe, expect, test } from 'vitest';
import type { HorizontalPodAutoscaler } from '../../../api/core.ts';
import { resources } from '../../../api/resources.ts';
import { IN_DEFAULT, STEADY } from '../../testing/bare-pod.ts';
import { startVirtualCluster, testDeployment, testNodes, type VirtualCluster } from '../../testing/virtual-cluster.ts';

const options = { nodes: testNodes(2), ...STEADY, metricsServer: {} };
type Spec = NonNullable<HorizontalPodAutoscaler['spec']>;

const autoscaler = (more: Partial<Spec> = {}, averageUtilization = 50): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 5,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
    ...more,
  },
});
const status = async ({ cluster }: VirtualCluster) =>
  (await cluster.api.get(resources.horizontalPodAutoscalers, 'web', IN_DEFAULT)).status;
const said = async (at: VirtualCluster) =>
  (await status(at))?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
const web = (cpu: string, replicas = 1) =>
  testDeployment('web', { replicas, cpu: '100m', annotations: { 'stowage.test/cpu': cpu } });

describe('a HorizontalPodAutoscaler', () => {
  test('adds replicas until the load per pod is what it should be, and tells it as the real one', async () => {
    await using at = await startVirtualCluster(options);
    await at.cluster.apply([web('150m'), autoscaler({ maxReplicas: 3 })]);
    await at.seconds(10);
    expect(await said(at)).toEqual([
      'AbleToScale=True SucceededGetScale',
      'ScalingActive=False FailedGetResourceMetric',
    ]);
    expect((await status(at))?.conditions?.[1]?.message).toBe(
      'the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
    );
    await at.seconds(170);
    expect(at.deployment('web').spec?.replicas).toBe(3);
    expect(await status(at)).toMatchObject({
      observedGeneration: 1,
      currentReplicas: 3,
      desiredReplicas: 3,
      lastScaleTime: expect.any(String),
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 150, averageValue: '150m' } } },
      ],
    });
    // As a real controller-manager 1.37.2 says it at its most replicas.
    expect(await said(at)).toEqual([
      'AbleToScale=True ReadyForNewScale',
      'ScalingActive=True ValidMetricFound',
      'ScalingLimited=True TooManyReplicas',
      'ScaledToZero=False NotScaledToZero',
    ]);
  });

  test('takes replicas away five minutes after the load has gone', async () => {
    await using at = await startVirtualCluster(options);
    await at.cluster.apply([web('step(100m, 5m, 10m)', 2), autoscaler()]);
    await at.seconds(500);
    expect(at.deployment('web').spec?.replicas).toBe(5);
    await at.seconds(330);
    expect(at.deployment('web').spec?.replicas).toBe(5);
    expect((await said(at))?.[0]).toBe('AbleToScale=True ScaleDownStabilized');
    await at.seconds(200);
    expect(at.deployment('web').spec?.replicas).toBe(1);
  });

  test('leaves a workload scaled to nothing alone', async () => {
    await using at = await startVirtualCluster(options);
    await at.cluster.apply([web('1', 0), autoscaler()]);
    await at.seconds(60);
    expect(at.deployment('web').spec?.replicas).toBe(0);
    expect(await said(at)).toEqual(['AbleToScale=True SucceededGetScale', 'ScalingActive=False ScalingDisabled']);
  });

  test('says when its target is not there', async () => {
    await using at = await startVirtualCluster(options);
    await at.cluster.apply([autoscaler()]);
    await at.seconds(5);
    expect(await said(at)).toEqual(['AbleToScale=False FailedGetScale']);
  });

  test('writes nothing while nothing changes', async () => {
    await using at = await startVirtualCluster(options);
    await at.cluster.apply([web('50m', 2), autoscaler()]);
    await at.seconds(600);
    const before = (await at.cluster.api.get(resources.horizontalPodAutoscalers, 'web', IN_DEFAULT)).metadata;
    await at.seconds(600);
    const after = (await at.cluster.api.get(resources.horizontalPodAutoscalers, 'web', IN_DEFAULT)).metadata;
    expect(after?.resourceVersion).toBe(before?.resourceVersion);
  });

  test('goes on without figures as before', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await at.cluster.apply([web('1', 2), autoscaler()]);
    await at.seconds(120);
    expect(at.deployment('web').spec?.replicas).toBe(2);
  });
});
