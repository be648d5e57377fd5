/** Admission webhooks of others, which change what is written on its way: a mesh, a policy engine, a house rule. */
import type { MutatingWebhookConfiguration, Pod } from '../api/core.ts';
import { isAlreadyExists, isNotFound, unless } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { isRecord } from '../lib/is-record.ts';
import { tryParseMillicores } from '../lib/quantity.ts';
import { type Tree, treeAt } from './policy-book.ts';
import type { ScenarioEvent } from './scenario/events.ts';

/**
 * What they do. `sidecar`: pods get a container that no template has. `round-sizes`: CPU requests, of new pods, of resizes
 * and of templates, become multiples of 50m. `drop-affinity`: new pods lose what was written of the nodes they want.
 */
export type Meddling = Extract<ScenarioEvent, { do: 'meddle' }>['how'];

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

const STEP_MILLICORES = 50;

const serviceOf = (meddling: Meddling): string => `house-rules/${meddling}`;

/** By how many millicores of CPU a resize of the pod may have been rounded up on its way: more than was asked for. */
export function mostRoundedUp({ server }: Pick<Cluster, 'server'>, { spec }: Pod): number {
  const isRounding = server.core.localWebhooks.has(serviceOf('round-sizes'));
  return isRounding ? (STEP_MILLICORES - 1) * (spec?.containers.length ?? 0) : 0;
}

/** Registers the webhook, behind all others. @returns what takes it away again. */
export async function beginMeddling(
  { api, server }: Pick<Cluster, 'api' | 'server'>,
  meddling: Meddling,
): Promise<() => Promise<void>> {
  const service = serviceOf(meddling);
  server.core.localWebhooks.set(service, (review) => {
    const request = treeAt(review, 'request');
    const patch = JSON.stringify(changesOf(meddling, treeAt(request, 'object')));
    const response = { uid: request['uid'], allowed: true, patchType: 'JSONPatch' };
    return {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { ...response, patch: Buffer.from(patch).toString('base64') },
    };
  });
  const configuration = configurationOf(meddling);
  // The same one may be at work already.
  await unless(isAlreadyExists, api.create(resources.mutatingWebhookConfigurations, configuration));
  return async () => {
    server.core.localWebhooks.delete(service);
    const { name = '' } = configuration.metadata ?? {};
    await unless(isNotFound, api.delete(resources.mutatingWebhookConfigurations, name));
  };
}

function configurationOf(meddling: Meddling): MutatingWebhookConfiguration {
  const everywhere = { apiVersions: ['v1'], scope: 'Namespaced' };
  const newPods = { ...everywhere, apiGroups: [''], operations: ['CREATE'], resources: ['pods'] };
  const sizes = [
    { ...everywhere, apiGroups: [''], operations: ['UPDATE'], resources: ['pods/resize'] },
    { ...everywhere, apiGroups: ['apps'], operations: ['UPDATE'], resources: ['deployments', 'statefulsets'] },
  ];
  const webhook = {
    name: `${meddling}.shop.example.com`,
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { name: meddling, namespace: 'house-rules', path: '/', port: 443 } },
    rules: meddling === 'round-sizes' ? [newPods, ...sizes] : [newPods],
    failurePolicy: 'Ignore',
    timeoutSeconds: 2,
    sideEffects: 'None',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } },
  };
  // Webhooks are asked in the order of these names.
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: `zz-${meddling}` },
    webhooks: [webhook],
  };
}

/** A JSON patch (RFC 6902). */
export function changesOf(meddling: Meddling, object: Tree): Operation[] {
  const isPod = object['kind'] === 'Pod';
  const at = isPod ? ['spec'] : ['spec', 'template', 'spec'];
  const spec = treeAt(object, ...at);
  const path = `/${at.join('/')}`;
  switch (meddling) {
    case 'sidecar': {
      const resources = { requests: { cpu: '50m', memory: '64Mi' } };
      return [{ op: 'add', path: `${path}/containers/-`, value: { name: 'mesh', image: 'mesh:1', resources } }];
    }
    case 'drop-affinity':
      return 'affinity' in spec ? [{ op: 'remove', path: `${path}/affinity` }] : [];
    case 'round-sizes':
      return containersOf(spec).flatMap((container, index) => {
        const cpu = treeAt(container, 'resources', 'requests')['cpu'];
        const millicores = tryParseMillicores(cpu);
        if (millicores === undefined || millicores % STEP_MILLICORES === 0) return [];
        const value = Math.ceil(millicores / STEP_MILLICORES) * STEP_MILLICORES;
        const most = tryParseMillicores(treeAt(container, 'resources', 'limits')['cpu']);
        // Above the limit it would be refused, and at the limit it would be another QoS class.
        if (most !== undefined && value >= most) return [];
        return [{ op: 'replace', path: `${path}/containers/${index}/resources/requests/cpu`, value: `${value}m` }];
      });
  }
}

function containersOf(spec: Tree): readonly Tree[] {
  const { containers } = spec;
  return Array.isArray(containers) ? containers.filter(isRecord) : [];
}
