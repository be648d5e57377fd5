/** The demo's world: the embedded cluster on real sockets, the operator on it as it runs anywhere, and an observer of both. */
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MutatingWebhookConfiguration } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { type Cluster, createCluster } from '../../cluster/cluster.ts';
import { leaseNamespaceOf } from '../../config/checks.ts';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { compilePlacementRules, type PlacementRules } from '../../controllers/placement-rules.ts';
import { loadConnection } from '../../kube/auth/load-connection.ts';
import { createKubeApi } from '../../kube/client.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLogger, type Logger } from '../../lib/log.ts';
import { createSeededRandom, type Random } from '../../lib/random.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PdbRecord } from '../../model/records.ts';
import { createLiveStores } from '../../observe/live-stores.ts';
import { createLiveView } from '../../observe/live-view.ts';
import { placementSettingsOf } from '../../operator/placement-settings.ts';
import type { RunningOperator, StartOperator } from '../operator-port.ts';
import { createActor } from './actor.ts';
import { createAdmissionFeed } from './admission-feed.ts';
import { followDecisions } from './decision-feed.ts';
import { createDemoCertificates } from './demo-certificates.ts';
import { kubeconfigText } from './demo-kubeconfig.ts';
import { demoBehaviour, demoConfigText, demoPools } from './demo-settings.ts';
import type { DecisionLine } from './frame.ts';
import type { Actor } from './story.ts';

export interface DemoWorld {
  readonly view: ClusterView;
  readonly rules: PlacementRules;
  readonly actor: Actor;
  /** For `kubectl --kubeconfig`. */
  readonly kubeconfig: string;
  budgets(): readonly PdbRecord[];
  /** Evictions the API server granted to the operator so far. */
  evictions(): number;
  /** Told of admissions and of every event of the operator. Returns the function that ends it. */
  onDecision(listener: (line: DecisionLine) => void): () => void;
  /** Rejects when the operator ends by itself. */
  readonly failed: Promise<never>;
  /** Ends everything and removes every file. */
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly startOperator: StartOperator;
}

const OPERATOR_USER = 'stowage-operator';
const ADMIN = { name: 'kubernetes-admin', groups: ['system:masters'] };

