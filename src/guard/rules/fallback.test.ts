import { describe, expect, test } from 'vitest';
import type { FallbackDecision } from '../../decide/decision.ts';
import type { PodRecord } from '../../model/records.ts';
import { aNamespace, aPod, aStatefulSet, aTemplate, CAPACITY_TYPE, NOON } from '../../model/testing/records.ts';
import type { Subject } from '../context.ts';
import { inspect, inspectAll } from '../guard.ts';
import { evict, managed, nodes, pod, pods, type SceneChanges, scene, web, windowOf } from '../testing/scene.ts';
import { fallbackAllowed, fallbackInTurn, noneTerminatingOfSet, stillWaiting } from './fallback.ts';

const MINUTE = 60_000;

/** Spot has no room for `s3`. */
const waiting: Partial<PodRecord> = {
  nodeName: undefined,
  phase: 'Pending',
  ready: false,
  unschedulableSince: NOON - 6 * MINUTE,
  resourceVersion: '7',
};

function fallBack(changes: Partial<FallbackDecision> = {}): FallbackDecision {
  const { engine, workload, workloadUid, pod: ref, why } = evict();
  return {
    kind: 'fallback',
    engine,
    workload,
    workloadUid,
    pod: ref,
    resourceVersion: '7',
    to: 'on-demand',
    slot: 0,
    waitingSince: NOON - 6 * MINUTE,
    excess: 1,
    maxExcess: 2,
    why,
    ...changes,
  };
}

function waitingScene(changes: SceneChanges = {}, podChanges: Partial<PodRecord> = {}) {
  const records = { pods: pods.map((each) => (each.name === 's3' ? { ...each, ...waiting, ...podChanges } : each)) };
  return scene({ records, ...changes });
}

const reasonOf = (context: ReturnType<typeof scene>, decision = fallBack()) => {
  const verdict = inspect(decision, context);
  return verdict.kind === 'blocked' ? verdict.block.reason : 'approved';
};

describe('hazard H5: a fallback', () => {
  test('is approved where the pod waits and on-demand has room', () => {
    expect(reasonOf(waitingScene())).toBe('approved');
  });

  test('waits for no window, no cooldown and no rollout: a pod that never ran loses nothing', () => {
    const policy = { ...managed, window: windowOf('0 2 * * *', '1h') };
    expect(reasonOf(waitingScene({ policy, leadership: { leader: true, sinceMillis: NOON } }))).toBe('approved');
  });

  test('is approved with the webhook off, too: what comes back unsteered may run anywhere', () => {
    expect(reasonOf(waitingScene({ settings: { steersNewPods: false } }))).toBe('approved');
  });

  test.each([
    ['read-only', { settings: { readOnly: true } }, 'ReadOnly'],
    ['engine off', { settings: { enabled: false } }, 'EngineDisabled'],
    ['not the leader', { leadership: { leader: false, sinceMillis: 0 } }, 'NotLeader'],
    ['too many on their way', { waitingCovers: 50 }, 'FallbackBusy'],
  ] as const)('%s: %s', (_, changes, reason) => {
    expect(reasonOf(waitingScene(changes))).toBe(reason);
  });

  test('on-demand without room: the pod keeps waiting, as that would gain nothing (hazard H7)', () => {
    const full = nodes.filter(({ name }) => name !== 'o');
    const context = waitingScene();
    const records = { nodes: full, pods: pods.map((each) => (each.name === 's3' ? { ...each, ...waiting } : each)) };
    expect(reasonOf(context)).toBe('approved');
    expect(reasonOf(scene({ records }))).toBe('NoRoomOnSide');
  });

  test('more than the owner allows', () => {
    expect(reasonOf(waitingScene(), fallBack({ excess: 3, maxExcess: 2 }))).toBe('FallbackShare');
    expect(reasonOf(waitingScene(), fallBack({ excess: 2, maxExcess: 2 }))).toBe('approved');
  });

  test('an autoscaler that makes on-demand nodes is a place: the pod waits already', () => {
    const context = waitingScene();
    const nodeClasses = { ...context.settings.nodeClasses, provisionable: { spot: false, onDemand: true } };
    const records = {
      nodes: nodes.filter(({ name }) => name !== 'o'),
      pods: pods.map((each) => (each.name === 's3' ? { ...each, ...waiting } : each)),
    };
    expect(reasonOf(scene({ records, settings: { nodeClasses } }))).toBe('approved');
  });

  test('a pod that is gone', () => {
    expect(reasonOf(waitingScene({}, { deletingAt: NOON }))).toBe('PreconditionFailed');
  });
});

describe('still-waiting', () => {
  test.each<[string, Partial<PodRecord>]>([
    ['bound', { nodeName: 's' }],
    ['running', { phase: 'Running' }],
    ['looked at again by the scheduler', { unschedulableSince: undefined }],
    ['changed since it was decided', { resourceVersion: '8' }],
  ])('a pod that is %s is left alone', (_, changes) => {
    const context = waitingScene({}, changes);
    expect(inspectAll(fallBack(), context).map(({ rule }) => rule)).toContain(stillWaiting.name);
  });
});

describe('hazard H11: a StatefulSet', () => {
  const set = aStatefulSet({ replicas: 2 });
  const [first, second] = [aPod(set, 'db-0', { deletingAt: NOON - MINUTE }), aPod(set, 'db-1', waiting)];
  const subject: Subject = {
    decision: fallBack({ workloadUid: set.uid }),
    workload: set,
    pod: second,
    pods: [first, second],
  };

  test('never has two pods going at once', () => {
    expect(noneTerminatingOfSet.check(subject, scene())).toMatchObject({ reason: 'PodTerminating' });
  });

  test('is not held up for ever by a pod that does not end', () => {
    const later = scene({ now: NOON + 30 * MINUTE });
    expect(noneTerminatingOfSet.check(subject, later)).toBeUndefined();
  });

  test('a Deployment’s pods are not counted so', () => {
    const deployed = { ...subject, workload: web, pods: [pod('s1', 's', { deletingAt: NOON })] };
    expect(noneTerminatingOfSet.check(deployed, scene())).toBeUndefined();
  });

  test('pods kept at an old revision are not replaced by ones of the new', () => {
    const old = aStatefulSet({
      replicas: 2,
      rollout: { type: 'StatefulSet', start: 0, partition: 0, onDelete: true, orderedReady: true },
      status: { ...set.status, currentRevision: 'v1', updateRevision: 'v2' },
    });
    const template = aTemplate({
      labels: { app: 'db', 'controller-revision-hash': 'v1' },
      nodeSelector: { [CAPACITY_TYPE]: 'spot' },
    });
    const stuck = aPod(old, 'db-1', { ...waiting, uid: 'db-1', template });
    const context = scene({
      records: { namespaces: [aNamespace()], workloads: [old], replicaSets: [], pods: [stuck] },
    });
    const decision = fallBack({ workloadUid: old.uid, pod: { namespace: 'shop', name: 'db-1', uid: 'db-1' } });
    expect(inspectAll(decision, context).map(({ reason }) => reason)).toContain('RolloutInProgress');
  });
});

test('the rules of fallbacks are asked about fallbacks only', () => {
  const context = waitingScene({ waitingCovers: 1000 });
  const subject: Subject = { decision: evict(), workload: web, pod: pod('s3', 's'), pods };
  for (const rule of [stillWaiting, noneTerminatingOfSet, fallbackAllowed, fallbackInTurn]) {
    expect(rule.appliesTo).toBe('fallback');
    expect(rule.check(subject, context)).toBeUndefined();
  }
});
