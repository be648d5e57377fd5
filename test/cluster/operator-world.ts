/** Stowage installed on the real control plane as deploy/ says: account and rights, webhook behind a Service, processes of the operator. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { KubeObject, MutatingWebhookConfiguration } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { type Authority, createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { READER_USER } from '../controlplane/audit-policy.ts';
import { applyObject, readObjects, serviceAccounts } from './apply-objects.ts';
import { type AuditLog, openAuditLog } from './audit-log.ts';
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts';
import type { RealCluster } from './real-cluster.ts';
import { type ServiceStandIn, startServiceStandIn } from './service-stand-in.ts';

export interface OperatorWorld {
  readonly audit: AuditLog;
  /** Where files of a test may go; removed with the control plane. */
  readonly directory: string;
  /** What `kubectl config` would hold for the operator's own account: a service-account token. */
  readonly operatorKubeconfigPath: string;
  /** Of a user who may read what the operator reads, and write nothing. */
  readonly readerKubeconfigPath: string;
  /** The ClusterRole of deploy/rbac.yaml, to be applied again after a test has taken something away. */
  readonly clusterRole: ClusterRole;
  /** Starts a process of the operator and resolves at once; nothing is sent to its webhook. */
  launchOperator(config?: Readonly<Record<string, unknown>>): Promise<OperatorProcess>;
  /** Starts a process of the operator and puts it behind the webhook's Service; resolves when it is ready. */
  startOperator(config?: Readonly<Record<string, unknown>>): Promise<OperatorProcess>;
  /** The webhook's Service sends requests to these only. */
  serveWith(operators: readonly OperatorProcess[]): void;
}

export interface ClusterRole extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const ACCOUNT = 'stowage';
const NAMESPACE = 'spotalis-system';
const DAY_MILLIS = 86_400_000;

/** Fast enough for a test, slow enough that what is paced can be told apart. */
export const COOLDOWN_MILLIS = 2000;
export const testConfig = {
  controllers: { reconcileInterval: '5s', workloadTiming: { cooldownPeriod: `${COOLDOWN_MILLIS}ms` } },
} as const;

/** Call at the top of a file, below `useRealCluster`. Everything started ends with the file. */
export function useOperatorWorld(cluster: () => RealCluster): () => OperatorWorld {
  const clock = createSystemClock();
  const { own } = inject('cluster');
  const operators: OperatorProcess[] = [];
  let service: ServiceStandIn | undefined;
  let world: OperatorWorld | undefined;

  beforeAll(async () => {
    if (own === undefined)
      throw new Error('an existing cluster cannot call a webhook on this machine; run without USE_EXISTING_CLUSTER');
    const { eventually, kubeconfigFor } = cluster();
    const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + DAY_MILLIS };
    const authority = await createAuthority({ commonName: 'webhook-ca', ...validity });
    const certDirectory = await writeCertificate(own.directory, authority, validity);
    const clusterRole = await install(cluster());
    service = await startServiceStandIn();
    await register(cluster(), service.port, authority);
    const operatorKubeconfigPath = join(own.directory, 'operator.kubeconfig');
    writeFileSync(operatorKubeconfigPath, await tokenKubeconfig(cluster(), own), { mode: 0o600 });
    await grantReading(cluster(), clusterRole);

    const serveWith = (running: readonly OperatorProcess[]): void =>
      service?.setEndpoints(running.map(({ webhookPort }) => webhookPort));
    const directory = own.directory;
    const launchOperator: OperatorWorld['launchOperator'] = async (config = {}) => {
      const operator = await startOperatorProcess({
        name: `operator-${process.pid}-${operators.length}`,
        directory,
        kubeconfigPath: operatorKubeconfigPath,
        certDirectory,
        clock,
        config: { ...testConfig, ...config },
      });
      operators.push(operator);
      return operator;
    };
    world = {
      audit: openAuditLog(directory),
      directory,
      operatorKubeconfigPath,
      readerKubeconfigPath: await kubeconfigFor(READER_USER),
      clusterRole,
      serveWith,
      launchOperator,
      async startOperator(config) {
        const operator = await launchOperator(config);
        await eventually(async () => {
          if (!operator.isRunning())
            throw new Error(`the operator ended: ${JSON.stringify(operator.records().slice(-3))}`);
          expect((await operator.health('/readyz')).status).toBe(200);
        });
        serveWith(operators.filter((each) => each.isRunning()));
        return operator;
      },
    };
  });

  afterAll(async () => {
    // First, or every pod of the suites that follow would wait for a webhook that is gone.
    await cluster()
      .api.delete(resources.mutatingWebhookConfigurations, 'spotalis-mutating-webhook')
      .catch(() => {});
    await Promise.all(operators.map((operator) => operator.stop()));
    await service?.close();
  });

  return () => {
    if (world === undefined) throw new Error('the operator is installed only while tests run');
    return world;
  };
}

