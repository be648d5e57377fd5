import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import type { EvictDecision } from '../../decide/decision.ts';
import { createDisruptionLog } from '../../guard/history.ts';
import { createSides } from '../../model/sides.ts';
import { createLiveView } from '../../observe/live-view.ts';
import { createManualStores } from '../../observe/testing/manual-stores.ts';
import { testSettings } from '../../observe/testing/placement-settings.ts';
import { createMoveTracker } from './move-tracker.ts';

const NOON = Date.UTC(2026, 0, 31, 12);
const SECOND = 1_000;
const CAPACITY = 'karpenter.sh/capacity-type';
const sides = createSides(testSettings().nodeClasses);

const decision: EvictDecision = {
  kind: 'evict',
  engine: 'placement',
  workload: { kind: 'StatefulSet', namespace: 'shop', name: 'db' },
  workloadUid: 's1',
  pod: { namespace: 'shop', name: 'db-0', uid: 'old' },
  from: 'spot',
  to: 'on-demand',
  onDemandFloor: 0,
  why: { summary: '', numbers: {} },
};

function createWorld(steersNewPods = true) {
  const stores = createManualStores();
  for (const side of ['spot', 'on-demand'])
    stores.nodes.put({ metadata: { name: side, labels: { [CAPACITY]: side } } });
  stores.statefulSets.put({
    metadata: { name: 'db', namespace: 'shop', uid: 's1' },
    spec: { selector: {}, serviceName: 'db', template: {} },
  });
  const history = createDisruptionLog({ initial: 180 * SECOND, max: 3_600 * SECOND });
  const view = createLiveView(stores);
  const tracker = createMoveTracker(history, () => steersNewPods);
  const judge = (now: number): number | undefined => {
    const workload = view.workloadByUid('s1');
    if (workload === undefined) throw new Error('no workload');
    return tracker.judge(view, sides, workload, now);
  };
  /** The pod that replaces the evicted one. */
  const replace = (fields: {
    node?: string;
    createdAt?: number;
    unschedulableAt?: number;
    uid?: string;
    steered?: boolean;
  }): void => {
    const { node, createdAt = NOON, unschedulableAt, uid = 'new', steered = false } = fields;
    const toTime = (millis: number) => new Date(millis).toISOString();
    const pod: Pod = {
      metadata: {
        name: 'db-0',
        namespace: 'shop',
        uid,
        creationTimestamp: toTime(createdAt),
        ...(steered && {
          annotations: {
            'spotalis.io/slot': '1',
            'spotalis.io/capacity': 'on-demand',
            'spotalis.io/admission-id': uid,
          },
        }),
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's1', controller: true }],
      },
      spec: { containers: [], ...(node !== undefined && { nodeName: node }) },
      status: {
        phase: 'Pending',
        ...(unschedulableAt !== undefined && {
          conditions: [
            {
              type: 'PodScheduled',
              status: 'False',
              reason: 'Unschedulable',
              lastTransitionTime: toTime(unschedulableAt),
            },
          ],
        }),
      },
    };
    stores.pods.put(pod);
  };
  const adopt = (now: number): void => {
    const workload = view.workloadByUid('s1');
    if (workload !== undefined) tracker.adopt(view, workload, now);
  };
  return { history, tracker, judge, adopt, replace };
}

describe('what the last leader moved', () => {
  const minutes = (count: number): number => NOON + count * 60 * SECOND;

  test('waits in vain where it was sent to: that counts as if it had been tried again and again until now', () => {
    const { history, adopt, judge, replace } = createWorld();
    replace({ unschedulableAt: NOON, steered: true });
    adopt(minutes(20));
    // At once, after three minutes, and after six more.
    expect(history.failedMove('s1', 'on-demand')).toEqual({ failures: 3, retryAt: minutes(21) });
    judge(minutes(20));
    adopt(minutes(20));
    expect(history.failedMove('s1', 'on-demand')?.failures).toBe(3);
    expect(history.failedMove('s1', 'spot')).toBeUndefined();
  });

  test('is forgotten when it lands after all, however long it has waited', () => {
    const { history, adopt, judge, replace } = createWorld();
    replace({ unschedulableAt: NOON, steered: true });
    adopt(minutes(600));
    expect(history.failedMove('s1', 'on-demand')?.retryAt).toBeLessThanOrEqual(minutes(660));
    replace({ node: 'on-demand', steered: true });
    judge(minutes(601));
    expect(history.failedMove('s1', 'on-demand')).toBeUndefined();
  });

  test.each([
    ['a pod that may still land', { unschedulableAt: NOON + SECOND, steered: true }],
    ['one that runs', { node: 'spot', steered: true }],
    ['one that was sent nowhere', { unschedulableAt: NOON }],
  ])('%s tells of no failure', (_, fields) => {
    const { history, adopt, replace } = createWorld();
    replace(fields);
    adopt(minutes(2));
    expect(history.failedMove('s1', 'on-demand')).toBeUndefined();
  });
});

