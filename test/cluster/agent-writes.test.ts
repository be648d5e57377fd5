/** What a node's agent may write, before the real API server: PodAllocations of the node its token names, and no others. */
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import type { KubeApi, Patch } from '../../src/api/kube-api.ts';
import { KubeError } from '../../src/api/kube-error.ts';
import { NODE_LABEL, type PodAllocation, podAllocations } from '../../src/api/pod-allocation.ts';
import { podAllocationDescription } from '../../src/api/pod-allocation-schema.ts';
import { resources } from '../../src/api/resources.ts';
import { applyObject } from './apply-objects.ts';
import { useOperatorWorld } from './operator-world.ts';
import { useRealCluster } from './real-cluster.ts';
import { AGENT_ACCOUNT, NAMESPACE } from './release.ts';

const session = randomBytes(3).toString('hex');
const OWN = `writes-own-${session}`;
const OTHER = `writes-other-${session}`;
const cluster = useRealCluster({
  nodes: [OWN, OTHER].map((name) => ({ name, cpuMillis: 2000, memoryBytes: 1024 ** 3 })),
});
const world = useOperatorWorld(cluster, { engines: { allocation: true }, takesRightsAway: true });

let namespace = '';
/** Clients of the agent's account: with the token of its pod on each node, and with one that is bound to nothing. */
let own: KubeApi;
let other: KubeApi;
let unbound: KubeApi;
let operator: KubeApi;

beforeAll(async () => {
  const { api, connect, eventually } = cluster();
  const definition = customResourceDefinition(podAllocationDescription);
  const applied: Patch = { type: 'apply', body: definition, force: true };
  await api.patch(customResourceDefinitions, definition.metadata.name, applied, { fieldManager: 'e2e' });
  await eventually(() => api.list(podAllocations));
  namespace = await cluster().namespace();
  // More than the chart grants, so that it is the policy that refuses.
  await grantDeletion();
  own = await connect(await agentOn(OWN));
  other = await connect(await agentOn(OTHER));
  unbound = await connect(await world().agentKubeconfig());
  operator = await connect(world().operatorKubeconfigPath);
  // The API server follows policies and roles a moment later.
  await eventually(async () => expect(await refusal(write(own, allocation(OTHER)))).toContain('of its own node only'));
  await eventually(async () => expect(await refusal(remove(own, randomUUID()))).toContain('not found'));
});

/** As the kubelet asks for the token of the agent's pod. */
async function agentOn(nodeName: string): Promise<string> {
  const pod = {
    metadata: { name: `agent-${nodeName}` },
    spec: { nodeName, serviceAccountName: AGENT_ACCOUNT, containers: [{ name: 'agent', image: 'agent' }] },
  };
  await cluster().api.create(resources.pods, pod, { namespace: NAMESPACE });
  return world().agentKubeconfig({ apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name });
}

async function grantDeletion(): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: 'delete-allocations', namespace };
  const rules = [
    { apiGroups: [podAllocations.group], resources: [podAllocations.plural], verbs: ['delete', 'update'] },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', name: AGENT_ACCOUNT, namespace: NAMESPACE }];
  for (const object of [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ]) {
    await applyObject(cluster().api, object);
  }
}

interface Parts {
  readonly name?: string;
  readonly podUID?: string;
  readonly label?: string;
  readonly desired?: string;
}

function allocation(nodeName: string, parts: Parts = {}): PodAllocation {
  const { name = randomUUID(), podUID = name, label = nodeName, desired = '100m' } = parts;
  return {
    apiVersion: 'allocation.mbcas.io/v1alpha1',
    kind: podAllocations.kind,
    metadata: { name, namespace, labels: { [NODE_LABEL]: label } },
    spec: { namespace, podName: 'web', podUID, nodeName, desiredCPURequest: desired, desiredCPULimit: '1' },
  };
}

const nameOf = ({ metadata }: PodAllocation): string => metadata?.name ?? '';
/** As the agent does: server-side apply, which makes what is not there. */
const write = (api: KubeApi, object: PodAllocation): Promise<PodAllocation> =>
  api.patch(
    podAllocations,
    nameOf(object),
    { type: 'apply', body: object, force: true },
    { namespace, fieldManager: 'mbcas-agent' },
  );
const merge = (api: KubeApi, name: string, body: object): Promise<PodAllocation> =>
  api.patch(podAllocations, name, { type: 'merge', body }, { namespace });
