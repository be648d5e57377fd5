/** Stowage installed on the real control plane as its chart says: accounts and rights, webhook behind a Service, processes of the operator. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { isNotFound } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { findHelm } from '../chart/render.ts';
import { AGENT_USER, READER_USER, STOWAGE_USER } from '../controlplane/audit-policy.ts';
import { applyObject } from './apply-objects.ts';
import { type AuditLog, openAuditLog } from './audit-log.ts';
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts';
import type { RealCluster } from './real-cluster.ts';
import {
  ACCOUNT,
  AGENT_ACCOUNT,
  accountKubeconfig,
  type BoundObject,
  CERTIFICATE_SECRET,
  NAMESPACE,
  RELEASE,
  type Release,
  type ReleaseOptions,
  renderRelease,
} from './release.ts';
import { type ServiceStandIn, startServiceStandIn } from './service-stand-in.ts';

export interface OperatorWorldOptions extends Pick<ReleaseOptions, 'agentConfig'> {
  /** Besides placement. */
  readonly engines?: ReleaseOptions['engines'];
  /** Files: somebody else issues and renews it (see {@link OperatorWorld.certDir}). Default: the operator, the chart's default, too. */
  readonly certificates?: 'self' | 'files';
  /** The suite takes rights away; otherwise it fails where an account of the chart was refused anything. */
  readonly takesRightsAway?: boolean;
}

export interface OperatorWorld {
  readonly audit: AuditLog;
  /** Where files of a test may go; removed with the control plane. */
  readonly directory: string;
  /** With certificates in files: where they lie. */
  readonly certDir: string;
  /** What `kubectl config` would hold for the operator's own account: a service-account token. */
  readonly operatorKubeconfigPath: string;
  /** The same for the agents' account. @param bound what its token is bound to; left out, to nothing. @throws Error without allocation. */
  agentKubeconfig(bound?: BoundObject): Promise<string>;
  /** Variables of the agent's container on a node. */
  agentEnv(node: string): Readonly<Record<string, string>>;
  /** Of a user who may read what the operator reads, and write nothing. */
  readonly readerKubeconfigPath: string;
  /** The operator's ClusterRole, to be applied again after a test has taken something away. */
  readonly clusterRole: ClusterRole;
  /** Starts a process of the operator and resolves at once; nothing is sent to its webhook. @param config further sections. */
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

/** The API server asks for this name, whatever address the Service leads to. */
export const WEBHOOK_NAME = `${RELEASE}.${NAMESPACE}.svc`;
const DAY_MILLIS = 86_400_000;

/** Fast enough for a test, slow enough that what is paced can be told apart. */
export const COOLDOWN_MILLIS = 2000;
const testConfig = {
  controllers: { reconcileInterval: '5s', workloadTiming: { cooldownPeriod: `${COOLDOWN_MILLIS}ms` } },
} as const;

/** Call at the top of a file or a suite, below `useRealCluster`. Everything started ends with it. */
export function useOperatorWorld(cluster: () => RealCluster, options: OperatorWorldOptions = {}): () => OperatorWorld {
  const clock = createSystemClock();
  const { own } = inject('cluster');
  const operators: OperatorProcess[] = [];
  // One process runs all suites, one after the other.
  const session = randomBytes(3).toString('hex');
  let service: ServiceStandIn | undefined;
  let release: Release | undefined;
  let world: OperatorWorld | undefined;

  beforeAll(async () => {
    if (own === undefined)
      throw new Error('an existing cluster cannot call a webhook on this machine; run without USE_EXISTING_CLUSTER');
    const { programs, missing } = await findHelm();
    if (missing !== undefined)
      throw new Error(`the chart cannot be rendered: ${missing}; name yours in STOWAGE_HELM and STOWAGE_KUBECTL`);
    const { api, eventually, kubeconfigFor } = cluster();
    const { directory } = own;
    const certDir = join(directory, 'webhook-certificate');
    const { engines = {}, certificates = 'self', agentConfig = {} } = options;
    service = await startServiceStandIn();
    const installed = renderRelease(programs, {
      engines: { placement: true, ...engines },
      config: testConfig,
      agentConfig,
      servicePort: service.port,
      ...(certificates === 'files' && { given: { certDir, authorityPem: await writeCertificate(certDir) } }),
    });
    release = installed;
    await installed.apply(api);
    const objects: readonly KubeObject[] = installed.objects;
    const clusterRole = objects.find(isOperatorsRole);
    if (clusterRole === undefined) throw new Error('the chart has no ClusterRole of the operator');
    const operatorKubeconfigPath = await accountKubeconfig(api, ACCOUNT, own);
    await grantReading(cluster(), clusterRole);

    const serveWith = (running: readonly OperatorProcess[]): void =>
      service?.setEndpoints(running.map(({ webhookPort }) => webhookPort));
    const launchOperator: OperatorWorld['launchOperator'] = async (config = {}) => {
      const operator = await startOperatorProcess({
        name: `operator-${session}-${operators.length}`,
        directory,
        kubeconfigPath: operatorKubeconfigPath,
        clock,
        pod: (ports) => installed.operatorPod(ports, config),
      });
      operators.push(operator);
      return operator;
    };
    world = {
      audit: openAuditLog(directory),
      directory,
      certDir,
      operatorKubeconfigPath,
      agentKubeconfig: (bound) => accountKubeconfig(api, AGENT_ACCOUNT, own, bound),
      agentEnv: installed.agentEnv,
      readerKubeconfigPath: await kubeconfigFor(READER_USER),
      clusterRole,
      serveWith,
      launchOperator,
      async startOperator(config) {
        const operator = await launchOperator(config);
        await eventually(async () => {
          if (!operator.isRunning()) throw new Error(`the operator ended:\n${operator.output().slice(-2000)}`);
          expect((await operator.health('/readyz')).status).toBe(200);
        });
        serveWith(operators.filter((each) => each.isRunning()));
        return operator;
      },
    };
  });

  afterAll(async () => {
    const { api } = cluster();
    await Promise.all(operators.map((operator) => operator.stop()));
    await release?.remove(api);
    await api.delete(resources.secrets, CERTIFICATE_SECRET, { namespace: NAMESPACE }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await service?.close();
    const refused = (world?.audit.records() ?? []).filter(
      ({ user, isAuthorized }) => !isAuthorized && (user === STOWAGE_USER || user === AGENT_USER),
    );
    if (!options.takesRightsAway) expect(refused).toEqual([]);
  });

  return () => {
    if (world === undefined) throw new Error('the operator is installed only while tests run');
    return world;
  };
}

/** As whoever issues the certificate of the Secret does. @returns PEM of the authority. */
async function writeCertificate(certDir: string): Promise<string> {
  const now = createSystemClock().now();
  const validity = { notBeforeMillis: now - 60_000, notAfterMillis: now + DAY_MILLIS };
  const authority = await createAuthority({ commonName: 'webhook-ca', ...validity });
  const dnsNames = [WEBHOOK_NAME];
  const leaf = await issueServerCertificate(authority, { commonName: 'webhook', dnsNames, ...validity });
  mkdirSync(certDir, { recursive: true });
  writeFileSync(join(certDir, 'tls.crt'), leaf.certificatePem);
  writeFileSync(join(certDir, 'tls.key'), leaf.privateKeyPem, { mode: 0o600 });
  return authority.certificatePem;
}

function isOperatorsRole(object: KubeObject): object is ClusterRole {
  return object.kind === 'ClusterRole' && object.metadata?.name === RELEASE && 'rules' in object;
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
