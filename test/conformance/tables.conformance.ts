import { expect, test } from 'vitest';
import { at, type Cluster, type Namespace } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { podSpec } from './objects.ts';

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';

interface Shown {
  readonly path: (namespace: string) => string;
  readonly body: object;
  readonly columns: readonly string[];
  /** From the name on; ages are none. */
  readonly cells: readonly unknown[];
}

const template = { spec: { ...podSpec(), restartPolicy: 'Never' } };
const rbac = (plural: string) => (namespace: string) =>
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${plural}`;
const subject = (kind: string, name: string) =>
  kind === 'ServiceAccount' ? { kind, name, namespace: 'shop' } : { kind, name, apiGroup: 'rbac.authorization.k8s.io' };

const SHOWN: readonly (readonly [string, Shown])[] = [
  [
    'quotas',
    {
      path: (namespace) => `/api/v1/namespaces/${namespace}/resourcequotas`,
      body: { spec: { hard: { pods: '2', 'requests.cpu': '1', 'limits.cpu': '3' } } },
      columns: ['Name', 'Request', 'Limit', 'Age'],
      cells: ['a', 'pods: 0/2, requests.cpu: 0/1', 'limits.cpu: 0/3'],
    },
  ],
  [
    'autoscalers',
    {
      path: (namespace) => `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`,
      body: {
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' },
          minReplicas: 2,
          maxReplicas: 5,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
            { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
            { type: 'Pods', pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '10' } } },
          ],
        },
      },
      columns: ['Name', 'Reference', 'Targets', 'MinPods', 'MaxPods', 'Replicas', 'Age'],
      cells: ['a', 'Deployment/none', 'cpu: <unknown>/50%, memory: <unknown>/1Gi + 1 more...', '2', 5, 0],
    },
  ],
  [
    'cron jobs',
    {
      path: (namespace) => `/apis/batch/v1/namespaces/${namespace}/cronjobs`,
      body: { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template } } } },
      columns: [
        'Name',
        'Schedule',
        'Timezone',
        'Suspend',
        'Active',
        'Last Schedule',
        'Age',
        'Containers',
        'Images',
        'Selector',
      ],
      cells: ['a', '0 0 1 1 *', '<none>', 'True', 0, '<none>'],
    },
  ],
  [
    'roles',
    {
      path: rbac('roles'),
      body: { rules: [] },
      columns: ['Name', 'Created At'],
      cells: ['a', expect.stringMatching(/^\d{4}-.*Z$/)],
    },
  ],
  [
    'bindings of roles',
    {
      path: rbac('rolebindings'),
      body: {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [
          subject('User', 'one'),
          subject('User', 'two'),
          subject('Group', 'all'),
          subject('ServiceAccount', 'bot'),
        ],
      },
      columns: ['Name', 'Role', 'Age', 'Users', 'Groups', 'ServiceAccounts'],
      cells: ['a', 'Role/reader', expect.anything(), 'one, two', 'all', 'shop/bot'],
    },
  ],
  [
    'claims',
    {
      path: (namespace) => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
      body: {
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'none',
          resources: { requests: { storage: '1Gi' } },
        },
      },
      columns: [
        'Name',
        'Status',
        'Volume',
        'Capacity',
        'Access Modes',
        'StorageClass',
        'VolumeAttributesClass',
        'Age',
        'VolumeMode',
      ],
      cells: ['a', 'Pending', '', '', '', 'none', '<unset>', expect.anything(), 'Filesystem'],
    },
  ],
];

async function tableOf({ call }: Cluster, path: string): Promise<unknown> {
  const { body } = await call('GET', `${path}?includeObject=None`, { accept });
  return body;
}

describeOnBackends('tables', (cluster) => {
  test.each(SHOWN)('of %s', async (_, { path, body, columns, cells }) => {
    const { post, must, namespace, eventually } = cluster();
    const { name }: Namespace = await namespace();
    await must(post(path(name), { metadata: { name: 'a' }, ...body }));
    // A quota is counted in its controller's own time.
    await eventually(async () => {
      const table = await tableOf(cluster(), `${path(name)}/a`);
      const named = at(table, 'columnDefinitions');
      expect(Array.isArray(named) && named.map((column) => at(column, 'name'))).toEqual(columns);
      const row = at(table, 'rows', 0, 'cells');
      expect(Array.isArray(row) && row.slice(0, cells.length)).toEqual(cells);
    });
  });

  test('of priority classes', async () => {
    const table = await tableOf(cluster(), '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical');
    expect(at(table, 'rows', 0, 'cells')).toEqual([
      'system-node-critical',
      2_000_001_000,
      false,
      expect.anything(),
      'PreemptLowerPriority',
    ]);
  });
});
