/** Rightsizing end to end on the real control plane: real Prometheus, real validation of pods/resize, the operator's own account. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Deployment } from '../../src/api/core.ts';
import { policyGroups } from '../../src/api/optimization-policy.ts';
import { resources } from '../../src/api/resources.ts';
import { countedQuota } from '../conformance/counted-quota.ts';
import { STOWAGE_USER } from '../controlplane/audit-policy.ts';
import type { OperatorProcess } from './operator-process.ts';
import { useRealCluster } from './real-cluster.ts';
import {
  createPolicy,
  deployLoaded,
  passesOver,
  podsOf,
  restartsOf,
  rightsizingConfig,
  sizesOf,
  untilPasses,
  untilRunning,
  untilScraped,
  usePrometheus,
  useRightsizingWorld,
  workloadStatus,
} from './rightsizing-world.ts';
import { managedNamespace, scale } from './workloads.ts';

const cluster = useRealCluster({ servesMetrics: true });
const world = useRightsizingWorld(cluster);
const prometheus = usePrometheus(cluster);
let operator: OperatorProcess;

beforeAll(async () => {
  operator = await world().startOperator(rightsizingConfig(prometheus().url));
});

const uidsOf = (pods: Awaited<ReturnType<typeof podsOf>>): Set<string | undefined> =>
  new Set(pods.map(({ metadata }) => metadata?.uid));

const ownersOfSpec = ({ metadata }: Deployment) =>
  metadata?.managedFields?.filter(({ fieldsV1 }) => fieldsV1 !== undefined && 'f:spec' in fieldsV1);

describe.concurrent.each(policyGroups)('a policy of %s in Auto', (group) => {
  test.concurrent('has running pods resized in place and new ones born with the sizes; the template stays, and then all is quiet', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    const before = await deployLoaded(cluster(), namespace, { replicas: 3 });
    const created = await api.get(resources.deployments, 'web', { namespace });
    await untilScraped(cluster(), prometheus(), namespace, 3);
    const policy = { group, name: `sizes-${group.split('.').length}` };
    await createPolicy(cluster(), namespace, policy);
    /** That were complete when there was no advice yet. */
    let passesBefore = 0;
    const recommended = await eventually(async () => {
      const passes = await passesOver(operator, policy.name);
      const [entry] = (await workloadStatus(cluster(), namespace, 'web', policy))?.recommendations ?? [];
      if (entry?.cpu === undefined) passesBefore = passes;
      expect(entry?.cpu).toBeDefined();
      return entry;
    });
    expect(passesBefore).toBeLessThanOrEqual(2);
    expect(recommended).toMatchObject({ container: 'app', cpu: expect.stringMatching(/^3[56]\dm$/) });

    await eventually(async () => {
      for (const pod of await podsOf(cluster(), namespace)) {
        const { asked, allocated, actual } = sizesOf(pod);
        expect(asked).toEqual({ cpu: expect.stringMatching(/^3[56]\dm$/), memory: expect.stringMatching(/^1\d+/) });
        expect([allocated, actual]).toEqual([asked, asked]);
      }
      expect(await workloadStatus(cluster(), namespace, 'web', policy)).toMatchObject({
        status: 'Applied',
        lastApplyMethod: 'InPlace',
      });
    });
    const resized = await podsOf(cluster(), namespace);
    expect(uidsOf(resized)).toEqual(uidsOf(before));
    expect(restartsOf(resized)).toBe(0);
    const sized = await api.get(resources.deployments, 'web', { namespace });
    // (A Deployment's generation rises with its annotations, too.)
    expect(sized.spec).toEqual(created.spec);
    expect(ownersOfSpec(sized)).toEqual(ownersOfSpec(created));

    await scale(cluster(), 'deployments', namespace, 'web', 5);
    const grown = await untilRunning(cluster(), namespace, 5);
    const born = grown.filter((pod) => !uidsOf(before).has(pod.metadata?.uid));
    expect(born.map((pod) => pod.metadata?.annotations?.['optipod.io/applied'])).toEqual(['true', 'true']);
    expect(born.map((pod) => sizesOf(pod).asked)).toEqual(
      Array.from({ length: 2 }, () => sizesOf(resized[0] ?? {}).asked),
    );

    await untilPasses(cluster(), operator, policy.name, 1);
    const position = world().audit.position();
    await untilPasses(cluster(), operator, policy.name, 2);
    expect(
      world()
        .audit.writesSince(position)
        .filter((write) => write.namespace === namespace),
    ).toEqual([]);
  });
});

