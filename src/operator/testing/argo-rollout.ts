/** Argo Rollouts without their controller: the definition of the type, and objects as that controller would leave them. */

import type { KubeObject, ReplicaSet } from '../../api/core.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { deploymentObject, type EmbeddedWorld } from './embedded-world.ts';

export interface Rollout extends KubeObject {
  readonly spec?: object;
  readonly status?: object;
}

export const rollouts: ResourceType<Rollout> = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  plural: 'rollouts',
  kind: 'Rollout',
  namespaced: true,
};

export function rolloutDefinition(): KubeObject {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'rollouts.argoproj.io' },
    spec: {
      group: 'argoproj.io',
      scope: 'Namespaced',
      names: { plural: 'rollouts', singular: 'rollout', kind: 'Rollout', listKind: 'RolloutList' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
  return definition;
}

interface RolloutFields {
  readonly name: string;
  readonly replicas: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Creates the Rollout with one ReplicaSet of all its replicas, and says in its status that it is at rest. */
export async function createRollout(world: EmbeddedWorld, fields: RolloutFields): Promise<void> {
  const { api } = world;
  const inShop = { namespace: 'shop' };
  const { metadata, spec } = deploymentObject(fields);
  const created = await api.create(
    rollouts,
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', metadata: { ...metadata }, spec: { ...spec } },
    inShop,
  );
  const labels = { app: fields.name, 'rollouts-pod-template-hash': 'abc123' };
  const replicaSet: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${fields.name}-abc123`,
      namespace: 'shop',
      labels,
      ownerReferences: [
        {
          apiVersion: 'argoproj.io/v1alpha1',
          kind: 'Rollout',
          name: fields.name,
          uid: created.metadata?.uid ?? '',
          controller: true,
        },
      ],
    },
    spec: {
      replicas: fields.replicas,
      selector: { matchLabels: labels },
      template: { ...spec?.template, metadata: { labels } },
    },
  };
  await api.create(resources.replicaSets, replicaSet, inShop);
  await settleRollout(world, fields.name, fields.replicas);
}

/** The controller has seen the last change, and all pods are there. */
export async function settleRollout(world: EmbeddedWorld, name: string, replicas: number): Promise<void> {
  const inShop = { namespace: 'shop' };
  const { metadata } = await world.api.get(rollouts, name, inShop);
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const status = { ...counts, observedGeneration: String(metadata?.generation ?? 1) };
  await world.api.patch(rollouts, name, { type: 'merge', body: { status } }, { ...inShop, subresource: 'status' });
}