const remove = (api: KubeApi, name: string): Promise<void> => api.delete(podAllocations, name, { namespace });

/** @returns what the API server said. @throws Error when it took it. */
async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof KubeError) return `${error.httpStatus} ${error.message}`;
    throw error;
  }
  throw new Error('it was accepted');
}

test('of its own node it writes, changes, renews and deletes', async () => {
  const object = allocation(OWN);
  const name = nameOf(object);
  await write(own, object);
  const changed = await write(own, allocation(OWN, { name, desired: '200m' }));
  expect(changed.spec?.desiredCPURequest).toBe('200m');
  const renewed = await merge(own, name, { metadata: { annotations: { 'mbcas.io/renewed-at': 'now' } } });
  expect(renewed.metadata?.generation).toBe(changed.metadata?.generation);
  await remove(own, name);
});

test('of another node it makes, changes and deletes none, whatever it calls them', async () => {
  const theirs = await write(other, allocation(OTHER));
  const name = nameOf(theirs);
  const notTheirs = `422.*spec.nodeName of this PodAllocation is ${OTHER}: the agent of node ${OWN} may neither change`;
  for (const attempt of [
    () => write(own, allocation(OTHER, { name, desired: '900m' })),
    // To its own node, too.
    () => write(own, allocation(OWN, { name })),
    () => merge(own, name, { spec: { nodeName: null } }),
    () => merge(own, name, { metadata: { annotations: { 'mbcas.io/renewed-at': 'now' } } }),
    () => remove(own, name),
  ]) {
    expect(await refusal(attempt())).toMatch(new RegExp(notTheirs, 's'));
  }
  expect(await refusal(write(own, allocation(OTHER)))).toMatch(
    new RegExp(`422.*spec.nodeName is "${OTHER}": the agent of node ${OWN} may write PodAllocations of its own`, 's'),
  );
  expect(await cluster().api.get(podAllocations, name, { namespace })).toEqual(theirs);
});

test('its own cannot be handed to another node, by field or by label, nor made to speak of another pod', async () => {
  const name = nameOf(await write(own, allocation(OWN)));
  expect(await refusal(merge(own, name, { spec: { nodeName: OTHER } }))).toContain('of its own node only');
  expect(await refusal(merge(own, name, { spec: { nodeName: null } }))).toContain('of its own node only');
  const labels = { [NODE_LABEL]: OTHER };
  expect(await refusal(merge(own, name, { metadata: { labels } }))).toContain(`label mbcas.io/node is not ${OWN}`);
  expect(await refusal(write(own, allocation(OWN, { label: OTHER })))).toContain(`label mbcas.io/node is not ${OWN}`);
  const foreignPod = allocation(OWN, { podUID: randomUUID() });
  expect(await refusal(write(own, foreignPod))).toContain('spec.podUID is not the name');
});

test('what MBCAS left, which names no node, is taken over', async () => {
  const { metadata, spec, ...rest } = allocation(OWN);
  const { namespace: ofPod = '', podName = '', desiredCPURequest = '', desiredCPULimit = '' } = spec ?? {};
  const left = {
    ...rest,
    metadata: { name: metadata?.name ?? '' },
    spec: { namespace: ofPod, podName, desiredCPURequest, desiredCPULimit },
  };
  await cluster().api.create(podAllocations, left, { namespace });
  const taken = await write(own, allocation(OWN, { name: left.metadata.name }));
  expect(taken.spec?.nodeName).toBe(OWN);
});

test('a token that names no node writes nothing, and is told how to mend that', async () => {
  expect(await refusal(write(unbound, allocation(OWN)))).toMatch(
    /403.*names no node.*the kubelet mounts.*agent\.nodeBoundWrites: false/s,
  );
});

test('the operator writes the status of all, and the administrator everything', async () => {
  for (const [agent, node] of [
    [own, OWN],
    [other, OTHER],
  ] as const) {
    const name = nameOf(await write(agent, allocation(node)));
    const body = { status: { phase: 'Applied' } };
    const told = await operator.patch(
      podAllocations,
      name,
      { type: 'merge', body },
      { namespace, subresource: 'status' },
    );
    expect(told).toMatchObject(body);
    await merge(cluster().api, name, { spec: { nodeName: 'elsewhere' } });
    await remove(cluster().api, name);
  }
});