/** @throws whatever kept a part from starting; nothing is left behind then. */
export async function startWorld({ clock, seed, startOperator }: WorldOptions): Promise<DemoWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-demo-'));
  const logFile = openSync(join(folder, 'demo.log'), 'a');
  const log = createLogger({ level: 'info', format: 'json', clock, write: (line) => void writeSync(logFile, line) });
  const stopping = new AbortController();
  const listeners = new Set<(line: DecisionLine) => void>();
  const tell = (line: DecisionLine): void => {
    for (const listener of listeners) listener(line);
  };
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  // However the process ends, by a crash or a second Ctrl-C too.
  process.once('exit', removeFolder);
  const undo: (() => unknown)[] = [removeFolder, () => closeSync(logFile), () => process.off('exit', removeFolder)];
  const stop = async (): Promise<void> => {
    stopping.abort(new DOMException('the demo ends', 'AbortError'));
    for (let next = undo.pop(); next !== undefined; next = undo.pop()) await next();
  };
  try {
    return await build();
  } catch (error) {
    await stop();
    throw error;
  }

  async function build(): Promise<DemoWorld> {
    const random = createSeededRandom(seed);
    const cluster = createCluster({
      clock,
      random,
      log: log.child('cluster'),
      pools: demoPools,
      kubelet: { behaviour: demoBehaviour },
    });
    undo.push(() => cluster.stop());
    const [certificates] = await Promise.all([createDemoCertificates(clock.now()), cluster.start(stopping.signal)]);
    const { cert, key } = { cert: certificates.apiServer.certificatePem, key: certificates.apiServer.privateKeyPem };
    const listening = await cluster.server.listen({ tls: { cert, key } });
    const kubeconfigFor = (
      file: string,
      user: string,
      caller: Parameters<typeof cluster.server.authentication.addToken>[1],
    ): string => {
      const token = randomBytes(24).toString('base64url');
      cluster.server.authentication.addToken(token, caller);
      const path = join(folder, file);
      writeFileSync(path, kubeconfigText({ url: listening.url, authority: certificates.authority, user, token }), {
        mode: 0o600,
      });
      return path;
    };
    const kubeconfig = kubeconfigFor('kubeconfig', ADMIN.name, ADMIN);
    await cluster.api.create(resources.namespaces, { metadata: { name: leaseNamespaceOf(demoConfig()) } });
    const operatorApi = await connect(kubeconfigFor('operator.kubeconfig', OPERATOR_USER, OPERATOR_USER), random);
    const operator = await runOperator(operatorApi, random, certificates.webhook);
    await registerWebhook(cluster.api, operator, certificates.authority);

    const stores = createLiveStores({ api: cluster.api, clock, random, log: log.child('observer') });
    const view = createLiveView(stores);
    const admissions = createAdmissionFeed({ view, clock, emit: tell });
    view.onPod((before, after) => {
      if (before === undefined && after !== undefined) admissions.add(after);
    });
    undo.push(() => admissions.stop());
    const observing = view.run(stopping.signal);
    const events = followDecisions({ api: cluster.api, clock, random, log, emit: tell }, stopping.signal);
    undo.push(() => Promise.all([observing, events]));
    await Promise.all([operator.synced, view.onSynced]);
    return {
      view,
      rules: compilePlacementRules(placementSettingsOf(demoConfig())),
      actor: createActor(cluster),
      kubeconfig,
      budgets: () => [...stores.pdbs.store.values()],
      evictions: () => grantedEvictions(cluster),
      onDecision(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      failed: operator.ended.then(() => new Promise<never>(() => {})),
      stop,
    };
  }

  async function connect(file: string, random: Random): Promise<KubeApi> {
    const connection = await loadConnection({ kubeconfig: file, env: {}, homeDirectory: folder, clock });
    const api = createKubeApi({ connection, clock, random, log: log.child('kube') });
    undo.push(() => api.close());
    return api;
  }

  async function runOperator(
    api: KubeApi,
    random: Random,
    webhook: { readonly certificatePem: string; readonly privateKeyPem: string },
  ): Promise<RunningOperator> {
    const operator = await startOperator({
      config: demoConfig(),
      api,
      clock,
      random,
      log: operatorLog(log),
      identity: 'demo',
      keyPair: { cert: webhook.certificatePem, key: webhook.privateKeyPem },
      webhookHost: '127.0.0.1',
    });
    undo.push(() => operator.stop());
    return operator;
  }
}

function operatorLog(log: Logger): Logger {
  return log.child('operator');
}

/** The webhook takes any free port: it is registered by the one it got. A configuration file may not ask for that. */
function demoConfig(): Config {
  const { config } = loadConfig({ text: demoConfigText, fileName: 'the demo', env: {} });
  return { ...config, webhook: { ...config.webhook, port: 0 } };
}

function grantedEvictions(cluster: Cluster): number {
  return cluster.server.accessLog
    .entries()
    .filter(({ user, subresource }) => user === OPERATOR_USER && subresource === 'eviction')
    .reduce((sum, { count }) => sum + count, 0);
}

/** What the Helm chart registers, for a webhook outside the cluster. */
async function registerWebhook(api: KubeApi, operator: RunningOperator, authority: string): Promise<void> {
  // Apart, because the published type of a rule lacks `resources` and `scope`.
  const podCreations = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['pods'],
    operations: ['CREATE'],
    scope: 'Namespaced',
  };
  const configuration: MutatingWebhookConfiguration = {
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
          url: `https://127.0.0.1:${operator.ports.webhook}/mutate`,
          caBundle: Buffer.from(authority).toString('base64'),
        },
        namespaceSelector: { matchLabels: { 'spotalis.io/enabled': 'true' } },
        rules: [podCreations],
      },
    ],
  };
  await api.create(resources.mutatingWebhookConfigurations, configuration);
}