describe('a move', () => {
  test('lands when the replacement is bound on the other side: earlier failures are forgotten', () => {
    const { history, tracker, judge, replace } = createWorld();
    history.recordFailedMove('s1', 'on-demand', NOON - 1);
    tracker.started(decision, NOON);
    replace({ node: 'on-demand' });
    judge(NOON + SECOND);
    expect(history.failedMove('s1', 'on-demand')).toBeUndefined();
  });

  test('fails when the replacement comes back where the pod was', () => {
    const { history, tracker, judge, replace } = createWorld();
    tracker.started(decision, NOON);
    replace({ node: 'spot' });
    judge(NOON + SECOND);
    expect(history.failedMove('s1', 'on-demand')).toEqual({ failures: 1, retryAt: NOON + 181 * SECOND });
  });

  test('fails when the replacement finds no place for two minutes, once; it may still land', () => {
    const { history, tracker, judge, replace } = createWorld();
    tracker.started(decision, NOON);
    replace({ unschedulableAt: NOON + SECOND });
    expect(judge(NOON + 2 * SECOND)).toBe(15 * SECOND);
    expect(history.failedMove('s1', 'on-demand')).toBeUndefined();
    expect(judge(NOON + 121 * SECOND)).toBeUndefined();
    judge(NOON + 300 * SECOND);
    expect(history.failedMove('s1', 'on-demand')?.failures).toBe(1);
    replace({ node: 'on-demand', uid: 'newer' });
    judge(NOON + 301 * SECOND);
    expect(history.failedMove('s1', 'on-demand')).toBeUndefined();
  });

  test('has failed once, also when what failed is made anew and fails as well', () => {
    const { history, tracker, judge, replace } = createWorld();
    tracker.started(decision, NOON);
    replace({ unschedulableAt: NOON + SECOND });
    judge(NOON + 121 * SECOND);
    replace({ createdAt: NOON + 130 * SECOND, unschedulableAt: NOON + 131 * SECOND, uid: 'newer' });
    expect(judge(NOON + 135 * SECOND)).toBe(15 * SECOND);
    judge(NOON + 251 * SECOND);
    expect(history.failedMove('s1', 'on-demand')?.failures).toBe(1);
  });

  test('a pod made in the second of the eviction counts, an elder one or the victim itself does not', () => {
    const { history, tracker, judge, replace } = createWorld();
    tracker.started(decision, NOON + 700);
    replace({ node: 'spot', uid: 'old' });
    judge(NOON + SECOND);
    replace({ node: 'spot', createdAt: NOON - SECOND, uid: 'elder' });
    judge(NOON + SECOND);
    expect(history.failedMove('s1', 'on-demand')).toBeUndefined();
    replace({ node: 'spot', createdAt: NOON, uid: 'new' });
    judge(NOON + SECOND);
    expect(history.failedMove('s1', 'on-demand')?.failures).toBe(1);
  });

  test('without a replacement, or without a move, there is nothing to judge', () => {
    const { tracker, judge } = createWorld();
    expect(judge(NOON)).toBeUndefined();
    tracker.started(decision, NOON);
    expect(judge(NOON + 600 * SECOND)).toBe(15 * SECOND);
    tracker.forget('s1');
    expect(judge(NOON + 600 * SECOND)).toBeUndefined();
    tracker.started(decision, NOON);
    expect(judge(NOON + 3_600 * SECOND)).toBeUndefined();
  });
});

describe('the replacement of a move', () => {
  const held = (history: ReturnType<typeof createWorld>['history']) => history.steering.missed('z', 'z')?.retryAt;

  test('that missed the webhook holds all moves before it has a node, once', () => {
    const { history, tracker, judge, replace } = createWorld();
    tracker.started(decision, NOON);
    replace({});
    judge(NOON + SECOND);
    judge(NOON + 2 * SECOND);
    expect(held(history)).toBe(NOON + 61 * SECOND);
  });

  test('that was steered and finds no place holds none, and ends the hold', () => {
    const { history, tracker, judge, replace } = createWorld();
    history.steering.recordMissed('other', { namespace: 'x', name: 'x-0', createdAt: NOON - SECOND }, 0, NOON);
    tracker.started(decision, NOON + SECOND);
    replace({ steered: true, unschedulableAt: NOON, createdAt: NOON + SECOND });
    judge(NOON + 300 * SECOND);
    expect(held(history)).toBeUndefined();
    expect(history.failedMove('s1', 'on-demand')?.failures).toBe(1);
  });

  test('that no webhook is meant to see holds none', () => {
    const { history, tracker, judge, replace } = createWorld(false);
    tracker.started(decision, NOON);
    replace({ node: 'spot' });
    judge(NOON + SECOND);
    expect(held(history)).toBeUndefined();
  });
});
