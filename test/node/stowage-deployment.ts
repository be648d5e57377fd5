/** Stowage on the cluster under test as its users run it: two pods of the packed image, the account and rights of deploy/rbac.yaml, the webhook of deploy/webhook.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Deployment, KubeObject, Lease, MutatingWebhookConfiguration, Pod } from '../../src/api/core.ts';
import { isAlreadyExists, isNotFound } from '../../src/api/kube-error.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { STOWAGE_IMAGE } from './image/images.ts';
import { podLogs, type RealNodesKit, removeNamespaces } from './kit.ts';
import { isReady } from './pod-access.ts';

export const STOWAGE_NAMESPACE = 'spotalis-system';
const SERVICE = 'spotalis';
const LEASE = 'spotalis-controller-leader';
const SECRET = 'spotalis-webhook-cert';
const CERTIFICATES = '/tmp/k8s-webhook-server/serving-certs';
/** What the Service of deploy/webhook.yaml selects. */
const LABELS = {
  'app.kubernetes.io/name': 'stowage',
  'app.kubernetes.io/instance': 'stowage',
  'app.kubernetes.io/component': 'operator',
};
const HOUR_MILLIS = 3_600_000;

const rbac = (plural: string, kind: string, namespaced: boolean): ResourceType => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced,
});
const core = (plural: string, kind: string): ResourceType => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});
/** Kinds of the manifests in deploy/. */
const types: Readonly<Record<string, ResourceType>> = {
  Namespace: resources.namespaces,
  ServiceAccount: core('serviceaccounts', 'ServiceAccount'),
  Secret: core('secrets', 'Secret'),
  Service: core('services', 'Service'),
  Deployment: resources.deployments,
  Role: rbac('roles', 'Role', true),
  RoleBinding: rbac('rolebindings', 'RoleBinding', true),
  ClusterRole: rbac('clusterroles', 'ClusterRole', false),
  ClusterRoleBinding: rbac('clusterrolebindings', 'ClusterRoleBinding', false),
  MutatingWebhookConfiguration: resources.mutatingWebhookConfigurations,
};

export interface DeployedStowage {
  /** The operator's pods that are not being deleted. */
  pods(): Promise<Pod[]>;
  /** Name of the pod that leads; undefined while none does. */
  leader(): Promise<string | undefined>;
  remove(): Promise<void>;
}

function manifests(name: string): KubeObject[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', name), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS());
}

async function create({ api }: RealNodesKit, object: KubeObject): Promise<void> {
  const type = types[object.kind ?? ''];
  if (type === undefined) throw new Error(`deploy/ holds an unexpected ${object.kind}: add its type here`);
  const { namespace } = object.metadata ?? {};
  await api.create(type, object, namespace === undefined ? {} : { namespace }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Resolves when both pods are ready and one of them leads. */
export async function deployStowage(
  kit: RealNodesKit,
  clock: Clock,
  settings: Readonly<Record<string, string>> = {},
): Promise<DeployedStowage> {
  const { api, eventually } = kit;
  for (const object of manifests('rbac.yaml')) await create(kit, object);

  const validity = { notBeforeMillis: clock.now() - HOUR_MILLIS, notAfterMillis: clock.now() + 24 * HOUR_MILLIS };
  const authority = await createAuthority({ commonName: 'stowage-webhook-test', ...validity });
  // Just what the API server asks for when a webhook is a Service.
  const dnsNames = [`${SERVICE}.${STOWAGE_NAMESPACE}.svc`];
  const leaf = await issueServerCertificate(authority, { commonName: SERVICE, dnsNames, ...validity });
  const secret = {
    kind: 'Secret',
    metadata: { name: SECRET, namespace: STOWAGE_NAMESPACE },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': leaf.certificatePem, 'tls.key': leaf.privateKeyPem },
  };
  await create(kit, secret);
  await create(kit, deployment(settings));
  const pods = async (): Promise<Pod[]> => {
    const { items } = await api.list(resources.pods, { namespace: STOWAGE_NAMESPACE });
    return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  };
  const leader = async (): Promise<string | undefined> => {
    const lease = await api.get<Lease>(resources.leases, LEASE, { namespace: STOWAGE_NAMESPACE });
    const holder = lease.spec?.holderIdentity;
    return holder === undefined || holder === '' ? undefined : holder.slice(0, holder.lastIndexOf('_'));
  };
  const remove = (): Promise<void> => removeStowage(kit);
  try {
    await eventually(async () => expect((await pods()).filter(isReady)).toHaveLength(2), 90_000);
    await eventually(async () => expect(await leader()).toBeDefined());
  } catch (error) {
    const logs = podLogs(kit, STOWAGE_NAMESPACE).split('\n').slice(-20).join('\n');
    await remove();
    throw new Error(`the operator does not get ready; the end of its log:\n${logs}`, { cause: error });
  }
  const caBundle = Buffer.from(authority.certificatePem).toString('base64');
  for (const object of manifests('webhook.yaml')) await create(kit, withBundle(object, caBundle));
  return { pods, leader, remove };
}

/** Removes everything of deploy/; what is not there is no error. */
async function removeStowage(kit: RealNodesKit): Promise<void> {
  const { api, eventually } = kit;
  for (const { kind = '', metadata } of [...manifests('webhook.yaml'), ...manifests('rbac.yaml')]) {
    const type = types[kind];
    if (type === undefined || type.namespaced || kind === 'Namespace') continue;
    await api.delete(type, metadata?.name ?? '').catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  await removeNamespaces(kit, [STOWAGE_NAMESPACE]);
  await eventually(async () => {
    const { items } = await api.list(resources.namespaces);
    expect(items.map(({ metadata }) => metadata?.name)).not.toContain(STOWAGE_NAMESPACE);
  });
}

function withBundle(object: KubeObject & Pick<MutatingWebhookConfiguration, 'webhooks'>, caBundle: string): KubeObject {
  if (object.webhooks === undefined) return object;
  const webhooks = object.webhooks.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle } }));
  return { ...object, webhooks } as KubeObject;
}

/** Passes the "restricted" Pod Security Standard. */
function deployment(settings: Readonly<Record<string, string>>): Deployment {
  const env = Object.entries({ SPOTALIS_WEB_ENABLED: 'false', ...settings }).map(([name, value]) => ({ name, value }));
  return {
    kind: 'Deployment',
    metadata: { name: SERVICE, namespace: STOWAGE_NAMESPACE, labels: LABELS },
    spec: {
      replicas: 2,
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: 'stowage',
          // One on each node, so that losing a node never loses both.
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: LABELS },
            },
          ],
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            fsGroup: 65532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            {
              name: 'operator',
              image: STOWAGE_IMAGE,
              imagePullPolicy: 'Never',
              args: ['operator'],
              env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }, ...env],
              ports: [{ name: 'webhook', containerPort: 9443 }],
              readinessProbe: { httpGet: { path: '/readyz', port: 8081 }, periodSeconds: 1, timeoutSeconds: 5 },
              livenessProbe: { httpGet: { path: '/healthz', port: 8081 }, periodSeconds: 10, timeoutSeconds: 5 },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              resources: { requests: { cpu: '100m', memory: '96Mi' }, limits: { memory: '256Mi' } },
              volumeMounts: [{ name: 'certificates', mountPath: CERTIFICATES, readOnly: true }],
            },
          ],
          volumes: [{ name: 'certificates', secret: { secretName: SECRET, defaultMode: 0o440 } }],
        },
      },
    },
  };
}
