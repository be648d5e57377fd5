import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { aDeployment, aNode, aPod, aReplicaSet, NOON, someSettings } from '../../model/testing/records.ts';
import { judgeMove, type Move, type MoveOutcome } from './moves.ts';

const web = aDeployment();
const replicaSet = aReplicaSet(web);
const sides = createSides(someSettings().nodeClasses);
const move: Move = { workloadUid: web.uid, podUid: 'evicted', to: 'on-demand', at: NOON };
const options = { patienceMillis: 60_000, now: NOON + 120_000 };

const judge = (...pods: Partial<PodRecord>[]): MoveOutcome => judgeOf(move, pods);

function judgeOf(judged: Move, pods: readonly Partial<PodRecord>[]): MoveOutcome {
  const view = createSnapshot({
    nodes: [aNode('s', 'spot'), aNode('o', 'on-demand'), aNode('x', undefined)],
    workloads: [web],
    replicaSets: [replicaSet],
    pods: pods.map((changes, index) => aPod(replicaSet, `p${index}`, { createdAt: NOON + 2000, ...changes })),
  });
  return judgeMove(view, sides, web, judged, options);
}

describe('judgeMove', () => {
  test.each<[string, Partial<PodRecord>[], MoveOutcome]>([
    ['nothing has come yet', [], 'pending'],
    ['the replacement runs where it was meant to', [{ nodeName: 'o' }], 'landed'],
    ['it runs on the old side: the webhook did not steer it', [{ nodeName: 's' }], 'failed'],
    ['it waits for a node', [{}], 'pending'],
    ['it has waited for long', [{ unschedulableSince: NOON + 60_000 }], 'failed'],
    ['it has not waited for long', [{ unschedulableSince: NOON + 60_001 }], 'pending'],
    ['it was sent where it came from, and has no node yet', [{ capacity: 'spot' }], 'failed'],
    ['it was sent where it was meant to, and has no node yet', [{ capacity: 'on-demand' }], 'pending'],
    ['one of several is still on its way there', [{ capacity: 'spot' }, { capacity: 'on-demand' }], 'pending'],
    ['another one runs elsewhere meanwhile', [{ nodeName: 's' }, { capacity: 'on-demand' }], 'pending'],
    ['all the same, it has waited for long', [{ capacity: 'on-demand', unschedulableSince: NOON }], 'failed'],
    ['its node is of no known class', [{ nodeName: 'x' }], 'pending'],
    ['its node is not known yet', [{ nodeName: 'new' }], 'pending'],
    ['an older pod on the side meant says nothing', [{ nodeName: 'o', createdAt: NOON - 1000 }], 'pending'],
    ['the evicted pod itself says nothing', [{ nodeName: 's', uid: 'evicted' }], 'pending'],
    ['a replacement that is going says nothing', [{ nodeName: 's', deletingAt: NOON }], 'pending'],
    ['one of several landed', [{ nodeName: 's' }, { nodeName: 'o' }], 'landed'],
    ['creation times are whole seconds', [{ nodeName: 'o', createdAt: NOON - 999 }], 'landed'],
  ])('bug 21: %s', (_, pods, expected) => {
    expect(judge(...pods)).toBe(expected);
  });

  test.each<[string, Partial<PodRecord>[], MoveOutcome]>([
    ['a replacement that seems older than the move', [{ nodeName: 's', createdAt: NOON - 60_000 }], 'failed'],
    ['one that is where it was meant to', [{ nodeName: 'o', createdAt: NOON - 60_000 }], 'landed'],
    ['a pod that was there before', [{ nodeName: 's', uid: 'before', createdAt: NOON + 2000 }], 'pending'],
  ])('with a clock that is ahead, what was not there is what was made since: %s', (_, pods, expected) => {
    expect(judgeOf({ ...move, known: new Set(['evicted', 'before']) }, pods)).toBe(expected);
  });
});
