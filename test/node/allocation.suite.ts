/** Allocation where it is at home: the agent on a real kubelet's control groups, the operator resizing real pods, a hog that takes all it can. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { type PodAllocation, podAllocations } from '../../src/api/pod-allocation.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import type { Millicores, Millis } from '../../src/lib/units.ts';
import { sumOf } from '../cluster/metrics-text.ts';
import { type OperatorProcess, podWith, startOperatorProcess } from '../cluster/operator-process.ts';
import { readLogTail } from '../controlplane/process-group.ts';
import { type AgentProcess, startAgentProcess } from './allocation/agent-process.ts';
import { installPodAllocations, uninstallPodAllocations } from './allocation/install.ts';
import { type PodWatch, watchPods } from './allocation/pod-watch.ts';
import {
  createPods,
  kernelCounters,
  type PodSize,
  quotaInForce,
  sharedPod,
  sizeOf,
  takeQuotaAway,
} from './allocation/shared-pods.ts';
import { useRealNodes } from './kit.ts';
import { SHARED_ALLOCATABLE, SHARED_NODE } from './nodes.ts';
import { getText, isReady } from './pod-access.ts';

const clock = createSystemClock();
const kit = useRealNodes();
/** What the pod that needs no more than it asked for burns. */
const QUIET: Millicores = 90;
/** In seconds. */
const [STALE_AFTER, RENEWED_AFTER] = [16, 5];
/** A pod that has just started gives nothing up: long enough for it to be ready by then, as one that is ready later counts as shaken. */
const STARTUP_GRACE: Millis = 20_000;

let namespace: string;
let agent: AgentProcess;
let operator: OperatorProcess | undefined;
let watch: PodWatch;
let lastReadyAt = 0;
/** As they started. */
const started = new Map<string, Pod>();

const cgroup = (): string => kit().access.nodes.find(({ name }) => name === SHARED_NODE)?.cgroup ?? '';
const podOf = (name: string): Pod => {
  const pod = watch.pods.get(`${namespace}/${name}`);
  if (pod === undefined) throw new Error(`there is no pod ${name}`);
  return pod;
};
const sizes = (): Record<string, PodSize> =>
  Object.fromEntries([...started.keys()].map((name) => [name, sizeOf(podOf(name))]));
const logTail = (name: string, lines: number): string => readLogTail(kit().access.runDirectory, name, lines);
const burn = (name: string, cpu: Millicores): Promise<string> =>
  getText(`http://${podOf(name).status?.podIP}:8080/set?cpu=${cpu}`);

async function start(...pods: readonly Parameters<typeof sharedPod>[1][]): Promise<void> {
  const { api, eventually } = kit();
  await createPods(
    api,
    namespace,
    pods.map((spec) => sharedPod(SHARED_NODE, spec)),
  );
  for (const { name } of pods) {
    await eventually(() => expect(isReady(podOf(name))).toBe(true));
    started.set(name, podOf(name));
    lastReadyAt = clock.now();
  }
}

async function allocationOf(name: string): Promise<PodAllocation> {
  return await kit().api.get(podAllocations, podOf(name).metadata?.uid ?? '', { namespace });
}

/** Resolves when the agent has planned so many times more. */
async function planned(times: number): Promise<void> {
  const before = await agent.plans();
  await kit().eventually(async () => expect(await agent.plans()).toBeGreaterThanOrEqual(before + times));
}

/** Resolves when so many plans have changed nothing. */
async function atRest(plans: number): Promise<void> {
  await kit().eventually(async () => {
    const before = watch.changes.length;
    await planned(plans);
    expect(watch.changes.slice(before)).toEqual([]);
  });
}

/** What the kernel gave a pod over so many seconds. */
async function used(names: readonly string[], seconds: number): Promise<Record<string, Millicores>> {
  const read = () => names.map((name) => kernelCounters(cgroup(), podOf(name)).usedMicros);
  const [before, from] = [read(), performance.now()];
  await sleep(clock, 1000 * seconds);
  const [after, until] = [read(), performance.now()];
  return Object.fromEntries(
    names.map((name, index) => [name, ((after[index] ?? 0) - (before[index] ?? 0)) / (until - from)]),
  );
}

