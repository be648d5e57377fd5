/** Which policy has the say, with policies, workloads and namespaces as an API server hands them to the operator's own informers. */
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { type PolicyGroup, policyGroups, policyType } from '../../src/api/optimization-policy.ts';
import { apiVersionOf, resources } from '../../src/api/resources.ts';
import { createCluster } from '../../src/cluster/cluster.ts';
import type { PolicyTenancy } from '../../src/decide/rightsizing/policy-match.ts';
import { createPolicyIndex } from '../../src/decide/rightsizing/select-policy.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import type { PolicyRecord } from '../../src/model/optimization-policy.ts';
import type { SizedWorkload } from '../../src/model/sizing-records.ts';
import { leastPolicySpec } from '../../src/model/testing/policies.ts';
import { createLiveStores } from '../../src/observe/live-stores.ts';
import { createLiveView } from '../../src/observe/live-view.ts';
import { createPolicyStores, type PolicyStores } from '../../src/observe/policy-stores.ts';
import { createSizingView, type LiveSizingView } from '../../src/observe/sizing/live-sizing-view.ts';
import { createSizingStores } from '../../src/observe/sizing/sizing-stores.ts';

const kinds = { Deployment: 'deployments', StatefulSet: 'statefulSets', DaemonSet: 'daemonSets' } as const;
type Kind = keyof typeof kinds;

const clock = createSystemClock();
const random = createSeededRandom(1);
const log = createSilentLogger();
const access = inject('cluster');

/** The product's own client on a real cluster; the embedded cluster's own where there is none. */
async function connect(): Promise<{ api: KubeApi; close(): Promise<void> }> {
  if (access === undefined) {
    const cluster = createCluster({ clock, random, log });
    await cluster.start(new AbortController().signal);
    return { api: cluster.api, close: () => cluster.stop() };
  }
  const connection = await loadConnection({
    kubeconfig: access.kubeconfigPath,
    env: {},
    homeDirectory: homedir(),
    clock,
  });
  const api = createKubeApi({ connection, clock, random, log });
  return { api, close: async () => api.close() };
}

/** A workload without pods. */
function workloadObject(kind: string, name: string, team: string): KubeObject & { spec: object } {
  const template = {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'app', image: 'app' }], nodeSelector: { nowhere: 'true' } },
  };
  return {
    metadata: { name, labels: { team } },
    spec: { ...(kind !== 'DaemonSet' && { replicas: 0 }), selector: { matchLabels: { app: name } }, template },
  };
}

const run = randomBytes(4).toString('hex');
const operatorNamespace = `operator-${run}`;
const namespaces: Readonly<Record<string, string>> = {
  [operatorNamespace]: 'a',
  [`shop-${run}`]: 'a',
  [`bank-${run}`]: 'b',
};
const names = Object.keys(namespaces);
const tenancy: PolicyTenancy = { operatorNamespace, allowedPolicyNamespaces: new Set() };

