import { describe, expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import type { ResizeOutcome } from '../../act/resize-outcome.ts';
import { replicaSet, resize, type SizeSceneChanges, sizeScene } from '../../guard/size/testing/size-scene.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { PodSizing } from '../../model/sizing-records.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, smallSize } from '../../model/testing/sizing-records.ts';
import type { ResizeEnd } from '../resizes-in-flight.ts';
import { createGuardedResize, type GuardedResizeOptions } from './guarded-resize.ts';

const deferred: PodSizing['resize'] = {
  pending: { reason: 'Deferred', message: 'no room', since: NOON },
  inProgress: undefined,
};
const containers = [aContainer({ size: { ...smallSize, cpuRequest: 300 } })];
/** Asks for 300m and has 200m. */
const waiting: Partial<PodSizing> = {
  containers,
  statuses: [aContainerStatus(aContainer())],
  resize: deferred,
};
const back: SizeChange[] = [{ container: 'app', to: { cpuRequest: 200 } }];

/** A resize of web-1 that its node has deferred for too long; what it is asked back with is sent at the first review. */
function setUp() {
  const clock = createVirtualClock(NOON);
  const ends: ResizeEnd[] = [
    {
      kind: 'taken-back',
      decision: resize(),
      tookMillis: 1000,
      answer: answer('ResizeDeferred', 'wait', 'no room'),
      nodeName: 'n1',
      withdrawal: resize({ changes: back, isWithdrawal: true }),
    },
  ];
  const sent: (readonly SizeChange[])[] = [];
  const now = {
    scene: {} as SizeSceneChanges,
    sizing: waiting,
    outcome: { result: 'accepted', generation: 3 } as ResizeOutcome,
    isResizing: false,
  };
  const sceneNow = () =>
    sizeScene({ ...now.scene, records: { pods: [aSizedPod(replicaSet, 'web-1', now.sizing, { uid: 'web-1' })] } });
  const guarded = createGuardedResize({
    view: { pod: (namespace: string, name: string) => sceneNow().view.pod(namespace, name) },
    inFlight: {
      begin: () => {},
      isResizing: () => now.isResizing,
      settle: (decision: unknown, outcome: ResizeOutcome) =>
        outcome.result === 'refused' ? { kind: 'refused', decision, answer: outcome } : undefined,
      review: () => ends.splice(0),
    },
    lessons: { noteRefusal: () => {}, noteEnd: () => {} },
    contextFor: sceneNow,
    resize: async ({ decision }: { decision: { changes: readonly SizeChange[] } }) => {
      sent.push(decision.changes);
      return now.outcome;
    },
    onEnd: () => {},
    metrics: createMetrics(),
    clock,
    log: createSilentLogger(),
  } as unknown as GuardedResizeOptions);
  const review = () => guarded.review(new AbortController().signal);
  return { now, sent, review, clock };
}

const refusal = (action: 'retry' | 'give-up'): ResizeOutcome => ({
  result: 'refused',
  ...answer('ResizeApiTrouble', action, 'no'),
  retryAfterMillis: undefined,
  isUncertain: false,
});
const blocked: SizeSceneChanges = { settings: { readOnly: true } };

describe('what a node does not grant is taken back', () => {
  test('later, where a guard objects at that moment: the room would be held for ever', async () => {
    const { now, sent, review, clock } = setUp();
    now.scene = blocked;
    await review();
    now.scene = {};
    await clock.advance(14_999);
    await review();
    expect(sent).toEqual([]);
    await clock.advance(1);
    await review();
    expect(sent).toEqual([back]);
    await clock.advance(600_000);
    await review();
    expect(sent).toHaveLength(1);
  });

  test('again and again, with growing pauses, where the API server has trouble; what it refuses for good is let be', async () => {
    const { now, sent, review, clock } = setUp();
    now.outcome = refusal('retry');
    await review();
    for (const [afterMillis, times] of [
      [15_000, 2],
      [29_999, 2],
      [1, 3],
    ] as const) {
      await clock.advance(afterMillis);
      await review();
      expect(sent).toHaveLength(times);
    }
    now.outcome = refusal('give-up');
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(60_000);
      await review();
    }
    expect(sent).toHaveLength(4);
  });

  test.each<[string, Partial<PodSizing>]>([
    ['it was granted meanwhile', { containers }],
    ['somebody else has sized the pod', { ...waiting, sizeManagers: ['optipod', 'kubectl'] }],
  ])('not where %s', async (_, sizing) => {
    const { now, sent, review, clock } = setUp();
    now.scene = blocked;
    await review();
    now.scene = {};
    now.sizing = sizing;
    await clock.advance(15_000);
    await review();
    now.sizing = waiting;
    await clock.advance(600_000);
    await review();
    expect(sent).toEqual([]);
  });

  test('not before it has shown whether the one that broke off was made', async () => {
    const { now, sent, review, clock } = setUp();
    now.outcome = refusal('retry');
    await review();
    now.isResizing = true;
    await clock.advance(60_000);
    await review();
    expect(sent).toHaveLength(1);
    now.isResizing = false;
    await review();
    expect(sent).toHaveLength(2);
  });
});
