/**
 * Allocation when somebody is gone, on a real control plane: the API server is down for a minute, the agent is restarted, killed.
 * Pods keep what they have; only an agent that stays away loses its say, and then its pods get back what they had.
 */
import { homedir } from 'node:os';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sizingKeys } from '../../src/api/annotations-sizing.ts';
import type { Event, Pod } from '../../src/api/core.ts';
import { podAllocations, RENEWED_ANNOTATION } from '../../src/api/pod-allocation.ts';
import { resources } from '../../src/api/resources.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi, type KubeClient } from '../../src/kube/client.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { type ControlPlane, startControlPlane } from '../controlplane/control-plane.ts';
import { type SimulatedNodes, startNodes } from '../controlplane/nodes.ts';
import { installPodAllocations } from '../node/allocation/install.ts';
import { type OperatorProcess, podWith, startOperatorProcess } from './operator-process.ts';

const clock = createSystemClock();
const NODE = 'shared-1';
const inShop = { namespace: 'shop' };
const STALE = 16_000;
const RENEWED = 5000;
const originals = { web: '100m', hog: '900m' } as const;
/** Millicores that they use where they get them. */
const loads = { web: 700, hog: 4000 } as const;
const names = ['web', 'hog'] as const;
const agentEnv = {
  POD_NAMESPACE: 'default',
  MBCAS_SAMPLING_INTERVAL: '500ms',
  MBCAS_FAST_LOOP_INTERVAL: '1s',
  MBCAS_STARTUP_GRACE_PERIOD: '0s',
  STOWAGE_ALLOCATION_SURPLUS_SHARE: '1',
  STOWAGE_ALLOCATION_RENEW_INTERVAL: `${RENEWED / 1000}s`,
};

// Of its own: what happens to it here must not happen to other suites.
let controlPlane: ControlPlane;
let nodes: SimulatedNodes;
let api: KubeClient;
let operator: OperatorProcess;

const eventually = <T>(assertion: () => Promise<T> | T, timeout = 150_000): Promise<T> =>
  vi.waitFor(assertion, { timeout, interval: 250 });
const startAgent = (): Promise<void> => nodes.startAgent(NODE, agentEnv, controlPlane.adminKubeconfigPath);

async function startOperator(name: string): Promise<void> {
  operator = await startOperatorProcess({
    name,
    directory: controlPlane.directory,
    kubeconfigPath: controlPlane.adminKubeconfigPath,
    clock,
    pod: podWith({
      engines: { placement: false, allocation: true },
      operator: { leaderElection: { namespace: 'default' } },
      allocation: { warmUp: '0s', staleAfter: `${STALE / 1000}s` },
    }),
  });
  await eventually(async () => expect((await operator.health('/readyz')).status).toBe(200));
}

function podOf(name: (typeof names)[number]): Pod {
  return {
    metadata: {
      name,
      labels: { app: name, 'mbcas.io/managed': 'true' },
      annotations: { 'stowage.test/cpu': `${loads[name]}m` },
    },
    spec: {
      nodeName: NODE,
      containers: [
        {
          name: 'app',
          image: 'example.test/app:1',
          resources: { requests: { cpu: originals[name], memory: '64Mi' } },
        },
      ],
    },
  };
}

const podNow = (name: string): Promise<Pod> => api.get(resources.pods, name, inShop);
const requestIn = ({ spec }: Pod): string | undefined => spec?.containers[0]?.resources?.requests?.['cpu'];
const millisOf = (pod: Pod): number => Number.parseInt(requestIn(pod) ?? '', 10);
const limitIn = ({ spec }: Pod): string | undefined => spec?.containers[0]?.resources?.limits?.['cpu'];

/** A pod's generation counts every change of its spec, also one that was taken back between two looks. */
async function states(): Promise<readonly (readonly unknown[])[]> {
  const pods = await Promise.all(names.map(podNow));
  return pods.map((pod) => [requestIn(pod), limitIn(pod), pod.metadata?.generation]);
}