beforeAll(async () => {
  const { api, access } = kit();
  await installPodAllocations(api, clock);
  namespace = await kit().namespace({ 'mbcas.io/managed': 'true' });
  watch = await watchPods(api, SHARED_NODE, clock);
  agent = await startAgentProcess({
    nodeName: SHARED_NODE,
    cgroup: cgroup(),
    kubeconfigPath: access.kubeconfigPath,
    directory: access.runDirectory,
    clock,
    isAlone: true,
    settings: {
      MBCAS_STARTUP_GRACE_PERIOD: `${STARTUP_GRACE / 1000}s`,
      STOWAGE_ALLOCATION_RENEW_INTERVAL: `${RENEWED_AFTER}s`,
    },
  });
});
beforeEach(() => {
  onTestFailed(() => {
    const changes = watch.changes.map((change) => JSON.stringify(change)).join('\n');
    const logs = [`agent-${SHARED_NODE}`, 'allocation-operator'].map((name) => logTail(name, 15)).join('\n');
    process.stderr.write(`sizes so far:\n${changes}\nends of the logs:\n${logs}\n`);
  });
});
afterAll(async () => {
  await agent?.stop();
  await operator?.stop();
  await watch?.stop();
  await uninstallPodAllocations(kit().api);
});

describe('the agent', () => {
  test('sees what a pod uses, and says so in a PodAllocation that belongs to the pod', async () => {
    await start(
      { name: 'quiet', request: 120, claim: QUIET, weight: 1, isBatch: false, burns: QUIET },
      { name: 'service', request: 30, claim: 60, weight: 4, isBatch: false },
      { name: 'hog', request: 180, claim: 30, weight: 1, isBatch: true },
    );
    const uid = podOf('quiet').metadata?.uid;
    const found = await kit().eventually(() => allocationOf('quiet'));
    expect(found).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Pod', name: 'quiet', uid }], labels: { 'mbcas.io/node': SHARED_NODE } },
      spec: { podName: 'quiet', podUID: uid, nodeName: SHARED_NODE, originalCPURequest: '120m' },
    });
    await kit().eventually(async () => {
      const usage = sumOf(await agent.metrics(), 'mbcas_pod_usage_milli', { pod: 'quiet' });
      expect(usage).toBeGreaterThan(0.85 * QUIET);
      expect(usage).toBeLessThan(1.15 * QUIET);
    });
  });

  test('writes about pods of its own node that take part only, and changes none', async () => {
    await kit().eventually(async () => {
      const { items } = await kit().api.list(podAllocations);
      expect(new Set(items.map(({ spec }) => spec?.podName))).toEqual(new Set(['hog', 'quiet', 'service']));
    });
    expect(watch.changes).toEqual([]);
  });
});

