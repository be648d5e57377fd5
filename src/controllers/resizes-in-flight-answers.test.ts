import { describe, expect, test } from 'vitest';
import type { ResizeOutcome } from '../act/resize-outcome.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { PodSizing } from '../model/sizing-records.ts';
import { createSizingSnapshot } from '../model/sizing-snapshot.ts';
import { aDeployment, aNode, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, smallSize } from '../model/testing/sizing-records.ts';
import { createResizesInFlight } from './resizes-in-flight.ts';
import { asked, bigger, decisionFor, pendingAs, setUp } from './testing/resize-in-flight.ts';

describe('the answer of the API server', () => {
  const refused = (isUncertain: boolean): ResizeOutcome => ({
    result: 'refused',
    action: 'retry',
    reason: 'ResizeApiTrouble',
    message: 'm',
    advice: 'a',
    retryAfterMillis: 5,
    isUncertain,
  });

  test('a refusal ends it', () => {
    const { flight } = setUp();
    const decision = decisionFor({ cpuRequest: 300 });
    flight.begin(decision);
    expect(flight.settle(decision, refused(false))).toEqual({
      kind: 'refused',
      decision,
      answer: { action: 'retry', reason: 'ResizeApiTrouble', message: 'm', advice: 'a' },
      retryAfterMillis: 5,
    });
    expect(flight.list()).toEqual([]);
  });

  test('what may have been made goes on counting until the view tells, or has told nothing for long', async () => {
    const { clock, flight, show } = setUp();
    const decision = decisionFor({ cpuRequest: 300 });
    flight.begin(decision);
    flight.settle(decision, refused(true));
    expect(flight.isResizing('web-1')).toBe(true);
    await clock.advance(119_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    expect(flight.review()).toEqual([{ kind: 'lost', decision, tookMillis: 120_000 }]);
    flight.begin(decision);
    flight.settle(decision, refused(true));
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }))] }));
    expect(flight.review()).toMatchObject([{ kind: 'done' }]);
  });

  test('a pod that is gone ends it, and an answer to another resize is none', () => {
    const { flight } = setUp();
    const decision = decisionFor({ cpuRequest: 300 });
    flight.begin(decision);
    expect(flight.settle(decisionFor({ cpuRequest: 400 }), { result: 'gone' })).toBeUndefined();
    expect(flight.isResizing('web-1')).toBe(true);
    expect(flight.settle(decision, { result: 'gone' })).toEqual({ kind: 'gone', decision });
  });
});

