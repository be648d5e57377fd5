/** The operator of the demo: connected, configured and registered as anywhere, with its evictions counted on the way. */
import type { MutatingWebhookConfiguration } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { leaseNamespaceOf } from '../../config/checks.ts';
import type { Config } from '../../config/schema.ts';
import { loadConnection } from '../../kube/auth/load-connection.ts';
import { createKubeApi } from '../../kube/client.ts';
import { type Clock, createMonotonicTime } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { RunningOperator, StartOperator } from '../operator-port.ts';
import type { Cleanup } from './cleanup.ts';
import type { DemoCertificates } from './demo-certificates.ts';
import { type KeptOperator, keepOperator } from './keep-operator.ts';

export interface DemoOperator {
  readonly operator: KeptOperator;
  /** Evictions the API server has granted to it so far. */
  evictions(): number;
}

export interface DemoOperatorOptions {
  /** Of the administrator, who prepares the cluster. */
  readonly admin: KubeApi;
  /** Path of the operator's own kubeconfig. */
  readonly kubeconfig: string;
  readonly config: Config;
  readonly certificates: DemoCertificates;
  readonly startOperator: StartOperator;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

const LOOPBACK = '127.0.0.1';

/** Starts the operator as an account of its own, over TLS, and registers its webhook. @throws StowageError where it cannot start. */
export async function startDemoOperator(options: DemoOperatorOptions): Promise<DemoOperator> {
  const { admin, kubeconfig, config, certificates, startOperator, clock, random, log, cleanup } = options;
  await admin.create(resources.namespaces, { metadata: { name: leaseNamespaceOf(config) } });
  const connection = await loadConnection({ kubeconfig, env: {}, homeDirectory: '', clock });
  const api = createKubeApi({ connection, clock, random, log: log.child('kube') });
  cleanup.defer(() => api.close());
  let granted = 0;
  const counted = countingEvictions(api, () => {
    granted++;
  });
  const operator = await keepOperator({
    start: (ports) =>
      startOperator({
        config: ports === undefined ? config : onPorts(config, ports),
        api: counted,
        clock,
        random,
        log: log.child('operator'),
        // The same again: the lease is its own.
        identity: 'demo',
        monotonic: createMonotonicTime(),
        keyPair: { cert: certificates.webhook.certificatePem, key: certificates.webhook.privateKeyPem },
        webhookHost: LOOPBACK,
      }),
    clock,
    log: log.child('operator'),
  });
  cleanup.defer(() => operator.stop());
  await admin.create(
    resources.mutatingWebhookConfigurations,
    webhookConfiguration(operator.ports.webhook, certificates.authority),
  );
  return { operator, evictions: () => granted };
}

/** The webhook is registered by its port, and the dashboard is open in a browser. */
function onPorts(config: Config, { webhook, dashboard }: RunningOperator['ports']): Config {
  return {
    ...config,
    webhook: { ...config.webhook, port: webhook ?? 0 },
    web: { ...config.web, bindAddress: { ...config.web.bindAddress, port: dashboard ?? 0 } },
  };
}

/** Counts what the API server grants; refused evictions (a budget, a changed pod) are none. */
function countingEvictions(api: KubeApi, onGranted: () => void): KubeApi {
  return {
    ...api,
    async createSubresource(type, name, subresource, body, options) {
      const answer = await api.createSubresource(type, name, subresource, body, options);
      if (subresource === 'eviction' && options?.dryRun !== true) onGranted();
      return answer;
    },
  };
}

/** What the Helm chart registers, for a webhook outside the cluster. */
function webhookConfiguration(port: number | undefined, authority: string): MutatingWebhookConfiguration {
  // Apart, because the published type of a rule lacks `resources` and `scope`.
  const podCreations = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['pods'],
    operations: ['CREATE'],
    scope: 'Namespaced',
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'spotalis-mutating-webhook' },
    webhooks: [
      {
        name: 'mutate.spotalis.io',
        admissionReviewVersions: ['v1'],
        sideEffects: 'NoneOnDryRun',
        failurePolicy: 'Ignore',
        // Kubernetes' own default: cluster and webhook share one event loop here, and perhaps a busy machine.
        timeoutSeconds: 10,
        clientConfig: {
          url: `https://${LOOPBACK}:${port}/mutate`,
          caBundle: Buffer.from(authority).toString('base64'),
        },
        namespaceSelector: { matchLabels: { 'spotalis.io/enabled': 'true' } },
        rules: [podCreations],
      },
    ],
  };
}
