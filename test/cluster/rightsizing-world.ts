/** Rightsizing on the real control plane: both kinds of policy, simulated pods under load, a real source of their usage, the operator as a process. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { parse } from 'yaml';
import type { Event, Pod } from '../../src/api/core.ts';
import { type OptimizationPolicy, policyType } from '../../src/api/optimization-policy.ts';
import type { PolicyCondition, PolicyWorkloadStatus } from '../../src/api/optimization-policy-status.ts';
import { resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import type { Program } from '../controlplane/process-group.ts';
import { scrapeConfig } from '../controlplane/scrape-config.ts';
import { nodeProgramDirectory } from '../node/programs/ensure-programs.ts';
import { startMetricsServer, stopMetricsServer } from '../node/runtime/metrics-server.ts';
import { isExecutable } from '../programs.ts';
import { ensurePrometheus } from '../prometheus/find-prometheus.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/prometheus.ts';
import type { AuditRecord } from './audit-log.ts';
import { sumOf } from './metrics-text.ts';
import type { OperatorProcess } from './operator-process.ts';
import { type OperatorWorld, type OperatorWorldOptions, useOperatorWorld } from './operator-world.ts';
import { programFolder, type RealCluster } from './real-cluster.ts';
import {
  installPolicies,
  type LoadFields,
  loadedDeployment,
  type PolicyFields,
  policyObject,
} from './rightsizing-objects.ts';

/** Seconds where production has minutes; usage is known from the first scrapes on. */
export const rightsizingConfig = (prometheusUrl?: string, more: object = {}) => ({
  rightsizing: {
    sampleInterval: '2s',
    collectInterval: '2s',
    warmUp: '0s',
    reconcileInterval: '1s',
    canaryPeriod: '3s',
    revertWindow: '5s',
    ...(prometheusUrl !== undefined && { prometheus: { url: prometheusUrl, step: '1s', scrapeInterval: '1s' } }),
    ...more,
  },
});

/** Of every kind Stowage writes besides its memory: what it leaves alone in Recommend. */
const ownKinds: ReadonlySet<string> = new Set(['events', 'leases', 'configmaps', 'optimizationpolicies/status']);

/** {@link useOperatorWorld} with rightsizing switched on, and both definitions of policies. */
export function useRightsizingWorld(
  cluster: () => RealCluster,
  options: OperatorWorldOptions = {},
): () => OperatorWorld {
  beforeAll(async () => {
    const { api, eventually } = cluster();
    await installPolicies(api, eventually);
  });
  return useOperatorWorld(cluster, { ...options, engines: { rightsizing: true } });
}