describe('with the operator', () => {
  const need: Millicores = 240;

  test('a pod that asked for an eighth of what it needs gets it within three plans, beside a hog', async () => {
    const { access } = kit();
    const running = await startOperatorProcess({
      name: 'allocation-operator',
      directory: access.runDirectory,
      kubeconfigPath: access.kubeconfigPath,
      clock,
      pod: podWith({
        engines: { placement: false, allocation: true },
        operator: { leaderElection: { namespace } },
        allocation: { staleAfter: `${STALE_AFTER}s`, warmUp: '0s' },
      }),
    });
    operator = running;
    await kit().eventually(async () => expect((await running.health('/readyz')).status).toBe(200));
    await sleep(clock, Math.max(0, lastReadyAt + STARTUP_GRACE - clock.now()));
    await burn('hog', 2000);
    await planned(3);
    expect((await used(['service'], 2))['service']).toBeLessThan(need / 10);
    await burn('service', need);
    // The first plan may fall right after the step and see nothing of it yet. What each asks for is carried out before the next counts.
    for (let plan = 0; plan < 4; plan++) {
      await planned(1);
      await kit().eventually(async () => {
        const { spec, status } = await allocationOf('service');
        expect(status).toMatchObject({ phase: 'Applied', appliedCPURequest: spec?.desiredCPURequest });
      });
    }
    const got = await used(['service'], 4);
    expect(got['service']).toBeGreaterThan(0.8 * need);
    expect(sizeOf(podOf('service')).request).toBeGreaterThan(need / 2);
  });

  test('the hog has a ceiling that holds, and hurts nobody', async () => {
    await kit().eventually(() => expect(sizeOf(podOf('hog')).limit).toBeDefined());
    await planned(5);
    const { limit = 0 } = sizeOf(podOf('hog'));
    const before = kernelCounters(cgroup(), podOf('hog'));
    const got = await used(['service', 'hog', 'quiet'], 5);
    const after = kernelCounters(cgroup(), podOf('hog'));
    expect(got['hog']).toBeLessThan(1.1 * limit);
    expect(after.throttledPeriods - before.throttledPeriods).toBeGreaterThan(20);
    expect(got['quiet']).toBeGreaterThan(0.85 * QUIET);
    expect(got['service']).toBeGreaterThan(0.85 * need);
    expect(sizeOf(podOf('service')).limit).toBeUndefined();
    expect(sizeOf(podOf('quiet')).limit).toBeUndefined();
  });

  test('a ceiling whose quota was taken away behind the kubelet’s back is noticed, and set anew by one resize', async () => {
    const { eventually } = kit();
    const unenforced = async () => sumOf(await agent.metrics(), 'mbcas_agent_unenforced_limits');
    await atRest(4);
    expect(await unenforced()).toBe(0);
    const { limit = 0, request } = sizeOf(podOf('hog'));
    expect(quotaInForce(cgroup(), podOf('hog'))).toBe(limit);
    const from = watch.changes.length;
    takeQuotaAway(cgroup(), podOf('hog'));
    await eventually(async () => expect(await unenforced()).toBe(1));
    expect(logTail(`agent-${SHARED_NODE}`, 5)).toContain('A CPU limit is in force no more');
    // A kubelet writes a quota where the limit changes, so by a step.
    await eventually(() => expect(quotaInForce(cgroup(), podOf('hog'))).toBe(limit + 10));
    // The node may have it before the watch tells of it.
    await eventually(() => expect(watch.changes.length).toBeGreaterThan(from));
    const [change] = watch.changes.slice(from);
    expect(change).toMatchObject({ pod: 'hog', from: { request, limit }, to: { request, limit: limit + 10 } });
    expect((await allocationOf('hog')).spec).toMatchObject({ limitPolicy: 'Apply', urgent: true });
  });

  test('under a constant load nothing is written any more', async () => {
    // The last want falls a while after the last rise.
    await atRest(8);
    expect(sumOf(await agent.metrics(), 'mbcas_agent_unenforced_limits')).toBe(0);
  });

  test('no container was restarted or replaced, and the node was never promised more than it has', () => {
    for (const [name, before] of started) {
      const [first] = before.status?.containerStatuses ?? [];
      const [now] = podOf(name).status?.containerStatuses ?? [];
      expect(now).toMatchObject({ restartCount: 0, containerID: first?.containerID });
    }
    expect(watch.changes.length).toBeGreaterThan(2);
    expect(watch.highestSum).toBeLessThanOrEqual(SHARED_ALLOCATABLE);
  });

  test('without its agent the node keeps what it has, and then gets back what it had', async () => {
    const before = sizes();
    const [changesBefore, killedAt] = [watch.changes.length, clock.now()];
    await agent.kill();
    // Nobody sees it any more.
    for (const name of started.keys()) await burn(name, 0);
    await kit().eventually(() =>
      expect(Object.entries(sizes()).map(([name, { request }]) => [name, request])).toEqual([
        ['quiet', 120],
        ['service', 30],
        ['hog', 180],
      ]),
    );
    const after = watch.changes.slice(changesBefore);
    // Each in one step, and not before the agent had been silent for its time, less what it may have been silent before.
    for (const { pod, from, at } of after) {
      expect(from).toEqual(before[pod]);
      expect(at - killedAt).toBeGreaterThan(1000 * (STALE_AFTER - RENEWED_AFTER - 1));
    }
    // A limit cannot be taken away in place: what is left allows everything.
    expect(sizeOf(podOf('hog')).limit).toBe(SHARED_ALLOCATABLE);
    expect(watch.highestSum).toBeLessThanOrEqual(SHARED_ALLOCATABLE);
    for (const name of started.keys()) expect(podOf(name).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });
});
