/** The product's own client, informer and leader election on a real control plane that crashes, freezes and forgets its history. */
import { homedir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ConfigMap } from '../../src/api/core.ts';
import {
  isAlreadyExists,
  isBlockedByPdb,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLargeResourceVersion,
} from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi, type KubeClient } from '../../src/kube/client.ts';
import { createInformer, type Informer } from '../../src/kube/informer.ts';
import { createLeaderElector } from '../../src/kube/leader.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { type ControlPlane, startControlPlane } from '../controlplane/control-plane.ts';
import { compactHistory, deleteStored } from '../controlplane/etcd.ts';
import { readVersions } from '../controlplane/versions.ts';

const clock = createSystemClock();
const random = createSystemRandom();
const log = createSilentLogger();
const clients: KubeClient[] = [];
// Of its own: what happens to it here must not happen to other suites.
let controlPlane: ControlPlane;
let api: KubeClient;

async function connect(kubeconfig: string): Promise<KubeClient> {
  const connection = await loadConnection({ kubeconfig, env: {}, homeDirectory: homedir(), clock });
  const client = createKubeApi({ connection, clock, random, log });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  const binaries = await ensureBinaries({ clock, env: process.env, report: () => undefined });
  controlPlane = await startControlPlane({ binaries, clock });
  api = await connect(controlPlane.adminKubeconfigPath);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await controlPlane.stop();
});

/** A client takes three quarters of a minute to notice a frozen server, wherever it runs. */
const PATIENCE_MILLIS = 150_000;
const namespace = 'default';
const eventually = <T>(assertion: () => Promise<T> | T): Promise<T> =>
  vi.waitFor(assertion, { timeout: PATIENCE_MILLIS, interval: 100 });
const configMap = (name: string, value = '1'): ConfigMap => ({
  metadata: { name, labels: { mine: '' } },
  data: { value },
});
const write = (name: string, value: string) =>
  api.patch(resources.configMaps, name, { type: 'merge', body: { data: { value } } }, { namespace });

describe('client', () => {
  test('answers are told apart by meaning', async () => {
    const created = await api.create(resources.configMaps, configMap('meaning'), { namespace });
    await expect(api.create(resources.configMaps, configMap('meaning'), { namespace })).rejects.toSatisfy(
      isAlreadyExists,
    );
    await expect(api.get(resources.configMaps, 'none', { namespace })).rejects.toSatisfy(isNotFound);
    await write('meaning', '2');
    await expect(api.replace(resources.configMaps, created, { namespace })).rejects.toSatisfy(isConflict);
    await expect(api.create(resources.configMaps, configMap('Not A Name'), { namespace })).rejects.toSatisfy(isInvalid);
    await expect(api.delete(resources.configMaps, 'meaning', { namespace, uid: 'another' })).rejects.toSatisfy(
      isConflict,
    );
    await expect(api.list(resources.configMaps, { namespace, resourceVersion: '99999999' })).rejects.toSatisfy(
      isTooLargeResourceVersion,
    );
    const stranger = await connect(await controlPlane.kubeconfigFor('stranger'));
    await expect(stranger.list(resources.pods, { namespace })).rejects.toSatisfy(isForbidden);
  });

  test('an eviction a budget forbids is told apart from throttling', async () => {
    const labels = { app: 'guarded' };
    await api.create(
      resources.pods,
      {
        metadata: { name: 'guarded', labels },
        spec: { nodeName: 'nowhere', containers: [{ name: 'main', image: 'example.test/app:1' }] },
      },
      { namespace },
    );
    await api.patch(
      resources.pods,
      'guarded',
      { type: 'strategic', body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } } },
      { namespace, subresource: 'status' },
    );
    await api.create(
      resources.podDisruptionBudgets,
      { metadata: { name: 'guarded' }, spec: { minAvailable: 1, selector: { matchLabels: labels } } },
      { namespace },
    );
    await eventually(async () => {
      const { status } = await api.get(resources.podDisruptionBudgets, 'guarded', { namespace });
      expect(status).toMatchObject({ observedGeneration: 1, currentHealthy: 1 });
    });
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'guarded' } };
    await expect(api.createSubresource(resources.pods, 'guarded', 'eviction', body, { namespace })).rejects.toSatisfy(
      isBlockedByPdb,
    );
    await api.delete(resources.pods, 'guarded', { namespace, gracePeriodSeconds: 0 });
  });

  test('a patch that names another uid is refused as invalid, not as a conflict', async () => {
    await api.create(resources.configMaps, configMap('identity'), { namespace });
    const body = { metadata: { uid: 'another' }, data: { value: '2' } };
    const patching = api.patch(resources.configMaps, 'identity', { type: 'merge', body }, { namespace });
    await expect(patching).rejects.toSatisfy(isInvalid);
  });

  test('the API server has the version its program was built from', async () => {
    const version = await api.getJson('/version');
    expect(version).toMatchObject({ gitVersion: `v${readVersions().kubernetes}` });
  });

  test('many calls at once share few connections and all succeed', async () => {
    const fast = await connect(controlPlane.adminKubeconfigPath);
    const answers = await Promise.all(Array.from({ length: 90 }, () => fast.getJson('/version')));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});

