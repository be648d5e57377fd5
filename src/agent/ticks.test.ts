/** What an agent tells of its own work: samples, plans, writes, and how long they took. */
import { expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { patchesOf, type Running, START, stage } from './testing/agent-stage.ts';

const SECONDS = 20;

/** Values of a metric by its labels as they are printed; '' for none. */
function seriesOf({ metrics }: Running, name: string): Readonly<Record<string, number>> {
  const lines = metrics.render().matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, labels = '', value]) => [labels, Number(value)]));
}

/** One that needs more than it has, and one that pays for it, for {@link SECONDS}. */
async function worked(refuses: (call: number) => boolean = () => false) {
  const world = await stage();
  await world.addPod({ name: 'busy', request: 100 });
  await world.addPod({ name: 'calm', request: 500 });
  const api = world.server.client();
  let calls = 0;
  const counted: KubeApi = {
    ...api,
    async patch(type, name, patch, options) {
      if (type.plural === podAllocations.plural && refuses(++calls)) throw kubeError(409, 'Conflict', 'modified');
      return await api.patch(type, name, patch, options);
    },
  };
  const running = world.start({ api: counted });
  await world.pass(SECONDS, { busy: 400, calm: 50 });
  return { world, running };
}

test('samples and plans are counted, each with the time it took; pods are looked through only when they change', async () => {
  const { running } = await worked();
  const { samplesSinceStart, lastSampleAt } = running.agent.health();
  expect(samplesSinceStart).toBe(SECONDS + 1);
  expect(lastSampleAt).toBe(START + SECONDS * 1000);
  expect(seriesOf(running, 'mbcas_agent_samples_total')).toEqual({ '': samplesSinceStart });
  expect(seriesOf(running, 'mbcas_cgroup_read_duration_seconds_count')).toEqual({ '': samplesSinceStart });
  const steps = seriesOf(running, 'mbcas_agent_step_duration_seconds_count');
  expect(steps['loop="sample"']).toBe(samplesSinceStart);
  // One each two seconds, the first one at once.
  expect(steps['loop="plan"']).toBe(SECONDS / 2 + 1);
  expect(seriesOf(running, 'mbcas_allocation_compute_duration_seconds_count')).toEqual({ '': SECONDS / 2 + 1 });
  // No time passes within a step here.
  expect(Object.values(seriesOf(running, 'mbcas_agent_step_duration_seconds_sum'))).toEqual([0, 0]);
  const { '': discoveries = 0 } = seriesOf(running, 'mbcas_pod_discovery_duration_seconds_count');
  expect(discoveries).toBeGreaterThan(0);
  expect(discoveries).toBeLessThan(5);
});

test('the first word about a pod is given once, also while the server tells late that it is there', async () => {
  const world = await stage();
  await world.addPod({ name: 'web', request: 100 });
  const late = { kind: 'delay-events', millis: 10_000 } as const;
  world.server.faults.add({ verbs: ['watch'], resources: [podAllocations.plural], effect: late });
  world.start();
  await world.pass(19, { web: 50 });
  expect(patchesOf(world)).toBe(1);
});

test('writes are counted by what became of them, and those that change something by pod and direction', async () => {
  const { world, running } = await worked((call) => call === 1);
  const results = seriesOf(running, 'mbcas_agent_writes_total');
  expect(results).toMatchObject({ 'result="rejected"': 1, 'result="ok"': patchesOf(world) });
  const { writesSinceStart, lastWriteAt = 0 } = running.agent.health();
  expect(writesSinceStart).toBe(patchesOf(world));
  expect(lastWriteAt).toBeGreaterThan(START);
  const changes = seriesOf(running, 'mbcas_allocation_changes_total');
  expect(Object.keys(changes).toSorted()).toEqual([
    'namespace="shop",pod="busy",direction="up"',
    'namespace="shop",pod="calm",direction="down"',
  ]);
  const made = Object.values(changes).reduce((sum, count) => sum + count, 0);
  expect(seriesOf(running, 'mbcas_allocation_latency_seconds_count')).toEqual({ '': made });
  expect(seriesOf(running, 'mbcas_allocation_latency_seconds_sum')).toEqual({ '': 0 });
});
