import { describe, expect, test } from 'vitest';
import type { ResizeOutcome } from '../act/resize-outcome.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { PodRecord } from '../model/records.ts';
import type { PodSizing } from '../model/sizing-records.ts';
import { createSizingSnapshot } from '../model/sizing-snapshot.ts';
import type { SizingView } from '../model/sizing-view.ts';
import { aNode, NOON } from '../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB, smallSize } from '../model/testing/sizing-records.ts';
import { createResizesInFlight } from './resizes-in-flight.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const deadlines = { deferredMillis: 15_000, errorMillis: 60_000, silenceMillis: 120_000 };
const bigger = { ...smallSize, cpuRequest: 300 };

function decisionFor(
  to: ResizeDecision['changes'][number]['to'],
  changes: Partial<ResizeDecision> = {},
): ResizeDecision {
  return {
    kind: 'resize',
    engine: 'rightsizing',
    workload: undefined,
    workloadUid: undefined,
    pod: { namespace: 'shop', name: 'web-1', uid: 'web-1' },
    changes: [{ container: 'app', to }],
    why: { summary: 'more', numbers: {} },
    ...changes,
  };
}

/** The pod with the bigger size in its spec, the old one in force, and `more`. */
const asked = (more: Partial<PodSizing> = {}): Partial<PodSizing> => {
  const container = aContainer({ size: bigger });
  return {
    containers: [container],
    statuses: [aContainerStatus(aContainer())],
    generation: 2,
    observedGeneration: 2,
    ...more,
  };
};
const pendingAs = (reason: 'Deferred' | 'Infeasible', message: string): PodSizing['resize'] => ({
  pending: { reason, message, since: NOON },
  inProgress: undefined,
});
const failing = (error: string): PodSizing['resize'] => ({ pending: undefined, inProgress: { error, since: NOON } });

function setUp() {
  const clock = createVirtualClock(NOON);
  let view: SizingView;
  const show = (sizing: Partial<PodSizing> | undefined, changes: Partial<PodRecord> = {}): void => {
    const pods = sizing === undefined ? [] : [aSizedPod(owner, 'web-1', sizing, { uid: 'web-1', ...changes })];
    view = createSizingSnapshot({ pods, nodes: [aNode('n1', undefined)] });
  };
  show({});
  const delegate: SizingView = new Proxy({} as SizingView, {
    get: (_, key: keyof SizingView) => view[key],
  });
  const flight = createResizesInFlight({ view: delegate, clock, deadlines: () => deadlines });
  const accepted: ResizeOutcome = { result: 'accepted', generation: 2 };
  const start = (decision = decisionFor({ cpuRequest: 300 })): ResizeDecision => {
    flight.begin(decision);
    flight.settle(decision, accepted);
    return decision;
  };
  return { clock, flight, show, start };
}

describe('the ordinary course', () => {
  test('it counts from before it is sent until what is in force is what was asked', async () => {
    const { clock, flight, show, start } = setUp();
    const decision = start();
    expect(flight.isResizing('web-1')).toBe(true);
    expect(flight.list()).toMatchObject([{ engine: 'rightsizing', since: NOON, changes: decision.changes }]);
    expect(flight.review()).toEqual([]);
    show(asked({ observedGeneration: 1 }));
    await clock.advance(50);
    expect(flight.review()).toEqual([]);
    show(asked({ resize: { pending: undefined, inProgress: { error: undefined, since: NOON } } }));
    expect(flight.review()).toEqual([]);
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }))] }));
    await clock.advance(50);
    expect(flight.review()).toEqual([{ kind: 'done', decision, tookMillis: 100, restarted: false }]);
    expect(flight.list()).toEqual([]);
    expect(flight.review()).toEqual([]);
  });

  test('conditions of an older spec say nothing about this one', () => {
    const { flight, show, start } = setUp();
    start();
    show(asked({ observedGeneration: 1, resize: pendingAs('Infeasible', 'of the size before') }));
    expect(flight.review()).toEqual([]);
  });

  test('CPU quota that the node rounded, and memory in pages, are close enough', () => {
    const { flight, show, start } = setUp();
    start(decisionFor({ cpuLimit: 455, memoryLimit: 300 * MIB + 1 }));
    const spec = aContainer({ size: { ...smallSize, cpuLimit: 455, memoryLimit: 300 * MIB + 1 } });
    const show2 = (cpuLimit: number, memoryLimit: number) =>
      show({
        ...asked(),
        containers: [spec],
        statuses: [aContainerStatus(spec, { actual: { ...smallSize, cpuLimit, memoryLimit } })],
      });
    show2(400, 300 * MIB);
    expect(flight.review()).toEqual([]);
    show2(460, 300 * MIB);
    expect(flight.review()).toMatchObject([{ kind: 'done' }]);
  });

  test('a container that restarted is told', () => {
    const { flight, show, start } = setUp();
    start();
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }), { restartCount: 1 })] }));
    expect(flight.review()).toMatchObject([{ kind: 'done', restarted: true }]);
  });
});

