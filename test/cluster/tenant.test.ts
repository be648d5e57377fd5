/** plan, status and explain for somebody with a Role in one namespace, before the API server's own authorizer. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { type CommandResult, runCommand } from '../../src/cli/testing/run-command.ts';
import { bindingOf, readerRole } from '../../src/cli/testing/tenant.ts';
import { deploymentObject, namespaceObject } from '../../src/operator/testing/embedded-world.ts';
import { applyObject } from './apply-objects.ts';
import { useRealCluster } from './real-cluster.ts';
import { installPolicies } from './rightsizing-objects.ts';

const READER = 'reader-of-one-namespace';
const VIEWER = 'viewer-of-one-namespace';
const cluster = useRealCluster();
let shop = '';
let other = '';
const kubeconfigs = new Map<string, string>();

const run = (user: string, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand([...args, '--kubeconfig', kubeconfigs.get(user) ?? '']);

beforeAll(async () => {
  const { api, kubeconfigFor, namespace, eventually } = cluster();
  [shop, other] = [await namespace(), await namespace()];
  await installPolicies(api, eventually);
  const { labels = {} } = namespaceObject(shop).metadata ?? {};
  await api.patch(resources.namespaces, shop, { type: 'merge', body: { metadata: { labels } } });
  const deployment = deploymentObject({
    name: 'web',
    replicas: 3,
    annotations: { 'spotalis.io/spot-percentage': '0' },
  });
  const { template } = deployment.spec ?? {};
  const pinned = { ...template, spec: { ...template?.spec, nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } } };
  await api.create(
    resources.deployments,
    {
      ...deployment,
      metadata: { ...deployment.metadata, namespace: shop },
      spec: { ...deployment.spec, template: pinned },
    } as KubeObject,
    { namespace: shop },
  );
  await applyObject(api, readerRole(shop));
  await applyObject(api, bindingOf(shop, READER, { kind: 'Role', name: 'stowage-reader' }));
  await applyObject(api, bindingOf(shop, VIEWER, { kind: 'ClusterRole', name: 'view' }));
  for (const user of [READER, VIEWER]) kubeconfigs.set(user, await kubeconfigFor(user));
  await eventually(async () => {
    const { stdout } = await run(READER, 'status', '-n', shop, '-o', 'json');
    expect(JSON.parse(stdout).workloads).toMatchObject([{ ready: 3 }]);
  });
});

describe('with deploy/rbac-reader.yaml', () => {
  test('plan tells the side of nodes by the pods that are pinned, and what it does not see', async () => {
    const { code, stdout, stderr } = await run(READER, 'plan', '-n', shop);
    expect(code).toBe(0);
    expect(stdout).toContain('  actual    3 spot, 0 on-demand\n');
    expect(stdout).toContain('1 of 1 workload managed; 3 replicas on the wrong side');
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^note: nodes may not be read with these credentials: /),
      expect.stringMatching(/^note: optimizationpolicies of other namespaces may not be read with these credentials: /),
    ]);
  });

  test('status counts evictions and shows no nodes; explain needs no -n', async () => {
    const { code, stdout } = await run(READER, 'status', '-n', shop);
    expect(code).toBe(0);
    expect(stdout).toContain('1 of 1 workload managed: 1 drifted (3 replicas)');
    expect(stdout).toContain('0 evictions within the last hour');
    expect(stdout).not.toContain('USABLE');
    expect((await run(READER, 'explain', `deploy/${shop}/web`)).stdout).toContain('3 on spot, 0 on on-demand');
  });

  test.each([[['plan']], [['status']], [['plan', '-n', 'OTHER']], [['restore', '-n', 'OTHER']]])(
    '%j is refused in one line',
    async (args) => {
      const { code, stdout, stderr } = await run(READER, ...args.map((word) => (word === 'OTHER' ? other : word)));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^stowage: the cluster at https\S+ \(.*\) refused: pods is forbidden: User .*\n$/);
    },
  );
});

test('the ClusterRole view, bound in the namespace, lacks what the documentation says', async () => {
  const { code, stdout } = await run(VIEWER, 'status', '-n', shop, '-o', 'json');
  expect(code).toBe(0);
  const status: { missing: { data: string }[]; summary: object } = JSON.parse(stdout);
  expect(status.summary).toMatchObject({ managed: 1, driftedReplicas: 3 });
  expect(status.missing.map(({ data }) => data)).toEqual(['nodes', 'optimizationpolicies', 'podallocations']);
});