/** A real Prometheus that scrapes the kubelets every second. */
export function usePrometheus(cluster: () => RealCluster): () => RunningPrometheus {
  let dir = '';
  let prometheus: RunningPrometheus | undefined;
  beforeAll(async () => {
    await ensurePrometheus();
    dir = programFolder('prometheus');
    const { items } = await cluster().api.list(resources.nodes);
    const { scrape_configs: scrapeConfigs } = parse(scrapeConfig(items));
    prometheus = await startPrometheus({ dir, scrapeConfigs, scrapeInterval: '1s' });
  });
  afterAll(async () => {
    await prometheus?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    if (prometheus === undefined) throw new Error('Prometheus is there only while tests run');
    return prometheus;
  };
}

/** Built by `npm run test:node`. */
export const isMetricsServerBuilt = (): boolean => isExecutable(join(nodeProgramDirectory(), 'metrics-server'));

/** The real metrics-server, scraping the kubelets every ten seconds, as the API group metrics.k8s.io. */
export function useMetricsServer(cluster: () => RealCluster): void {
  let runDirectory = '';
  let server: Program | undefined;
  beforeAll(async () => {
    runDirectory = programFolder('metrics-server');
    const [port = 0] = await findFreePorts(1);
    server = await startMetricsServer({
      api: cluster().api,
      clock: createSystemClock(),
      kubeconfigPath: cluster().adminKubeconfigPath,
      programDirectory: nodeProgramDirectory(),
      runDirectory,
      isLocal: true,
      port,
    });
  });
  afterAll(async () => {
    if (server !== undefined) await stopMetricsServer(cluster().api, server);
    rmSync(runDirectory, { recursive: true, force: true });
  });
}

/** Resolves when Prometheus knows the usage of these pods so well that their first seconds no longer count. */
export async function untilScraped(
  { eventually }: RealCluster,
  { url }: RunningPrometheus,
  namespace: string,
  pods: number,
): Promise<void> {
  const usage = `rate(container_cpu_usage_seconds_total{job="kubelet-cadvisor",namespace="${namespace}",container="app"}[4s])`;
  const query = `count(count_over_time(${usage}[1m:1s]) >= 10)`;
  await eventually(async () => {
    const answer = await (await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`)).json();
    expect(answer).toMatchObject({ data: { result: [{ value: [expect.any(Number), String(pods)] }] } });
  });
}

export async function createPolicy({ api }: RealCluster, namespace: string, fields: PolicyFields = {}): Promise<void> {
  await api.create(policyType(fields.group ?? 'optipod.io'), policyObject(namespace, fields), { namespace });
}

export function readPolicy(
  { api }: RealCluster,
  namespace: string,
  { name = 'sizes', group = 'optipod.io' }: PolicyFields = {},
): Promise<OptimizationPolicy> {
  return api.get(policyType(group), name, { namespace });
}

export async function workloadStatus(
  cluster: RealCluster,
  namespace: string,
  workload = 'web',
  fields: PolicyFields = {},
): Promise<PolicyWorkloadStatus | undefined> {
  const { status } = await readPolicy(cluster, namespace, fields);
  return status?.workloads?.find((entry) => entry.name === workload && entry.namespace === namespace);
}

export async function conditionOf(
  cluster: RealCluster,
  namespace: string,
  type: PolicyCondition['type'],
  fields: PolicyFields = {},
): Promise<PolicyCondition | undefined> {
  return (await readPolicy(cluster, namespace, fields)).status?.conditions?.find((each) => each.type === type);
}

/** Creates it and waits until its pods run. @returns them. */
export async function deployLoaded(cluster: RealCluster, namespace: string, fields: LoadFields = {}): Promise<Pod[]> {
  const { name = 'web', replicas = 2 } = fields;
  await cluster.api.create(resources.deployments, loadedDeployment(fields), { namespace, fieldManager: 'team' });
  return untilRunning(cluster, namespace, replicas, name);
}

export function untilRunning(cluster: RealCluster, namespace: string, replicas: number, app = 'web'): Promise<Pod[]> {
  return cluster.eventually(async () => {
    const pods = await podsOf(cluster, namespace, app);
    expect(pods).toHaveLength(replicas);
    for (const { status } of pods) expect(status?.containerStatuses?.[0]?.ready).toBe(true);
    return pods;
  });
}

/** Those that stay. */
export async function podsOf({ api }: RealCluster, namespace: string, app = 'web'): Promise<Pod[]> {
  const { items } = await api.list(resources.pods, { namespace, labelSelector: `app=${app}` });
  return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

export type Requests = Readonly<Record<string, string>>;

/** What container `app` of a pod asks for, holds on its node, and has got. */
export function sizesOf({ spec, status }: Pod): { asked: Requests; allocated: Requests; actual: Requests } {
  const told = status?.containerStatuses?.find(({ name }) => name === 'app');
  return {
    asked: { ...spec?.containers.find(({ name }) => name === 'app')?.resources?.requests },
    allocated: { ...told?.allocatedResources },
    actual: { ...told?.resources?.requests },
  };
}

export const restartsOf = (pods: readonly Pod[]): number =>
  pods.reduce((sum, { status }) => sum + (status?.containerStatuses?.[0]?.restartCount ?? 0), 0);

export async function eventsIn({ api }: RealCluster, namespace: string, reason: string): Promise<Event[]> {
  const { items } = await api.list<Event>(resources.events, { namespace });
  return items.filter((event) => event.reason === reason && event.action === 'Rightsize');
}

/** What the operator wrote in a namespace beyond events and the statuses of policies. */
export function workloadWrites(world: OperatorWorld, position: number, namespace: string): AuditRecord[] {
  return world.audit
    .writesSince(position)
    .filter((record) => record.namespace === namespace && !ownKinds.has(record.resource));
}

/** How often the operator has worked through policies of this name. */
export async function passesOver(operator: OperatorProcess, policy: string): Promise<number> {
  return sumOf(await operator.metrics(), 'optipod_reconciliation_duration_seconds_count', { policy });
}

/** Resolves after so many more complete passes over the policy. */
export async function untilPasses(
  { eventually }: RealCluster,
  operator: OperatorProcess,
  policy: string,
  more: number,
): Promise<void> {
  // The one under way has begun before.
  const target = (await passesOver(operator, policy)) + more + 1;
  await eventually(async () => expect(await passesOver(operator, policy)).toBeGreaterThanOrEqual(target));
}