describe('ends that nobody decides', () => {
  test.each<[string, Partial<PodSizing> | undefined, Partial<PodRecord>, string]>([
    ['the pod is gone', undefined, {}, 'gone'],
    ['another pod has its name', {}, { uid: 'other' }, 'gone'],
    ['the pod is ending', asked(), { deletingAt: NOON }, 'gone'],
    [
      'somebody asked for another size',
      { containers: [aContainer({ size: { ...smallSize, cpuRequest: 250 } })], generation: 3 },
      {},
      'superseded',
    ],
  ])('%s', (_, sizing, changes, kind) => {
    const { flight, show, start } = setUp();
    const decision = start();
    show(sizing, changes);
    expect(flight.review()).toEqual([{ kind, decision }]);
    expect(flight.isResizing('web-1')).toBe(false);
  });
});

describe('what the node does not grant', () => {
  test('rightsizing bug 28: Deferred beyond the deadline is taken back to what is allocated', async () => {
    const { clock, flight, show, start } = setUp();
    const decision = start();
    show(
      asked({
        resize: pendingAs(
          'Deferred',
          "Node didn't have enough resource: cpu, requested: 300, used: 900, capacity: 1000",
        ),
      }),
    );
    await clock.advance(5_000);
    expect(flight.review()).toEqual([]);
    await clock.advance(14_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    const [end] = flight.review();
    expect(end).toMatchObject({
      kind: 'taken-back',
      decision,
      nodeName: 'n1',
      answer: { action: 'wait', reason: 'ResizeDeferred' },
    });
    expect(end?.kind === 'taken-back' && end.withdrawal).toMatchObject({
      isWithdrawal: true,
      changes: [{ container: 'app', to: { cpuRequest: 200 } }],
    });
    expect(flight.isResizing('web-1')).toBe(false);
  });

  test('a Deferred that is granted in time is done', async () => {
    const { clock, flight, show, start } = setUp();
    start();
    show(asked({ resize: pendingAs('Deferred', '') }));
    await clock.advance(10_000);
    flight.review();
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }))] }));
    await clock.advance(10_000);
    expect(flight.review()).toMatchObject([{ kind: 'done', tookMillis: 20_000 }]);
  });

  test('Infeasible is taken back at once, and says that only a new pod helps', () => {
    const { flight, show, start } = setUp();
    start();
    show(
      asked({
        resize: pendingAs(
          'Infeasible',
          'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
        ),
      }),
    );
    expect(flight.review()).toMatchObject([
      { kind: 'taken-back', answer: { action: 'recreate', reason: 'ResizeInfeasible' } },
    ]);
  });

  test('a memory limit below what is used is taken back at once', () => {
    const { flight, show, start } = setUp();
    start(decisionFor({ memoryLimit: 64 * MIB }));
    const container = aContainer({ size: { ...smallSize, memoryLimit: 64 * MIB } });
    const error =
      'cannot decrease memory limits: [attempting to set container "app" memory limit (1) below current usage (2)]';
    show(asked({ containers: [container], resize: failing(error) }));
    const [end] = flight.review();
    expect(end).toMatchObject({ kind: 'taken-back', answer: { reason: 'ResizeMemoryStillUsed' } });
    expect(end?.kind === 'taken-back' && end.withdrawal?.changes).toEqual([
      { container: 'app', to: { memoryLimit: 256 * MIB } },
    ]);
  });

  test('rightsizing bug 11: another error is the kubelet’s to retry, for a while', async () => {
    const { clock, flight, show, start } = setUp();
    start();
    show(asked({ resize: failing('runtime is busy') }));
    flight.review();
    await clock.advance(59_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', answer: { reason: 'ResizeErrorOnNode' } }]);
  });

  test('a kubelet that says nothing is not waited for for ever', async () => {
    const { clock, flight, show, start } = setUp();
    start();
    show(asked({ observedGeneration: 1 }));
    flight.review();
    await clock.advance(120_000);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', answer: { reason: 'ResizeNotSeen' } }]);
  });

  test('a withdrawal is not withdrawn', async () => {
    const { clock, flight, show, start } = setUp();
    start(decisionFor({ cpuRequest: 300 }, { isWithdrawal: true }));
    show(asked({ observedGeneration: 1 }));
    flight.review();
    await clock.advance(120_000);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', withdrawal: undefined }]);
  });

  test('a limit that was not there before cannot be taken away again', () => {
    const { flight, show, start } = setUp();
    start(decisionFor({ cpuLimit: 500 }));
    const before = aContainer({ size: { cpuRequest: 200 } });
    const after = aContainer({ size: { cpuRequest: 200, cpuLimit: 500 } });
    show(asked({ containers: [after], statuses: [aContainerStatus(before)], resize: pendingAs('Infeasible', 'no') }));
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', withdrawal: undefined }]);
  });
});

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
    expect(flight.review()).toEqual([{ kind: 'lost', decision }]);
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
    expect(flight.adopt()).toBe(1);
    expect(flight.adopt()).toBe(0);
    expect(flight.list()).toMatchObject([{ engine }]);
    flight.review();
    await clock.advance(15_000);
    expect(flight.review()).toMatchObject([
      { kind: 'taken-back', withdrawal: { changes: [{ to: { cpuRequest: 200 } }] } },
    ]);
  });

  test.each<[string, Partial<PodSizing>]>([
    ['of somebody else', asked({ sizeManagers: ['kubectl'], resize: pendingAs('Deferred', '') })],
    ['that is done', { sizeManagers: ['optipod'] }],
  ])('a resize %s is left alone', (_, sizing) => {
    const { flight, show } = setUp();
    show(sizing);
    expect(flight.adopt()).toBe(0);
  });
});
