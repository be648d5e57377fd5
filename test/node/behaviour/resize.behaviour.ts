/** Resizing running pods in place (KEP-1287): what is granted, what waits, what never can be. */
import { expect } from 'vitest';
import type { Pod } from '../../../src/api/core.ts';
import { resources } from '../../../src/api/resources.ts';
import { describeOnKubelets, type Stage } from './describe-on-kubelets.ts';
import { amounts, observedGenerationOf, type Resources, resizeConditions, statusOf } from './pods.ts';

/** Resolves when the pod holds exactly this and no resize is pending. */
function untilHeld({ read, eventually }: Stage, name: string, held: Readonly<Record<string, Resources>>): Promise<Pod> {
  return eventually(async () => {
    const pod = await read(name);
    for (const [container, each] of Object.entries(held))
      expect(statusOf(pod, container)).toMatchObject({ resources: each, allocatedResources: each.requests });
    expect(resizeConditions(pod)).toEqual([]);
    expect(observedGenerationOf(pod.status)).toBe(pod.metadata?.generation);
    return pod;
  });
}

function untilCondition(stage: Stage, name: string, type: string, reason: string): Promise<Pod> {
  return stage.eventually(async () => {
    const pod = await stage.read(name);
    expect(resizeConditions(pod)).toContainEqual(expect.objectContaining({ type, reason }));
    return pod;
  });
}

const start = amounts([100, 200], [64, 128]);

describeOnKubelets('resizes that are granted', (test) => {
  test.each([
    ['more CPU', amounts([200, 400], [64, 128])],
    ['less CPU', amounts([50, 100], [64, 128])],
    ['more memory', amounts([100, 200], [128, 256])],
    ['less memory', amounts([100, 200], [32, 64])],
    ['more CPU and less memory', amounts([200, 400], [32, 64])],
  ])('give %s without a restart', async (stage, _name, next) => {
    const { run, resize } = stage;
    const before = await run({ name: 'a', containers: [{ name: 'main', resources: start }] });
    const answered = await resize('a', { main: next });
    expect(answered.metadata?.generation).toBe((before.metadata?.generation ?? 0) + 1);
    const after = await untilHeld(stage, 'a', { main: next });
    expect(statusOf(after, 'main')).toMatchObject({
      containerID: statusOf(before, 'main').containerID,
      restartCount: 0,
      ready: true,
    });
    expect(after.spec?.containers[0]?.resources).toEqual(next);
  });

  test('change several containers of a pod together', async (stage) => {
    const { run, resize } = stage;
    const before = await run({
      name: 'a',
      containers: [
        { name: 'one', resources: start },
        { name: 'two', resources: start },
      ],
    });
    const next = { one: amounts([200, 400], [64, 128]), two: amounts([50, 100], [96, 192]) };
    await resize('a', next);
    const after = await untilHeld(stage, 'a', next);
    for (const name of ['one', 'two'])
      expect(statusOf(after, name).containerID).toBe(statusOf(before, name).containerID);
  });

  test('change a sidecar', async (stage) => {
    const { run, resize } = stage;
    const before = await run({
      name: 'a',
      containers: [
        { name: 'main', resources: start },
        { name: 'proxy', resources: start, isSidecar: true },
      ],
    });
    const next = amounts([150, 300], [64, 128]);
    await resize('a', { proxy: next }, 'initContainers');
    const after = await untilHeld(stage, 'a', { proxy: next, main: start });
    expect(statusOf(after, 'proxy')).toMatchObject({
      containerID: statusOf(before, 'proxy').containerID,
      restartCount: 0,
    });
  });

  test('keep a Guaranteed pod Guaranteed', async (stage) => {
    const { run, resize } = stage;
    await run({ name: 'a', containers: [{ name: 'main', resources: amounts([100, 100], [64, 64]) }] });
    const next = amounts([150, 150], [96, 96]);
    await resize('a', { main: next });
    expect((await untilHeld(stage, 'a', { main: next })).status?.qosClass).toBe('Guaranteed');
  });

  test('add a limit to a container that has none', async (stage) => {
    const { run, resize } = stage;
    await run({ name: 'a', containers: [{ name: 'main', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] });
    const next = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '300m' } };
    await resize('a', { main: next });
    await untilHeld(stage, 'a', { main: next });
  });

  test('restart a container whose policy for that resource says so, and only that one', async (stage) => {
    const { run, resize } = stage;
    const before = await run({
      name: 'a',
      containers: [
        {
          name: 'main',
          resources: start,
          resizePolicy: [
            { resourceName: 'cpu', restartPolicy: 'NotRequired' },
            { resourceName: 'memory', restartPolicy: 'RestartContainer' },
          ],
        },
        { name: 'other', resources: start },
      ],
    });
    const next = amounts([100, 200], [96, 192]);
    await resize('a', { main: next });
    const after = await untilHeld(stage, 'a', { main: next });
    expect(statusOf(after, 'main').restartCount).toBe(1);
    expect(statusOf(after, 'main').containerID).not.toBe(statusOf(before, 'main').containerID);
    expect(statusOf(after, 'other')).toMatchObject({
      restartCount: 0,
      containerID: statusOf(before, 'other').containerID,
    });
    // The other resource of the same container does not restart it.
    const more = amounts([150, 300], [96, 192]);
    await resize('a', { main: more });
    expect(statusOf(await untilHeld(stage, 'a', { main: more }), 'main').restartCount).toBe(1);
  });
});