beforeAll(async () => {
  const binaries = await ensureBinaries({ clock, env: process.env, report: () => undefined });
  controlPlane = await startControlPlane({ binaries, clock });
  const connection = await loadConnection({
    kubeconfig: controlPlane.adminKubeconfigPath,
    env: {},
    homeDirectory: homedir(),
    clock,
  });
  api = createKubeApi({ connection, clock, random: createSystemRandom(), log: createSilentLogger() });
  nodes = await startNodes({
    kubeconfigPath: controlPlane.adminKubeconfigPath,
    logDirectory: controlPlane.directory,
    nodes: [{ name: NODE, cpuMillis: 2000, memoryBytes: 8 * 1024 ** 3 }],
  });
  await installPodAllocations(api, clock);
  await api.create(resources.namespaces, { metadata: { name: 'shop' } });
  for (const name of names) await api.create(resources.pods, podOf(name), inShop);
  await startOperator('operator-1');
  await startAgent();
  // A service that asked for too little beside a hog. For a minute after they got ready neither gives anything up, so that for a while
  // nothing changes; then the hog gives, and the service has all it can use.
  await eventually(async () => {
    expect(millisOf(await podNow('web'))).toBeGreaterThan(loads.web);
    expect(limitIn(await podNow('hog'))).toBeDefined();
  });
  await atRest();
});
afterAll(async () => {
  await operator?.stop();
  await nodes?.stop();
  api?.close();
  await controlPlane?.stop();
});

/** Of each allocation: how often its spec has changed, and when its status was written. */
async function allocations(): Promise<readonly (readonly unknown[])[]> {
  const { items } = await api.list(podAllocations, inShop);
  return items.map(({ metadata }) => [
    metadata?.generation,
    metadata?.managedFields?.find(({ subresource }) => subresource === 'status')?.time,
  ]);
}

/** Resolves when nothing has changed for ten plans: no pod, no spec of an allocation, and so no status; but for signs of life. */
async function atRest(): Promise<void> {
  let [before, since, renewed] = ['', clock.now(), await renewal()];
  await eventually(async () => {
    const now = JSON.stringify([await states(), await allocations()]);
    if (now !== before) [before, since, renewed] = [now, clock.now(), await renewal()];
    expect(clock.now() - since).toBeGreaterThan(2.5 * RENEWED);
  });
  expect(JSON.parse(before)[1]).toHaveLength(names.length);
  expect(await renewal()).not.toEqual(renewed);
}

test('the API server is down for a minute: the pods are as they were when it is back, and nothing is given back for long after', async () => {
  const before = await states();
  await controlPlane.kill('kube-apiserver');
  await sleep(clock, 60_000);
  await controlPlane.restart('kube-apiserver');
  expect(await states()).toEqual(before);
  // It lost its lease and has ended; its kubelet starts it again.
  await eventually(() => expect(operator.isRunning()).toBe(false));
  await startOperator('operator-2');
  const renewed = await renewal();
  // The loop goes on, so sizes may change; but nobody took the silence for that of the agent: it has all it can use.
  for (const until = clock.now() + 2 * STALE; clock.now() < until; await sleep(clock, 500))
    expect(millisOf(await podNow('web'))).toBeGreaterThan(loads.web);
  expect((await api.list<Event>(resources.events, inShop)).items.map(({ reason }) => reason)).not.toContain(
    'CPURestored',
  );
  // A sign of life of the agent.
  await eventually(async () => expect(await renewal()).not.toEqual(renewed));
});

const renewal = async (): Promise<readonly unknown[]> =>
  (await api.list(podAllocations, inShop)).items.map(({ metadata }) => metadata?.annotations?.[RENEWED_ANNOTATION]);

test('the agent is restarted within the time to live: nothing happens to its pods, then or later', async () => {
  // After the outage the loop went on.
  await atRest();
  const before = await states();
  // So that all of its time is left.
  const renewed = await renewal();
  await eventually(async () => expect(await renewal()).not.toEqual(renewed));
  await nodes.killAgent(NODE);
  await sleep(clock, STALE / 4);
  await startAgent();
  await sleep(clock, 2 * STALE);
  expect(await states()).toEqual(before);
});

test('the agent is killed: nothing changes for half the time to live, then its pods get back what they had, without a restart', async () => {
  const before = await states();
  const killedAt = clock.now();
  await nodes.killAgent(NODE);
  for (;;) {
    const now = await states();
    // It may have been silent for a while when it was killed; and what was read later tells nothing of that time.
    if (clock.now() - killedAt > STALE - RENEWED - 3000) break;
    expect(now).toEqual(before);
    await sleep(clock, 500);
  }
  await eventually(async () => {
    for (const name of names) {
      const pod = await podNow(name);
      expect(requestIn(pod)).toBe(originals[name]);
      expect(pod.metadata?.annotations?.[sizingKeys.allocationOriginals]).toBeUndefined();
      expect(pod.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    }
  });
});