test('under a quota without room for two pods of the size in force a rollout comes to its end, and its pod to that size', async () => {
  const { api, eventually } = cluster();
  const namespace = await managedNamespace(cluster());
  const [before] = await deployLoaded(cluster(), namespace, { replicas: 1 });
  const [hard, used] = [{ 'requests.cpu': '500m' }, { 'requests.cpu': '100m' }];
  await countedQuota(api, eventually, { namespace, name: 'tight', hard, used });
  await untilScraped(cluster(), prometheus(), namespace, 1);
  await createPolicy(cluster(), namespace, { name: 'tight' });
  const cpuOf = async () => {
    const pods = await podsOf(cluster(), namespace);
    expect(pods).toHaveLength(1);
    const { asked, actual } = sizesOf(pods[0] ?? {});
    expect(actual).toEqual(asked);
    expect(asked).toMatchObject({ cpu: expect.stringMatching(/^3[56]\dm$/) });
    return pods[0]?.metadata;
  };
  expect((await eventually(cpuOf))?.uid).toBe(before?.metadata?.uid);
  const body = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
  await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
  await eventually(async () => {
    const made = await cpuOf();
    expect(made?.annotations).toMatchObject({ version: '2' });
    expect(made?.annotations).not.toHaveProperty(['optipod.io/applied']);
  });
});

// Feature: k8s-workload-rightsizing, Property 32: API call efficiency
test('Property 32: passes over workloads at rest read nothing from the API server, and write at most what is new in the status', async () => {
  const namespace = await managedNamespace(cluster());
  for (const name of ['web', 'cart', 'mail']) await deployLoaded(cluster(), namespace, { name, replicas: 1 });
  await untilScraped(cluster(), prometheus(), namespace, 3);
  const name = 'at-rest';
  await createPolicy(cluster(), namespace, { name });
  await cluster().eventually(async () => {
    const all = await Promise.all(
      ['web', 'cart', 'mail'].map((each) => workloadStatus(cluster(), namespace, each, { name })),
    );
    expect(all.map((entry) => entry?.status)).toEqual(['Applied', 'Applied', 'Applied']);
  });
  await untilPasses(cluster(), operator, name, 2);
  const { audit } = world();
  const before = await passesOver(operator, name);
  const position = audit.position();
  await untilPasses(cluster(), operator, name, 3);
  // Watches that end are opened anew; nothing else is asked of what is sized or decides on it.
  const kinds =
    /^(?:pods|deployments|replicasets|statefulsets|daemonsets|namespaces|nodes|optimizationpolicies)(?:\/|$)/;
  const calls = audit
    .records()
    .slice(position)
    .filter(({ user, verb, resource }) => user === STOWAGE_USER && verb !== 'watch' && kinds.test(resource))
    .filter((record) => record.namespace === namespace || record.namespace === '');
  const isStatus = ({ verb, resource }: (typeof calls)[number]): boolean =>
    verb === 'patch' && resource === 'optimizationpolicies/status';
  expect(calls.filter((call) => !isStatus(call))).toEqual([]);
  // Advice follows usage, which is never quite the same: once a pass at most.
  expect(calls.length).toBeLessThanOrEqual((await passesOver(operator, name)) - before);
  const written = audit.writesSince(position).filter((write) => write.namespace === namespace && !isStatus(write));
  expect(written).toEqual([]);
});
