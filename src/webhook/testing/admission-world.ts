/**
 * A workload that is managed, the webhook's handler on it without a socket, and the API server's side of an admission.
 */
import { expect } from 'vitest';
import type { Deployment, KubeObject, Namespace, Pod, ReplicaSet } from '../../api/core.ts';
import type { JsonPatchOperation, KubeApi } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';
import { createClaimLedger } from '../../decide/placement/claims.ts';
import { createPolicyReader } from '../../decide/placement/policy.ts';
import { createSilentLogger, type Logger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import { createSides } from '../../model/sides.ts';
import { createLiveView } from '../../observe/live-view.ts';
import { createProjections } from '../../observe/project.ts';
import { createPodInterners } from '../../observe/project-pod.ts';
import { createManualStores } from '../../observe/testing/manual-stores.ts';
import { testSettings } from '../../observe/testing/placement-settings.ts';
import { createCatchUp } from '../catch-up.ts';
import { type AdmissionObservation, createMutateHandler } from '../handler.ts';
import { createLiveOwners } from '../live-owners.ts';
import type { SizeNewPods } from '../size-new-pods.ts';

export interface WorldOptions {
  readonly settings?: Partial<PlacementSettings>;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly namespaceLabels?: Record<string, string>;
  readonly replicas?: number;
  /** Objects the API has though no cache shows them. */
  readonly api?: readonly KubeObject[];
  /** Leave the ReplicaSet out of the caches. */
  readonly isReplicaSetCached?: boolean;
  /** What rightsizing adds. */
  readonly sizes?: SizeNewPods;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

export const enabled = { 'spotalis.io/enabled': 'true' };
export const seventyOne = { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' };

export function deploymentOf(options: WorldOptions): Deployment {
  const { labels = enabled, annotations = seventyOne, replicas = 10 } = options;
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'd1', labels, annotations },
    spec: { replicas, selector: {}, template: {} },
  };
}

export const replicaSet: ReplicaSet = {
  metadata: {
    name: 'web-abc',
    namespace: 'shop',
    uid: 'rs1',
    labels: { 'pod-template-hash': 'abc' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd1', controller: true }],
  },
  spec: { selector: {} },
};

export function createWorld(options: WorldOptions = {}) {
  const { namespaceLabels = enabled, api: liveObjects = [], isReplicaSetCached = true } = options;
  const clock = createVirtualClock(Date.UTC(2026, 0, 31));
  const stores = createManualStores();
  const namespace: Namespace = { metadata: { name: 'shop', uid: 'ns', labels: namespaceLabels } };
  stores.namespaces.put(namespace);
  stores.deployments.put(deploymentOf(options));
  if (isReplicaSetCached) stores.replicaSets.put(replicaSet);
  const get = async (_: unknown, name: string) => {
    const found = liveObjects.find((object) => object.metadata?.name === name);
    if (found === undefined) throw new KubeError(404, undefined, 'not found');
    return found;
  };
  const log = options.log ?? createSilentLogger();
  const view = createLiveView(stores);
  const settings = testSettings(options.settings);
  const rules = { settings, sides: createSides(settings.nodeClasses), readPolicy: createPolicyReader(settings) };
  const ledger = createClaimLedger({ ttlMillis: settings.claimTtlMillis });
  const observations: AdmissionObservation[] = [];
  const handle = createMutateHandler({
    owners: createLiveOwners({
      view,
      api: { get } as unknown as KubeApi,
      projections: createProjections(() => {}),
      clock,
      log,
      budgetMillis: 150,
    }),
    rules: () => rules,
    ledger,
    catchUp: createCatchUp(view, clock),
    interners: createPodInterners(100),
    sizes: options.sizes,
    clock,
    log,
    onAnswer: (observation) => observations.push(observation),
  });
  return { clock, stores, ledger, observations, handle };
}

export function podOf(fields: { metadata?: object; spec?: object } = {}): Pod {
  return {
    metadata: {
      generateName: 'web-abc-',
      labels: { app: 'web' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1', controller: true }],
      ...fields.metadata,
    },
    spec: { containers: [{ name: 'app' }], ...fields.spec },
  };
}

export function reviewOf(uid: string, object: unknown, fields: object = {}): string {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const request = { uid, operation: 'CREATE', kind, namespace: 'shop', object, ...fields };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
}

export interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch: readonly JsonPatchOperation[] | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export type Handle = ReturnType<typeof createMutateHandler>;

export async function ask(handle: Handle, body: string): Promise<Response> {
  const { status, body: text } = await handle(body);
  expect(status).toBe(200);
  const { response } = JSON.parse(text) as { response: Record<string, unknown> };
  const { uid, allowed, patch, warnings = [], auditAnnotations = {} } = response;
  return {
    uid: String(uid),
    allowed: allowed === true,
    patch: typeof patch === 'string' ? JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) : undefined,
    warnings: warnings as string[],
    auditAnnotations: auditAnnotations as Record<string, string>,
  };
}

/** The side a patch steers to. */
export function sideOf(response: Response): string | undefined {
  for (const operation of response.patch ?? []) {
    if (operation.op !== 'add') continue;
    if (operation.path === '/spec/nodeSelector') return Object.values(operation.value as Record<string, string>)[0];
    if (operation.path === '/spec/nodeSelector/karpenter.sh~1capacity-type') return String(operation.value);
  }
  return undefined;
}

export async function countSides(responses: Iterable<Promise<Response>>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const response of await Promise.all(responses)) {
    const side = sideOf(response) ?? 'unsteered';
    counts[side] = (counts[side] ?? 0) + 1;
  }
  return counts;
}

/** The pod the API server stores after applying the patch. */
export function created(name: string, response: Response): Pod {
  const annotations = response.patch?.find(({ path }) => path === '/metadata/annotations');
  return podOf({
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      annotations: annotations?.op === 'add' ? annotations.value : {},
    },
    spec: { nodeSelector: { 'karpenter.sh/capacity-type': sideOf(response) } },
  });
}