describeOnKubelets('resizes that wait for memory', (test) => {
  test('for memory that is in use are an Error that goes on trying, until the memory is given back', async (stage) => {
    const { run, resize, read, useMemory, eventually, pass } = stage;
    const before = await run({ name: 'a', containers: [{ name: 'main', resources: amounts([100, 200], [32, 256]) }] });
    await useMemory(before, 'main', 100);
    // The kubelet compares with what it has sampled last, which on these nodes is seldom older than two seconds.
    await pass(6000);
    const next = amounts([100, 200], [32, 64]);
    await resize('a', { main: next });
    const pod = await untilCondition(stage, 'a', 'PodResizeInProgress', 'Error');
    expect(resizeConditions(pod)[0]?.message).toContain('cannot decrease memory limits: ');
    expect(statusOf(pod, 'main').resources?.limits).toMatchObject({ memory: '256Mi' });
    await useMemory(before, 'main', 1);
    await eventually(async () => {
      const after = await read('a');
      expect(statusOf(after, 'main').resources).toEqual(next);
      expect(resizeConditions(after)).toEqual([]);
    }, 150_000);
    expect(statusOf(await read('a'), 'main').containerID).toBe(statusOf(before, 'main').containerID);
  });
});

describeOnKubelets('resizes that can never be', (test) => {
  test('are Infeasible for a Guaranteed pod beside the static CPU manager; the pod keeps what it has', async (stage) => {
    const { run, resize, pinnedNode } = stage;
    const held = amounts([100, 100], [64, 64]);
    await run({ name: 'a', node: pinnedNode, containers: [{ name: 'main', resources: held }] });
    const next = amounts([200, 200], [64, 64]);
    await resize('a', { main: next });
    const pod = await untilCondition(stage, 'a', 'PodResizePending', 'Infeasible');
    expect(resizeConditions(pod)[0]?.message).toBe(
      'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
    );
    expect(statusOf(pod, 'main')).toMatchObject({ resources: held, allocatedResources: held.requests });
    expect(pod.spec?.containers[0]?.resources).toEqual(next);
  });
});

// One after the other: each fills the node.
describeOnKubelets.inOrder('resizes that wait for room', (test) => {
  /** 1000m of the node's 1500m are taken by the neighbour. */
  const crowd = async ({ run }: Stage): Promise<void> => {
    const neighbour = amounts([1000, 1000], [64, 128]);
    await Promise.all([
      run({ name: 'neighbour', containers: [{ name: 'main', resources: neighbour }] }),
      run({ name: 'a', containers: [{ name: 'main', resources: start }] }),
    ]);
  };
  const wanted = amounts([800, 800], [64, 128]);
  const deferred = async (stage: Stage): Promise<Pod> => {
    await crowd(stage);
    await stage.resize('a', { main: wanted });
    return untilCondition(stage, 'a', 'PodResizePending', 'Deferred');
  };

  test('for room on the node are Deferred, say what is missing, and change nothing', async (stage) => {
    const pod = await deferred(stage);
    expect(resizeConditions(pod)).toEqual([
      {
        type: 'PodResizePending',
        reason: 'Deferred',
        message: "Node didn't have enough resource: cpu, requested: 800, used: 1000, capacity: 1500",
      },
    ]);
    expect(statusOf(pod, 'main')).toMatchObject({ resources: start, allocatedResources: start.requests });
    expect(pod.spec?.containers[0]?.resources).toEqual(wanted);
    const condition = pod.status?.conditions?.find(({ type }) => type === 'PodResizePending');
    expect(observedGenerationOf(condition)).toBe(pod.metadata?.generation);
  });

  test('are granted when the neighbour is gone', async (stage) => {
    const { api, current } = stage;
    await deferred(stage);
    await api.delete(resources.pods, 'neighbour', { namespace: current, gracePeriodSeconds: 0 });
    await untilHeld(stage, 'a', { main: wanted });
  });

  test('are granted when the neighbour is made smaller', async (stage) => {
    await deferred(stage);
    await stage.resize('neighbour', { main: amounts([500, 500], [64, 128]) });
    await untilHeld(stage, 'a', { main: wanted });
  });

  test('end when they are taken back', async (stage) => {
    const { resize } = stage;
    await deferred(stage);
    await resize('a', { main: start });
    await untilHeld(stage, 'a', { main: start });
  });
});