async function writeCertificate(
  directory: string,
  authority: Authority,
  validity: { notBeforeMillis: number; notAfterMillis: number },
): Promise<string> {
  const leaf = await issueServerCertificate(authority, {
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const certDirectory = join(directory, 'webhook-certificate');
  mkdirSync(certDirectory, { recursive: true });
  writeFileSync(join(certDirectory, 'tls.crt'), leaf.certificatePem);
  writeFileSync(join(certDirectory, 'tls.key'), leaf.privateKeyPem, { mode: 0o600 });
  return certDirectory;
}

/** deploy/rbac.yaml, unchanged. */
async function install({ api }: RealCluster): Promise<ClusterRole> {
  const objects = await readObjects('deploy/rbac.yaml');
  for (const object of objects) await applyObject(api, object);
  const role = objects.find(isClusterRole);
  if (role === undefined) throw new Error('deploy/rbac.yaml holds no ClusterRole');
  return role;
}

function isClusterRole(object: KubeObject): object is ClusterRole {
  return object.kind === 'ClusterRole' && 'rules' in object;
}

/**
 * deploy/webhook.yaml, but for the address, since no node here resolves Services, and the time it may take: these suites tell whether
 * decisions are right on a machine that runs a whole control plane beside them; how fast they are is for bench/ to say.
 */
async function register({ api }: RealCluster, port: number, { certificatePem }: Authority): Promise<void> {
  const isConfiguration = (object: KubeObject): object is MutatingWebhookConfiguration =>
    object.kind === 'MutatingWebhookConfiguration';
  const configuration = (await readObjects('deploy/webhook.yaml')).find(isConfiguration);
  const clientConfig = {
    url: `https://127.0.0.1:${port}/mutate`,
    caBundle: Buffer.from(certificatePem).toString('base64'),
  };
  const webhooks = (configuration?.webhooks ?? []).map((webhook) => ({ ...webhook, clientConfig, timeoutSeconds: 10 }));
  const registered = { ...configuration, webhooks };
  await applyObject(api, registered);
}

/** A token of the operator's account in a file, as a kubelet mounts it. */
async function tokenKubeconfig(
  { api }: RealCluster,
  { url, caPem, directory }: { url: string; caPem: string; directory: string },
): Promise<string> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: ACCOUNT },
    spec: { expirationSeconds: 3600 },
  };
  const answer = await api.createSubresource(serviceAccounts, ACCOUNT, 'token', body, { namespace: NAMESPACE });
  const status = 'status' in answer ? answer.status : undefined;
  const token = typeof status === 'object' && status !== null && 'token' in status ? String(status.token) : '';
  const tokenFile = join(directory, 'operator.token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const authorityData = Buffer.from(caPem).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': authorityData } }],
    users: [{ name: ACCOUNT, user: { tokenFile } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: ACCOUNT } }],
  });
}

/** The operator's role without its writes, for {@link READER_USER}. */
async function grantReading({ api }: RealCluster, role: ClusterRole): Promise<void> {
  const reads = new Set(['get', 'list', 'watch']);
  const rules = role.rules
    .map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => reads.has(verb)) }))
    .filter(({ verbs }) => verbs.length > 0);
  const metadata = { name: READER_USER };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const subject = { kind: 'User', name: READER_USER, apiGroup: 'rbac.authorization.k8s.io' };
  const roleRef = { kind: 'ClusterRole', name: READER_USER, apiGroup: 'rbac.authorization.k8s.io' };
  const readerRole = { apiVersion, kind: 'ClusterRole', metadata, rules };
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects: [subject] };
  await applyObject(api, readerRole);
  await applyObject(api, binding);
}