describe('informer', () => {
  let informer: Informer<ConfigMap>;
  const stopper = new AbortController();
  let running: Promise<void>;
  beforeAll(async () => {
    const type = resources.configMaps;
    informer = createInformer({
      api,
      type,
      project: (object) => object,
      clock,
      random,
      log,
      selection: { namespace },
    });
    running = informer.run(stopper.signal);
    await informer.onSynced;
  });
  afterAll(async () => {
    stopper.abort();
    await running;
  });
  const dataOf = (name: string): string | undefined => informer.store.get(`${namespace}/${name}`)?.data?.['value'];

  test('follows changes', async () => {
    await api.create(resources.configMaps, configMap('followed', 'a'), { namespace });
    await eventually(() => expect(dataOf('followed')).toBe('a'));
    await write('followed', 'b');
    await eventually(() => expect(dataOf('followed')).toBe('b'));
  });

  test('is stale while the API server is dead, and catches up after its restart', async () => {
    await controlPlane.kill('kube-apiserver');
    await eventually(() => expect(informer.freshness()).toBe('stale'));
    // What it knew stays readable.
    expect(dataOf('followed')).toBe('b');
    await controlPlane.restart('kube-apiserver');
    await eventually(() => write('followed', 'c'));
    await eventually(() => {
      expect(dataOf('followed')).toBe('c');
      expect(informer.freshness()).toBe('fresh');
    });
  });

  test('notices a frozen API server by itself, and goes on when it thaws', async () => {
    controlPlane.freeze('kube-apiserver');
    try {
      await eventually(() => expect(informer.freshness()).toBe('stale'));
    } finally {
      controlPlane.thaw('kube-apiserver');
    }
    await eventually(() => write('followed', 'd'));
    await eventually(() => {
      expect(dataOf('followed')).toBe('d');
      expect(informer.freshness()).toBe('fresh');
    });
  });

  test('lists again when its version was compacted away while it could not watch', async () => {
    await api.create(resources.configMaps, configMap('doomed'), { namespace });
    await eventually(() => expect(dataOf('doomed')).toBe('1'));
    await controlPlane.kill('kube-apiserver');
    // What another API server would have done meanwhile.
    await deleteStored(controlPlane.etcdUrl, `/registry/configmaps/${namespace}/doomed`);
    await compactHistory(controlPlane.etcdUrl);
    await controlPlane.restart('kube-apiserver');
    await eventually(() => {
      expect(dataOf('doomed')).toBeUndefined();
      expect(informer.freshness()).toBe('fresh');
    });
    expect(dataOf('followed')).toBe('d');
  });
});

describe('leader election', () => {
  /** @param patience how many times longer than the least it keeps the lease: a busy machine must not lose it by chance. */
  const elector = (identity: string, patience: number, onStarted: () => void) =>
    createLeaderElector({
      api,
      clock,
      random,
      log,
      namespace,
      name: 'election',
      identity,
      leaseDurationMillis: 5_000 * patience,
      renewDeadlineMillis: 3_000 * patience,
      retryPeriodMillis: 500,
      onStarted,
    });

  test('one of two leads, and the other takes over when the lease is released', async () => {
    const started: string[] = [];
    const [first, second] = [new AbortController(), new AbortController()];
    const one = elector('one', 10, () => void started.push('one'));
    const runOne = one.run(first.signal);
    await eventually(() => expect(one.isLeader()).toBe(true));
    const two = elector('two', 10, () => void started.push('two'));
    const runTwo = two.run(second.signal);
    await eventually(() => expect(two.leader()?.identity).toBe('one'));
    expect(two.isLeader()).toBe(false);
    first.abort();
    expect(await runOne).toBe('stopped');
    await eventually(() => expect(two.isLeader()).toBe(true));
    expect(started).toEqual(['one', 'two']);
    second.abort();
    await runTwo;
    const lease = await api.get(resources.leases, 'election', { namespace });
    expect(lease.spec?.holderIdentity ?? '').toBe('');
  });

  test('a leader that cannot renew stops leading before its lease ends', async () => {
    const stopper = new AbortController();
    const one = elector('one', 1, () => undefined);
    const run = one.run(stopper.signal);
    await eventually(() => expect(one.isLeader()).toBe(true));
    controlPlane.freeze('kube-apiserver');
    try {
      expect(await run).toBe('lost');
      expect(one.isLeader()).toBe(false);
    } finally {
      controlPlane.thaw('kube-apiserver');
    }
  });
});
