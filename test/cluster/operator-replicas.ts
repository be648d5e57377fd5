/** Several processes of the operator behind one webhook, and what can be told of admissions from outside. */
import { expect, inject, vi } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { probeOnce } from '../controlplane/health.ts';
import { issueUserCertificate } from '../controlplane/user-access.ts';
import { parseMetrics, type Sample, sumOf } from './metrics-text.ts';
import type { OperatorProcess } from './operator-process.ts';
import type { OperatorWorld } from './operator-world.ts';
import type { RealCluster } from './real-cluster.ts';

/** Starts the processes and puts them all behind the webhook's Service; resolves when all are ready and one of them leads. */
export async function startReplicas(
  { eventually }: RealCluster,
  world: OperatorWorld,
  count: number,
  config: Readonly<Record<string, unknown>> = {},
): Promise<OperatorProcess[]> {
  const replicas: OperatorProcess[] = [];
  while (replicas.length < count) replicas.push(await world.launchOperator(config));
  await eventually(async () => {
    for (const replica of replicas) expect((await replica.health('/readyz')).status).toBe(200);
    await leaderOf(replicas);
  });
  world.serveWith(replicas);
  return replicas;
}

/** Starts as many again as have ended, as their Deployment would on a cluster; resolves when all are ready and one of them leads. */
export async function replenish(
  cluster: RealCluster,
  world: OperatorWorld,
  replicas: readonly OperatorProcess[],
): Promise<OperatorProcess[]> {
  let all = [...replicas];
  await cluster.eventually(async () => {
    const running = all.filter((replica) => replica.isRunning());
    const missing = Array.from({ length: replicas.length - running.length });
    all = [...running, ...(await Promise.all(missing.map(() => world.launchOperator())))];
    for (const replica of all) expect((await replica.health('/readyz')).status).toBe(200);
    await leaderOf(all);
  });
  world.serveWith(all);
  return all;
}

async function isLeading(replica: OperatorProcess): Promise<boolean> {
  return sumOf(await replica.metrics(), 'spotalis_leader_election_status') === 1;
}

/** @throws Error unless exactly one of the running ones leads. */
export async function leaderOf(replicas: readonly OperatorProcess[]): Promise<OperatorProcess> {
  const running = replicas.filter((replica) => replica.isRunning());
  const leads = await Promise.all(running.map(isLeading));
  const [leader, ...others] = running.filter((_, index) => leads[index]);
  if (leader === undefined || others.length > 0) throw new Error(`${others.length === 0 ? 'nobody' : 'several'} leads`);
  return leader;
}

/** As a crash ends a process; resolves when it is gone. */
export async function kill({ eventually }: RealCluster, replica: OperatorProcess): Promise<void> {
  replica.signal('SIGKILL');
  await eventually(async () => expect(replica.isRunning()).toBe(false));
}

export interface WebhookCalls {
  /** Calls the webhook answered. */
  readonly answered: number;
  /** Calls that failed, after which the pod was let in unasked (`failurePolicy: Ignore`). */
  readonly failedOpen: number;
  /** Pods the webhook kept out. */
  readonly rejected: number;
  /** Time that pods waited for the webhook, all together. */
  readonly waitedSeconds: number;
}

const WEBHOOK = 'pod.spotalis.io';

/** The API server's own counts since it started; one that is busy may take a while to tell them. */
export async function webhookCalls(): Promise<WebhookCalls> {
  const samples = await vi.waitFor(apiServerMetrics, { timeout: 150_000, interval: 250 });
  const labels = { name: WEBHOOK };
  const failedOpen = sumOf(samples, 'apiserver_admission_webhook_fail_open_count', labels);
  return {
    answered: sumOf(samples, 'apiserver_admission_webhook_request_total', labels) - failedOpen,
    failedOpen,
    rejected: sumOf(samples, 'apiserver_admission_webhook_rejection_count', labels),
    waitedSeconds: sumOf(samples, 'apiserver_admission_webhook_admission_duration_seconds_sum', labels),
  };
}

async function apiServerMetrics(): Promise<readonly Sample[]> {
  const access = inject('cluster');
  const credentials = await issueUserCertificate(access, 'metrics-reader', ['system:masters'], createSystemClock());
  if (access.own === undefined || credentials === undefined) throw new Error('an existing cluster is not ours to ask');
  const { url, caPem } = access.own;
  const { status, body } = await probeOnce({ url: `${url}/metrics`, caPem, credentials });
  if (status !== 200) throw new Error(`the API server's metrics cannot be read: ${status} ${body}`);
  return parseMetrics(body);
}

const hasAnnotation = (pod: Pod, key: string): boolean => pod.metadata?.annotations?.[key] !== undefined;
/** Came in without an answer of the webhook. */
export const isUnstamped = (pod: Pod): boolean => !hasAnnotation(pod, 'spotalis.io/capacity');
/** Decided by a replica that could not ask the leader. */
export const isUnconfirmed = (pod: Pod): boolean => hasAnnotation(pod, 'spotalis.io/unconfirmed');
