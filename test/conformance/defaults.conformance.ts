import { expect, test } from 'vitest';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { NO_SCHEDULER, pod, workload, workloadSpec } from './objects.ts';

/** The pod spec that a test's pod spec becomes inside a template; a pod itself gets more from admission. */
const DEFAULTED_TEMPLATE = {
  containers: [
    {
      name: 'main',
      image: 'example.test/app:1',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: NO_SCHEDULER,
};

describeOnBackends('defaults', (cluster) => {
  test('a pod gets its defaults, tolerations and QoS class', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const { status, body } = await post(pods, pod('a'));
    expect(status).toBe(201);
    expect(body['metadata']).toMatchObject({ generation: 1 });
    const tolerate = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
    expect(body['spec']).toEqual({
      ...DEFAULTED_TEMPLATE,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      tolerations: [tolerate('node.kubernetes.io/not-ready'), tolerate('node.kubernetes.io/unreachable')],
    });
    expect(body['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  test('on the network of the machine the ports of a pod are ports of the machine, not those of a template', async () => {
    const { post, namespace } = cluster();
    const { pods, replicaSets } = await namespace();
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }];
    const containers = [{ name: 'main', image: 'example.test/app:1', ports }];
    const spec = { schedulerName: NO_SCHEDULER, hostNetwork: true, containers };
    const { body } = await post(pods, { metadata: { name: 'a' }, spec });
    expect(at(body, 'spec', 'containers', 0, 'ports')).toMatchObject([{ hostPort: 80 }, { hostPort: 81 }]);
    const template = { metadata: { labels: { app: 'a' } }, spec };
    const made = await post(replicaSets, { metadata: { name: 'a' }, spec: { ...workloadSpec('a', 0), template } });
    expect(at(made.body, 'spec', 'template', 'spec', 'containers', 0, 'ports', 0)).not.toHaveProperty('hostPort');
  });

  test('an image without a tag, or with latest, is always pulled', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const images = ['a', 'a:latest', 'a:1', 'host.test:5000/a'];
    const { body } = await post(pods, {
      metadata: { name: 'a' },
      spec: { schedulerName: NO_SCHEDULER, containers: images.map((image, index) => ({ name: `c${index}`, image })) },
    });
    const policies = images.map((_, index) => at(body, 'spec', 'containers', index, 'imagePullPolicy'));
    expect(policies).toEqual(['Always', 'Always', 'IfNotPresent', 'Always']);
  });

  test.each([
    ['nothing', {}, {}, 'BestEffort'],
    [
      'limits only',
      { limits: { cpu: '1', memory: '1Gi' } },
      { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
      'Guaranteed',
    ],
    ['one limit', { limits: { cpu: '1' } }, { limits: { cpu: '1' }, requests: { cpu: '1' } }, 'Burstable'],
    [
      'requests below limits',
      { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } },
      undefined,
      'Burstable',
    ],
    ['requests only', { requests: { memory: '1Gi' } }, undefined, 'Burstable'],
    [
      'the same amounts written otherwise',
      { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { cpu: '1', memory: '1Gi' } },
      { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
      'Guaranteed',
    ],
  ])('resources with %s: requests follow limits, and the QoS class both', async (_, given, stored, qosClass) => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const { body } = await post(pods, pod('a', { resources: given }));
    expect(at(body, 'spec', 'containers', 0, 'resources')).toEqual(stored ?? given);
    expect(at(body, 'status', 'qosClass')).toBe(qosClass);
  });

  test('quantities are stored in their canonical form', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const requests = { cpu: '0.5', memory: '1500Ki', 'ephemeral-storage': '1e3' };
    const { body } = await post(pods, pod('a', { resources: { requests } }));
    expect(at(body, 'spec', 'containers', 0, 'resources', 'requests')).toEqual({
      cpu: '500m',
      memory: '1500Ki',
      'ephemeral-storage': '1e3',
    });
  });

  test('a Deployment gets one replica, a rolling update of a quarter, and its template defaults', async () => {
    const { post, namespace } = cluster();
    const { deployments } = await namespace();
    const { status, body } = await post(deployments, { ...workload('a'), metadata: { name: 'a' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ metadata: { generation: 1 } });
    expect(body['spec']).toEqual({
      replicas: 1,
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a' } }, spec: DEFAULTED_TEMPLATE },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  test('a StatefulSet gets ordered pods, a rolling update from 0, and retained claims', async () => {
    const { post, namespace } = cluster();
    const { statefulSets } = await namespace();
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const { body } = await post(statefulSets, {
      metadata: { name: 'a' },
      spec: { ...workloadSpec('a', 0), serviceName: 'a', volumeClaimTemplates: [claim] },
    });
    expect(body['spec']).toEqual({
      replicas: 0,
      selector: { matchLabels: { app: 'a' } },
      serviceName: 'a',
      template: { metadata: { labels: { app: 'a' } }, spec: DEFAULTED_TEMPLATE },
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 1 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: { ...claim.spec, volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
    });
  });

  test('a DaemonSet keeps count of its templates', async () => {
    const { post, mergePatch, namespace } = cluster();
    const { name } = await namespace();
    const daemonSets = `/apis/apps/v1/namespaces/${name}/daemonsets`;
    const generationOf = (body: unknown): unknown =>
      at(body, 'metadata', 'annotations', 'deprecated.daemonset.template.generation');
    expect(generationOf((await post(daemonSets, workload('a'))).body)).toBe('1');
    const template = { metadata: { labels: { again: 'b' } } };
    expect(generationOf((await mergePatch(`${daemonSets}/a`, { spec: { template } })).body)).toBe('2');
    expect(generationOf((await mergePatch(`${daemonSets}/a`, { spec: { minReadySeconds: 1 } })).body)).toBe('2');
  });

  test('a ReplicaSet gets one replica', async () => {
    const { post, namespace } = cluster();
    const { replicaSets } = await namespace();
    const { body } = await post(`${replicaSets}?dryRun=All`, workload('a'));
    expect(body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1 }, status: { replicas: 0 } });
    // Kubernetes 1.37 no longer copies the template's labels to the object.
    expect(body).not.toHaveProperty('metadata.labels');
  });

  test('a new node is tainted not-ready until its kubelet says otherwise', async () => {
    const { get, node } = cluster();
    const { body } = await get(`/api/v1/nodes/${await node()}`);
    expect(at(body, 'spec', 'taints')).toEqual(
      expect.arrayContaining([expect.objectContaining({ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' })]),
    );
  });

  test('a namespace carries its name as a label', async () => {
    const { get, namespace } = cluster();
    const { name } = await namespace();
    const { body } = await get(`/api/v1/namespaces/${name}`);
    expect(body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });
});
