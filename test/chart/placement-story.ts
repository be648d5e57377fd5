/** A life of the placement engine on the embedded cluster that needs every right it has, with exactly the roles it is given. */

import { setImmediate } from 'node:timers/promises';
import type { KubeObject, StatefulSet } from '../../src/api/core.ts';
import { customResourceDefinitions } from '../../src/api/crd/crd.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createApiServer } from '../../src/cluster/apiserver/api-server.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import { createVirtualClock } from '../../src/lib/virtual-clock.ts';
import { selfCertificate } from '../../src/operator/self-certificate.ts';
import { createRollout, rolloutDefinition, rollouts, settleRollout } from '../../src/operator/testing/argo-rollout.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
  readManifests,
  statefulSetObject,
} from '../../src/operator/testing/embedded-world.ts';
import type { Manifest } from './render.ts';
import { usedBy } from './rights.ts';

export const OPERATOR = 'system:serviceaccount:spotalis-system:stowage';
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const inShop = { namespace: 'shop' };
const rbacTypes: Readonly<Record<string, ResourceType>> = Object.fromEntries(
  ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map((kind) => [
    kind,
    {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      plural: `${kind.toLowerCase()}s`,
      kind,
      namespaced: !kind.startsWith('Cluster'),
    },
  ]),
);

const policy = (spot: number, floor: number): Record<string, string> => ({
  'spotalis.io/spot-percentage': String(spot),
  'spotalis.io/min-on-demand': String(floor),
});

export interface Told {
  /** What was asked for, granted or not. */
  readonly used: ReadonlySet<string>;
  /** Live pods of the Deployment by side at the end. */
  readonly sides: { readonly spot: number; readonly 'on-demand': number; readonly pending: number };
}

/** @param roles every right there is. @param config of the operator, YAML. */
export async function tellPlacementStory(roles: readonly Manifest[], config = ''): Promise<Told> {
  const world = await createEmbeddedWorld({
    rbac: { objects: [namespaceObject('shop'), ...roles], user: OPERATOR },
    config,
  });
  try {
    // The first watch of everything is refused, as by a server that streams no first lists: then there are lists.
    const watched =
      'pods nodes namespaces persistentvolumes persistentvolumeclaims deployments replicasets statefulsets';
    for (const resource of [...watched.split(' '), 'poddisruptionbudgets', 'rollouts'])
      world.server.faults.add(fault(['watch'], [resource], { kind: 'status', code: 422 }, 1));
    // New owners are seen late: what is asked about their pods before that is read live.
    const owners = ['deployments', 'replicasets', 'statefulsets', 'rollouts'];
    world.server.faults.add(fault(['watch'], owners, { kind: 'delay-events', millis: 3_000 }));
    await world.api.create(customResourceDefinitions, rolloutDefinition());
    await world.startOperator();
    await workloadsComeAndChange(world);
    return { used: usedBy(world.server.accessLog, OPERATOR), sides: await world.sides('shop', 'web') };
  } finally {
    await world.stop();
  }
}

type Fault = Parameters<EmbeddedWorld['server']['faults']['add']>[0];
function fault(verbs: string[], names: string[], effect: Fault['effect'], count?: number): Fault {
  return { verbs, resources: names, users: [OPERATOR], effect, ...(count === undefined ? {} : { count }) };
}

async function workloadsComeAndChange(world: EmbeddedWorld): Promise<void> {
  const { api, clock } = world;
  await api.create(
    resources.deployments,
    deploymentObject({ name: 'web', replicas: 4, annotations: policy(0, 0) }),
    inShop,
  );
  const set: StatefulSet = statefulSetObject({ name: 'db', replicas: 2, annotations: policy(50, 0) });
  await api.create(resources.statefulSets, set, inShop);
  await createRollout(world, { name: 'canary', replicas: 2, annotations: policy(50, 0) });
  await clock.advance(30_000);
  await settleRollout(world, 'canary', 2);
  const edit = (metadata: object): Promise<KubeObject> =>
    api.patch(resources.deployments, 'web', { type: 'merge', body: { metadata } }, inShop);
  // Moves.
  await edit({ annotations: policy(50, 0) });
  await clock.advance(90_000);
  // The counts stay right, the sides of the slots change: corrections of stamps.
  await edit({ annotations: policy(100, 2) });
  await clock.advance(90_000);
  // The same news again and again: an event that grows.
  for (const enabled of ['no', 'true', 'no', 'true']) {
    await edit({ labels: { 'spotalis.io/enabled': enabled } });
    await clock.advance(10_000);
  }
  await clock.advance(2 * MINUTE);
  // A new version of the Rollout's first pods is asked about while it is not known.
  await api.patch(rollouts, 'canary', { type: 'merge', body: { metadata: { annotations: policy(0, 0) } } }, inShop);
  await clock.advance(30_000);
}

/** A life of certificates the operator makes itself: made, stored, published, renewed. @returns what was asked for. */
export async function tellCertificateStory(roles: readonly Manifest[]): Promise<ReadonlySet<string>> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const server = createApiServer({ clock, random: createSeededRandom(1), rbac: true });
  try {
    const admin: KubeApi = server.client();
    await admin.create(resources.namespaces, namespaceObject('spotalis-system'));
    for (const object of [...roles, ...readManifests('webhook.yaml')]) {
      const type = rbacTypes[object.kind ?? ''];
      const { namespace } = object.metadata ?? {};
      if (type !== undefined) await admin.create(type, object, namespace === undefined ? {} : { namespace });
      else if (object.kind === 'MutatingWebhookConfiguration')
        await admin.create(resources.mutatingWebhookConfigurations, object);
    }
    const { config } = loadConfig({ text: 'webhook:\n  certificates: self', fileName: 'config.yaml', env: {} });
    const api = server.client({ user: OPERATOR });
    const log = createSilentLogger();
    const stop = new AbortController();
    const options = { api, config, isLeader: () => true, clock, log, signal: stop.signal };
    const source = await selfCertificate(options).catch(() => undefined);
    await clock.advance(60 * DAY);
    let renewals = 0;
    const following = source?.follow(() => renewals++, stop.signal);
    // Making keys is real work in threads: time goes on in small steps meanwhile.
    for (let step = 0; source !== undefined && renewals === 0 && step < 8_000; step++) {
      await setImmediate();
      await clock.advance(MINUTE / 4);
    }
    stop.abort();
    await following;
    return usedBy(server.accessLog, OPERATOR);
  } finally {
    await server.close();
  }
}