describe('rightsizing bug 15: a pod that keeps running out of memory', () => {
  const killed = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON };
  const withKills = (restartCount: number, running = true): Partial<PodSizing> =>
    asked({
      statuses: [aContainerStatus(aContainer({ size: bigger }), { restartCount, lastTermination: killed, running })],
    });

  test('is not believed to be well because its new size is in force', async () => {
    const { clock, flight, show, start } = setUp();
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 4, lastTermination: killed })] });
    const decision = start();
    show(withKills(4));
    expect(flight.review()).toEqual([]);
    expect(flight.isResizing('web-1')).toBe(false);
    show(withKills(5, false));
    await clock.advance(30_000);
    expect(flight.review()).toMatchObject([
      { kind: 'not-healed', decision, answer: { action: 'recreate', reason: 'ResizeInCrashLoop' } },
    ]);
    expect(flight.review()).toEqual([]);
  });

  test('is well after it has run for two minutes', async () => {
    const { clock, flight, show, start } = setUp();
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 4, lastTermination: killed })] });
    start();
    show(withKills(4));
    flight.review();
    await clock.advance(119_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    expect(flight.review()).toMatchObject([{ kind: 'done', tookMillis: 0, restarted: false }]);
  });

  test('waits in CrashLoopBackOff as its new size comes into force: its next start is no kill, the one after it is', async () => {
    const later = { ...killed, finishedAt: NOON + 60_000 };
    const inBackOff = { restartCount: 4, lastTermination: killed, running: false };
    for (const isKilledAgain of [false, true]) {
      const { clock, flight, show, start } = setUp();
      show({ statuses: [aContainerStatus(aContainer(), inBackOff)] });
      const decision = start();
      show(withKills(4, false));
      expect(flight.review()).toEqual([]);
      show(withKills(5));
      await clock.advance(60_000);
      expect(flight.review()).toEqual([]);
      const again = { restartCount: 6, lastTermination: later };
      if (isKilledAgain) show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }), again)] }));
      await clock.advance(60_000);
      expect(flight.review()).toMatchObject([{ kind: isKilledAgain ? 'not-healed' : 'done', decision }]);
    }
  });

  test('is well though another container of its restarts for a reason of its own', async () => {
    const { clock, flight, show, start } = setUp();
    const app = aContainerStatus(aContainer({ size: bigger }), { restartCount: 4, lastTermination: killed });
    const withSidecar = (restartCount: number): Partial<PodSizing> =>
      asked({ statuses: [app, aContainerStatus(aContainer({ name: 'sidecar' }), { restartCount })] });
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 4, lastTermination: killed })] });
    start();
    show(withSidecar(0));
    flight.review();
    show(withSidecar(1));
    await clock.advance(30_000);
    expect(flight.review()).toEqual([]);
    await clock.advance(90_000);
    expect(flight.review()).toMatchObject([{ kind: 'done' }]);
  });

  test('is not well while a container of it does not run', async () => {
    const { clock, flight, show, start } = setUp();
    const app = aContainerStatus(aContainer({ size: bigger }), { restartCount: 4, lastTermination: killed });
    const withSidecar = (running: boolean): Partial<PodSizing> =>
      asked({ statuses: [app, aContainerStatus(aContainer({ name: 'sidecar' }), { running })] });
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 4, lastTermination: killed })] });
    start();
    show(withSidecar(false));
    flight.review();
    await clock.advance(600_000);
    expect(flight.review()).toEqual([]);
    show(withSidecar(true));
    expect(flight.review()).toMatchObject([{ kind: 'done' }]);
  });

  test.each<[string, number, string]>([
    ['was killed once', 1, 'OOMKilled'],
    ['ended for other reasons', 9, 'Error'],
  ])('is none that %s: it is done at once', (_, restartCount, reason) => {
    const { flight, show, start } = setUp();
    const lastTermination = { ...killed, reason };
    show({ statuses: [aContainerStatus(aContainer(), { restartCount, lastTermination })] });
    start();
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }), { restartCount, lastTermination })] }));
    expect(flight.review()).toMatchObject([{ kind: 'done' }]);
  });

  test('is one that was killed twice', () => {
    const { flight, show, start } = setUp();
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 2, lastTermination: killed })] });
    start();
    show(withKills(2));
    expect(flight.review()).toEqual([]);
  });

  test('has one end only where it is resized again before it is well', async () => {
    const { clock, flight, show, start } = setUp();
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 4, lastTermination: killed })] });
    start();
    show(withKills(4));
    flight.review();
    const second = start(decisionFor({ cpuRequest: 900 }));
    await clock.advance(120_000);
    expect(flight.review().map(({ decision }) => decision)).toEqual([second]);
  });

  test('may go before it is well', () => {
    const { flight, show, start } = setUp();
    show({ statuses: [aContainerStatus(aContainer(), { restartCount: 4, lastTermination: killed })] });
    const decision = start();
    show(withKills(4));
    flight.review();
    show(undefined);
    expect(flight.review()).toEqual([{ kind: 'gone', decision }]);
  });
});

