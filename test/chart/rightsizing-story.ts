/** A life of the rightsizing engine on the embedded cluster that needs every right it has, with exactly the roles it is given. */
import { importObjects } from '../../src/act/save-profiles.ts';
import type { DaemonSet, KubeObject, Pod, StatefulSet } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { policyType } from '../../src/api/optimization-policy.ts';
import { resources } from '../../src/api/resources.ts';
import { profileOptions } from '../../src/model/testing/usage.ts';
import { createRollout, rolloutDefinition } from '../../src/operator/testing/argo-rollout.ts';
import { createEmbeddedWorld, type EmbeddedWorld, namespaceObject } from '../../src/operator/testing/embedded-world.ts';
import { loadedDeployment, policyObject } from '../../src/operator/testing/sized-world.ts';
import { OPERATOR } from './placement-story.ts';
import type { Manifest } from './render.ts';
import { usedBy } from './rights.ts';

const MINUTE = 60_000;
const inShop = { namespace: 'shop' };
const CONFIG = `
engines: { placement: false, rightsizing: true }
rightsizing: { sampleInterval: 5s, warmUp: 0s, reconcileInterval: 1s, canaryPeriod: 10s, saveInterval: 30s, retention: 2m }
`;

export interface Sized {
  readonly used: ReadonlySet<string>;
  /** CPU requests of the Deployment's pods at the end. */
  readonly requests: readonly (string | undefined)[];
  /** CPU request in the StatefulSet's template at the end. */
  readonly template: string | undefined;
  /** CPU requests of the pods that are only to be evicted for another size. */
  readonly reborn: readonly (string | undefined)[];
}

interface StoryOptions {
  /** More of the operator's configuration. */
  readonly config?: string;
  /** New pods are sized as they are created, so that old ones may be evicted for it. */
  readonly isAdmitting: boolean;
}

/** @param roles every right there is. */
export async function tellRightsizingStory(roles: readonly Manifest[], options: StoryOptions): Promise<Sized> {
  const { config = '', isAdmitting } = options;
  const world = await createEmbeddedWorld({
    rbac: { objects: [namespaceObject('shop'), ...roles], user: OPERATOR },
    config: `${CONFIG}${config}`,
    metricsEveryMillis: 5_000,
    isWebhookOff: !isAdmitting,
  });
  try {
    for (const resource of WATCHED) world.server.faults.add(fault(['watch'], resource, { kind: 'status', code: 422 }));
    for (const description of crdDescriptions) await world.cluster.apply([customResourceDefinition(description)]);
    await world.api.create(customResourceDefinitions, rolloutDefinition());
    await world.api.create(customResourceDefinitions, autoscalerDefinition());
    await leaveImport(world);
    // New owners are seen late: what is asked about their pods before that is read live.
    for (const resource of ['deployments', 'replicasets', 'statefulsets', 'rollouts'])
      world.server.faults.add({ ...fault(['watch'], resource, { kind: 'delay-events', millis: 3_000 }), count: 100 });
    // What is known of a pod is out of date once: it is read before it is written.
    world.server.faults.add(fault(['patch'], 'pods', { kind: 'status', code: 409 }));
    await world.startOperator();
    await workloadsAreSized(world);
    const { items } = await world.api.list<Pod>(resources.pods, inShop);
    const set = await world.api.get(resources.statefulSets, 'db', inShop);
    const requestsOf = (app: string) =>
      items
        .filter(({ metadata }) => metadata?.labels?.['app'] === app)
        .map(({ spec }) => spec?.containers[0]?.resources?.requests?.['cpu']);
    return {
      used: usedBy(world.server.accessLog, OPERATOR),
      requests: requestsOf('web'),
      template: set.spec?.template?.spec?.containers[0]?.resources?.requests?.['cpu'],
      reborn: requestsOf('job'),
    };
  } finally {
    await world.stop();
  }
}

/** The first watch of each is refused, as by a server that streams no first lists. */
const WATCHED = [
  ...['pods', 'nodes', 'namespaces', 'persistentvolumes', 'persistentvolumeclaims', 'limitranges', 'resourcequotas'],
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'poddisruptionbudgets', 'jobs', 'cronjobs'],
  ...['horizontalpodautoscalers', 'verticalpodautoscalers', 'optimizationpolicies', 'rollouts'],
];

type Fault = Parameters<EmbeddedWorld['server']['faults']['add']>[0];
const fault = (verbs: string[], resource: string, effect: Fault['effect']): Fault => ({
  verbs,
  resources: [resource],
  users: [OPERATOR],
  effect,
  count: 1,
});

/** Others' sizes, by a kind that is not built in. */
export function autoscalerDefinition(): KubeObject {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'verticalpodautoscalers.autoscaling.k8s.io' },
    spec: {
      group: 'autoscaling.k8s.io',
      scope: 'Namespaced',
      names: { plural: 'verticalpodautoscalers', singular: 'verticalpodautoscaler', kind: 'VerticalPodAutoscaler' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
  return definition;
}

/** As `stowage profiles import` leaves it; it is taken in and deleted. */
async function leaveImport({ api }: EmbeddedWorld): Promise<void> {
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'old' };
  const readTo = { cpu: 5, memory: 5 };
  const usage = {
    workload,
    container: 'app',
    profile: '{"v":1}',
    options: profileOptions,
    readTo,
    seenAt: 0,
    kills: [],
  };
  for (const { object } of await importObjects([usage], 'spotalis-system'))
    await api.create(resources.configMaps, object, { namespace: 'spotalis-system' });
}

async function workloadsAreSized(world: EmbeddedWorld): Promise<void> {
  const { api, clock } = world;
  await api.create(resources.deployments, loadedDeployment({ name: 'web' }), inShop);
  await api.create(resources.deployments, loadedDeployment({ name: 'api', labels: { restart: 'true' } }), inShop);
  await api.create(resources.deployments, loadedDeployment({ name: 'job', labels: { evict: 'true' } }), inShop);
  const { metadata, spec } = loadedDeployment({ name: 'db', labels: { restart: 'true' } });
  const set = { metadata, spec: { ...spec, serviceName: 'db' } };
  await api.create(resources.statefulSets, set as StatefulSet, inShop);
  const { selector, template } = loadedDeployment({ name: 'log' }).spec ?? {};
  const labels = { optimize: 'true', restart: 'true' };
  const daemon = { metadata: { name: 'log', labels }, spec: { selector, template } };
  await api.create(resources.daemonSets, daemon as DaemonSet, inShop);
  await createRollout(world, { name: 'canary', replicas: 2 });
  await clock.advance(30_000);
  const inPlace = policyObject({ mode: 'Auto', updates: { cooldown: '10s' } });
  await api.create(policyType('optipod.io'), inPlace, inShop);
  const restarting = policyObject({
    name: 'restarts',
    group: 'optipod.optipod.io',
    mode: 'Auto',
    updates: { allowInPlaceResize: false, allowRecreate: true, cooldown: '10s' },
    spec: { weight: 200, selector: { workloadSelector: { matchLabels: { restart: 'true' } } } },
  });
  await api.create(policyType('optipod.optipod.io'), restarting, inShop);
  const evicting = policyObject({
    name: 'evicts',
    mode: 'Auto',
    updates: { allowInPlaceResize: false, allowRecreate: true, evictToResize: true, cooldown: '10s' },
    spec: { weight: 300, selector: { workloadSelector: { matchLabels: { evict: 'true' } } } },
  });
  await api.create(policyType('optipod.io'), evicting, inShop);
  await clock.advance(5 * MINUTE);
}
