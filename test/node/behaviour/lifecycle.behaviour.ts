/** A pod's life on its node: start, readiness, restarts, the end. */
import { expect } from 'vitest';
import { resources } from '../../../src/api/resources.ts';
import { describeOnKubelets } from './describe-on-kubelets.ts';
import { amounts, conditionOf, observedGenerationOf, statusOf } from './pods.ts';

const small = amounts([50, 100], [32, 64]);
const one = (name: string) => ({ name, containers: [{ name: 'main', resources: small }] });
const isTrue = { status: 'True' };
/** Seconds in which a pod that ends has to be looked at, however busy the machine is. */
const GRACE = 8;

describeOnKubelets('the life of a pod', (test) => {
  test('starts as Pending, becomes Running and Ready, and reports what its containers hold', async (stage) => {
    const { create, run, read } = stage;
    expect((await create({ ...one('first'), node: 'nowhere' })).status?.phase).toBe('Pending');
    const pod = await run(one('a'));
    expect(pod.status).toMatchObject({ phase: 'Running', qosClass: 'Burstable', hostIP: expect.any(String) });
    expect(pod.status?.podIP).toMatch(/^10\.\d+\.\d+\.\d+$/);
    for (const type of ['PodScheduled', 'PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'])
      expect(conditionOf(pod, type), type).toMatchObject(isTrue);
    expect(observedGenerationOf(pod.status)).toBe(pod.metadata?.generation);
    expect(statusOf(pod, 'main')).toMatchObject({
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: expect.any(String) } },
      resources: small,
      allocatedResources: small.requests,
    });
    expect(statusOf(await read('a'), 'main').containerID).toMatch(/^\w+:\/\/.+/);
  });

  test('is unready while its probe fails, and stays Running without a restart', async (stage) => {
    const { run, read, setReady, eventually } = stage;
    const pod = await run(one('a'));
    await setReady(pod, 'main', false);
    const unready = await eventually(async () => {
      const now = await read('a');
      expect(conditionOf(now, 'Ready')).toMatchObject({ status: 'False' });
      return now;
    });
    expect(unready.status?.phase).toBe('Running');
    for (const type of ['Ready', 'ContainersReady'])
      expect(conditionOf(unready, type)).toMatchObject({
        reason: 'ContainersNotReady',
        message: 'containers with unready status: [main]',
      });
    await setReady(pod, 'main', true);
    const again = await eventually(async () => {
      const now = await read('a');
      expect(conditionOf(now, 'Ready')).toMatchObject(isTrue);
      return now;
    });
    expect(statusOf(again, 'main').restartCount).toBe(0);
  });

  test('restarts a container that fails: the first time at once, then after a back-off that grows', async (stage) => {
    const { run, read, exit, eventually } = stage;
    const pod = await run(one('a'));
    const before = statusOf(pod, 'main').containerID;
    await exit(pod, 'main', 3);
    const restarted = await eventually(async () => {
      const now = await read('a');
      expect(statusOf(now, 'main')).toMatchObject({ restartCount: 1, ready: true });
      return now;
    });
    expect(statusOf(restarted, 'main').containerID).not.toBe(before);
    expect(statusOf(restarted, 'main').lastState).toMatchObject({
      terminated: { exitCode: 3, reason: 'Error', containerID: before },
    });
    await exit(pod, 'main', 3);
    const waiting = await eventually(async () => {
      const now = await read('a');
      expect(statusOf(now, 'main').state?.waiting?.reason).toBe('CrashLoopBackOff');
      return now;
    });
    expect(waiting.status?.phase).toBe('Running');
    expect(statusOf(waiting, 'main').state?.waiting?.message).toBe(
      `back-off 10s restarting failed container=main pod=a_${pod.metadata?.namespace}(${pod.metadata?.uid})`,
    );
  });

  test('ends as Failed or Succeeded where its policy says never to restart', async (stage) => {
    const { run, read, exit, eventually } = stage;
    for (const [name, code, phase, reason] of [
      ['failing', 2, 'Failed', 'Error'],
      ['done', 0, 'Succeeded', 'Completed'],
    ] as const) {
      const pod = await run({ ...one(name), restartPolicy: 'Never' });
      await exit(pod, 'main', code);
      const over = await eventually(async () => {
        const now = await read(name);
        expect(now.status?.phase).toBe(phase);
        return now;
      });
      expect(statusOf(over, 'main').state).toMatchObject({ terminated: { exitCode: code, reason } });
      expect(conditionOf(over, 'Ready')).toMatchObject({
        status: 'False',
        reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted',
      });
    }
  });

  test('is killed by the kernel when it uses more memory than its limit, and restarts', async (stage) => {
    const { run, read, useMemory, eventually } = stage;
    const pod = await run(one('a'));
    await useMemory(pod, 'main', 128);
    const after = await eventually(async () => {
      const now = await read('a');
      expect(statusOf(now, 'main')).toMatchObject({ restartCount: 1, ready: true });
      return now;
    });
    expect(statusOf(after, 'main').lastState).toMatchObject({ terminated: { exitCode: 137, reason: 'OOMKilled' } });
  });

  test('goes before its grace period is over when its containers end by themselves', async (stage) => {
    const { api, run, gone, current, now } = stage;
    await run({ ...one('a'), graceSeconds: 30 });
    const start = now();
    await api.delete(resources.pods, 'a', { namespace: current });
    await gone('a');
    expect(now() - start).toBeLessThan(20_000);
  });

  test('is killed after its grace period when its containers ignore the signal', async (stage) => {
    const { api, run, read, gone, current, now } = stage;
    await run({
      name: 'a',
      graceSeconds: GRACE,
      containers: [{ name: 'main', resources: small, stopMillis: 'never' }],
    });
    const start = now();
    await api.delete(resources.pods, 'a', { namespace: current });
    const leaving = await read('a');
    expect(leaving.metadata).toMatchObject({
      deletionGracePeriodSeconds: GRACE,
      deletionTimestamp: expect.any(String),
    });
    expect(leaving.status?.phase).toBe('Running');
    await gone('a');
    expect(now() - start).toBeGreaterThanOrEqual(1000 * GRACE - 500);
  });

  test('is gone after an eviction, which its condition names while it ends', async (stage) => {
    const { api, run, read, gone, current } = stage;
    await run({
      name: 'a',
      graceSeconds: GRACE,
      containers: [{ name: 'main', resources: small, stopMillis: 'never' }],
    });
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a', namespace: current } };
    await api.createSubresource(resources.pods, 'a', 'eviction', body, { namespace: current });
    expect(conditionOf(await read('a'), 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'EvictionByEvictionAPI',
    });
    await gone('a');
  });
});