describe(`selection by policies (${access === undefined ? 'embedded' : 'real'})`, () => {
  const stopper = new AbortController();
  let cluster: Awaited<ReturnType<typeof connect>>;
  let policies: PolicyStores;
  let view: LiveSizingView;
  let running: Promise<unknown>;

  const createPolicy = (name: string, spec: object, place: { namespace?: string; group?: PolicyGroup } = {}) => {
    const { namespace = operatorNamespace, group = 'optipod.io' } = place;
    const type = policyType(group);
    const body = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name, namespace },
      spec: { ...leastPolicySpec, ...spec },
    };
    return cluster.api.create(type, body, { namespace });
  };
  const known = (name: string): PolicyRecord | undefined => policies.policies().find((policy) => policy.name === name);
  const eventually = <T>(assertion: () => T): Promise<T> => vi.waitFor(assertion, { timeout: 60_000, interval: 50 });
  const ours = (): SizedWorkload[] => [...view.workloads()].filter(({ namespace }) => names.includes(namespace));

  beforeAll(async () => {
    cluster = await connect();
    const { api } = cluster;
    for (const description of crdDescriptions) {
      const body = customResourceDefinition(description);
      const patch = { type: 'apply', body, force: true } as const;
      await api.patch(customResourceDefinitions, body.metadata.name, patch, { fieldManager: 'stowage-test' });
    }
    for (const group of policyGroups)
      await vi.waitFor(() => api.list(policyType(group), { limit: 1 }), { timeout: 60_000, interval: 100 });
    for (const [name, team] of Object.entries(namespaces)) {
      await api.create(resources.namespaces, { metadata: { name, labels: { team } } });
      for (const [kind, plural] of Object.entries(kinds))
        for (const owner of ['a', 'b']) {
          const object = workloadObject(kind, `${kind.toLowerCase()}-${owner}`, owner);
          await api.create<KubeObject>(resources[plural], object, { namespace: name });
        }
    }
    const reading = { api, clock, random, log };
    const stores = createLiveStores({ ...reading, sizing: true });
    const live = createLiveView(stores);
    view = createSizingView({ view: live, stores, sizingStores: createSizingStores(reading) });
    policies = createPolicyStores(reading);
    running = Promise.all([live.run(stopper.signal), view.run(stopper.signal), policies.run(stopper.signal)]);
    await Promise.all([view.onSynced, policies.onSynced]);
  });

  afterAll(async () => {
    stopper.abort();
    await running;
    for (const name of names) await cluster.api.delete(resources.namespaces, name);
    await cluster.close();
  });

  const team = fc.constantFrom('a', 'b');
  const labels = fc.option(fc.record({ matchLabels: fc.record({ team }) }), { nil: undefined });
  const selectors = fc.record({
    namespaceSelector: labels,
    workloadSelector: labels,
    namespaces: fc.record({ allow: fc.subarray(names), deny: fc.subarray(names) }),
    workloadTypes: fc.record({ include: fc.subarray(Object.keys(kinds)), exclude: fc.subarray(Object.keys(kinds)) }),
  });

  // Feature: k8s-workload-rightsizing, Property 16: Workload discovery
  // Feature: k8s-workload-rightsizing, Property 27: Multi-tenant scoping
  test('Property 16 and Property 27: each policy finds exactly the workloads its selector, its lists and its namespace allow', async () => {
    const wanted = fc.sample(fc.record({ selector: selectors, namespace: fc.constantFrom(...names) }), {
      numRuns: 120,
      seed: 27,
    });
    for (const [index, { selector, namespace }] of wanted.entries())
      await createPolicy(`random-${index}`, { selector }, { namespace });
    await eventually(() => expect(known(`random-${wanted.length - 1}`)).toBeDefined());
    await eventually(() => expect(ours()).toHaveLength(names.length * 6));

    for (const [index, { selector, namespace }] of wanted.entries()) {
      const policy = known(`random-${index}`);
      if (policy === undefined) throw new Error('a policy is missing');
      const selection = createPolicyIndex([policy], tenancy);
      const found = ours().filter(
        (each) => selection.select(each, view.namespace(each.namespace)).winner !== undefined,
      );
      const { allow, deny } = selector.namespaces;
      const { include, exclude } = selector.workloadTypes;
      const expected = ours().filter(
        ({ kind, namespace: place, labels: own }) =>
          (namespace === operatorNamespace || namespace === place) &&
          !deny.includes(place) &&
          (allow.length === 0 || allow.includes(place)) &&
          (include.length === 0 || include.includes(kind)) &&
          !exclude.includes(kind) &&
          (selector.namespaceSelector?.matchLabels.team ?? namespaces[place]) === namespaces[place] &&
          (selector.workloadSelector?.matchLabels.team ?? own['team']) === own['team'],
      );
      expect([index, found]).toEqual([index, expected]);
    }
  });

  // Feature: k8s-workload-rightsizing, Property 19: Disabled mode stops processing
  test('Property 19: a policy that is disabled keeps its status and its workloads, and gives them up when it is deleted', async () => {
    const { api } = cluster;
    const place = { namespace: operatorNamespace };
    const type = policyType('optipod.optipod.io');
    const selector = { namespaces: { allow: [`bank-${run}`] } };
    await createPolicy('first', { selector, weight: 900 }, { group: 'optipod.optipod.io' });
    await createPolicy('second', { selector, weight: 899 });
    const workloads = [{ namespace: `bank-${run}`, kind: 'Deployment', name: 'deployment-a', status: 'Applied' }];
    const status = { type: 'merge', body: { status: { workloads } } } as const;
    await api.patch(type, 'first', status, { ...place, subresource: 'status' });
    await api.patch(type, 'first', { type: 'merge', body: { spec: { mode: 'Disabled' } } }, place);

    const selected = () => {
      const index = createPolicyIndex(policies.policies(), tenancy);
      const chosen = (kind: Kind) => {
        const subject = ours().find((each) => each.kind === kind && each.namespace === `bank-${run}`);
        if (subject === undefined) throw new Error(`no ${kind}`);
        const { winner, shielded } = index.select(subject, view.namespace(subject.namespace));
        return [winner?.name, shielded];
      };
      return [chosen('Deployment'), chosen('StatefulSet'), chosen('DaemonSet')];
    };
    const all = (name: string, shielded: boolean) => [0, 1, 2].map(() => [name, shielded]);
    await eventually(() => expect(selected()).toEqual(all('first', true)));
    expect(known('first')?.status.workloads).toEqual(workloads);
    await api.delete(type, 'first', place);
    await eventually(() => expect(selected()).toEqual(all('second', false)));
  });
});
