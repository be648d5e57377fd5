/** The chart on the real control plane for the tests of one suite, its operator having the rights of its account and no others. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
import { resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import type { Helm } from '../chart/helm.ts';
import {
  type Installation,
  NAMESPACE,
  prepareInstallation,
  RELEASE,
  type RunningOperator,
} from '../chart/installation.ts';
import { type AuditLog, type AuditRecord, openAuditLog } from './audit-log.ts';
import type { RealCluster } from './real-cluster.ts';

export const FULL_NAME = `${RELEASE}-stowage`;
/** Of the operator. */
export const ACCOUNT = `system:serviceaccount:${NAMESPACE}:${FULL_NAME}`;
/** Values with which moves follow each other quickly, and with which a crowded machine has time to answer the API server. */
export const FAST =
  'config.controllers.workloadTiming.cooldownPeriod=1s,config.controllers.reconcileInterval=5s,webhook.timeoutSeconds=10';

export interface InstalledChart {
  readonly installation: () => Installation;
  /** The one that runs. */
  readonly operator: () => RunningOperator;
  /** Of the present test. */
  readonly audit: () => AuditLog;
  /** Installs or upgrades with a file of values and `--set`, and starts the operator of it. */
  install(values: string, ...set: string[]): Promise<void>;
  /** The same with several files. The operator from before is gone by then: it would be refused what it has no more. */
  installWith(values: Parameters<Installation['upgrade']>[0]): Promise<void>;
  /** Starts the operator as it is installed, in place of the one that runs, until it is ready. */
  start(): Promise<void>;
  /** PEM of the authority the mutating webhook is called with, base64. */
  bundle(): Promise<string>;
  /** Requests of the operator in the present test, but for discovery, which is open to all. */
  asked(): AuditRecord[];
  /** Those of them it has no right to. */
  refused(): AuditRecord[];
}

/** Call inside `describe`. What a test installs stays for the next one to upgrade, and goes with the suite. */
export function useInstalledChart(programs: Helm, cluster: () => RealCluster): InstalledChart {
  const { own } = inject('cluster');
  let installation: Installation | undefined;
  let operator: RunningOperator | undefined;
  let audit: AuditLog | undefined;
  const present = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error('the chart is there only while tests run');
    return value;
  };

  beforeAll(async () => {
    if (own === undefined) return;
    const { adminKubeconfigPath } = cluster();
    installation = await prepareInstallation(programs, { ...own, adminKubeconfigPath }, createSystemClock());
  });
  beforeEach(() => {
    audit = openAuditLog(own?.directory ?? '');
  });
  afterEach(async () => {
    await operator?.stop();
    operator = undefined;
  });
  afterAll(() => {
    installation?.remove();
    // Waited for: the next suite installs into a namespace of that name.
    installation?.kubectl(['delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=120s']);
  });

  const start = async (): Promise<void> => {
    await operator?.stop();
    const started = await present(installation).startOperator();
    operator = started;
    await cluster().eventually(async () => {
      if (!started.isRunning()) throw new Error(`the operator ended:\n${started.log().slice(-2000)}`);
      expect(await started.readiness()).toBe(200);
    });
  };
  const installWith: InstalledChart['installWith'] = async (values) => {
    await operator?.stop();
    present(installation).upgrade(values);
    await start();
  };
  const asked = (): AuditRecord[] =>
    present(audit)
      .records()
      .filter(({ user }) => user === ACCOUNT);
  return {
    installation: () => present(installation),
    operator: () => present(operator),
    audit: () => present(audit),
    install: (values, ...set) => installWith({ values: [`charts/stowage/ci/${values}.yaml`], set: [FAST, ...set] }),
    installWith,
    start,
    async bundle() {
      const name = `${FULL_NAME}-mutating-webhook`;
      const { webhooks } = await cluster().api.get(resources.mutatingWebhookConfigurations, name);
      return webhooks?.[0]?.clientConfig.caBundle ?? '';
    },
    asked: () => asked().filter(({ resource }) => resource !== ''),
    refused: () => asked().filter(({ isAuthorized }) => !isAuthorized),
  };
}