describe('what a predecessor left', () => {
  test.each([
    ['mbcas-controller', 'allocation'],
    ['optipod', 'rightsizing'],
  ])('a pending resize of %s is taken over, and taken back in time', async (manager, engine) => {
    const { clock, flight, show } = setUp();
    show(asked({ sizeManagers: [manager], resize: pendingAs('Deferred', '') }));
    expect(flight.adopt()).toMatchObject([{ engine, changes: [{ container: 'app', to: { cpuRequest: 300 } }] }]);
    expect(flight.adopt()).toEqual([]);
    expect(flight.list()).toMatchObject([{ engine }]);
    flight.review();
    await clock.advance(15_000);
    expect(flight.review()).toMatchObject([
      { kind: 'taken-back', withdrawal: { changes: [{ to: { cpuRequest: 200 } }] } },
    ]);
  });

  test('a resize is taken over where nodes may not be read', () => {
    const web = aSizedWorkload();
    const replicaSet = aReplicaSet(aDeployment({ uid: web.uid }));
    const sizing = asked({ sizeManagers: ['optipod'], resize: pendingAs('Deferred', '') });
    const view = createSizingSnapshot({
      workloads: [web],
      replicaSets: [replicaSet],
      pods: [aSizedPod(replicaSet, 'web-1', sizing, { uid: 'web-1' })],
    });
    const flight = createResizesInFlight({
      view,
      clock: createVirtualClock(NOON),
      deadlines: () => ({ deferredMillis: 1, errorMillis: 1, silenceMillis: 1 }),
    });
    expect(flight.adopt()).toMatchObject([{ pod: { uid: 'web-1' }, workloadUid: web.uid }]);
    expect(flight.adopt()).toEqual([]);
  });

  test('a resize that the kubelet is at is taken over', () => {
    const { flight, show } = setUp();
    const resize = { pending: undefined, inProgress: { error: undefined, since: NOON } };
    show(asked({ sizeManagers: ['optipod'], resize }));
    expect(flight.adopt()).toHaveLength(1);
  });

  const more = { ...bigger, memoryRequest: 2 * (bigger.memoryRequest ?? 0) };
  test.each<[string, readonly string[], PodSizing['containers'][number]['size'], readonly [number, number]]>([
    ['of a pod that allocation has sized', ['mbcas-controller'], bigger, [1, 0]],
    ['of one that both have, CPU is allocation’s', ['mbcas-controller', 'optipod'], bigger, [1, 0]],
    ['of one that both have, memory is rightsizing’s', ['mbcas-controller', 'optipod'], more, [0, 1]],
  ])('of two engines each takes over its own: %s', (_, managers, size, wanted) => {
    const replicaSet = aReplicaSet(aDeployment());
    const containers = [aContainer({ size })];
    const sizing = asked({ containers, sizeManagers: managers, resize: pendingAs('Deferred', '') });
    const pods = [aSizedPod(replicaSet, 'web-1', sizing, { uid: 'web-1' })];
    const adoptedBy = (engine: 'allocation' | 'rightsizing') =>
      createResizesInFlight({
        view: createSizingSnapshot({ pods, nodes: [aNode('n1', undefined)] }),
        clock: createVirtualClock(NOON),
        deadlines: () => ({ deferredMillis: 1, errorMillis: 1, silenceMillis: 1 }),
        engine,
      }).adopt();
    expect([adoptedBy('allocation').length, adoptedBy('rightsizing').length]).toEqual(wanted);
  });

  const { cpuRequest, memoryRequest, memoryLimit = 0 } = smallSize;
  test.each<[string, readonly string[], object, object, object]>([
    // A page more of memory in force than was asked for.
    ['CPU', ['mbcas-controller'], bigger, { memoryLimit: memoryLimit + 4096 }, { cpuRequest }],
    [
      'what is waited for',
      ['mbcas-controller', 'optipod'],
      { ...more, cpuRequest },
      { cpuLimit: 405 },
      { memoryRequest },
    ],
  ])('of what was taken over only %s is taken back, not what the node has rounded', async (...row) => {
    const [, sizeManagers, size, rounded, to] = row;
    const { clock, flight, show } = setUp();
    const statuses = [aContainerStatus(aContainer(), { actual: { ...smallSize, ...rounded } })];
    show(asked({ containers: [aContainer({ size })], statuses, sizeManagers, resize: pendingAs('Deferred', '') }));
    expect(flight.adopt()).toHaveLength(1);
    flight.review();
    await clock.advance(15_000);
    const [end] = flight.review();
    expect(end?.kind === 'taken-back' && end.withdrawal?.changes).toEqual([{ container: 'app', to }]);
  });

  test('a resize that the kubelet has not looked at yet is taken over', () => {
    const { flight, show } = setUp();
    show(asked({ sizeManagers: ['optipod'], observedGeneration: 1 }));
    expect(flight.adopt()).toHaveLength(1);
    expect(flight.review()).toEqual([]);
    expect(flight.isResizing('web-1')).toBe(true);
  });

  test.each<[string, Partial<PodSizing>]>([
    ['of another field of the spec', { sizeManagers: ['optipod'], generation: 3, observedGeneration: 2 }],
    ['of somebody else', asked({ sizeManagers: ['kubectl'], resize: pendingAs('Deferred', '') })],
    [
      'of somebody else on a pod that was ours before',
      asked({ sizeManagers: ['optipod', 'vpa-updater'], resize: pendingAs('Deferred', '') }),
    ],
    ['that is done', { sizeManagers: ['optipod'] }],
    ['that the kubelet has looked at, and says nothing of', asked({ sizeManagers: ['optipod'] })],
    [
      'of which no kubelet says what it has looked at',
      asked({ sizeManagers: ['optipod'], observedGeneration: undefined }),
    ],
  ])('a resize %s is left alone', (_, sizing) => {
    const { flight, show } = setUp();
    show(sizing);
    expect(flight.adopt()).toEqual([]);
  });
});
