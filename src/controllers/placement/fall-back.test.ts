import { describe, expect, test } from 'vitest';
import { createEvents } from '../../act/events.ts';
import type { EvictionOutcome } from '../../act/eviction-outcome.ts';
import { createJournal } from '../../act/journal.ts';
import type { FallbackDecision } from '../../decide/decision.ts';
import { untroubledSpot } from '../../decide/placement/spot-outlook.ts';
import type { Block } from '../../guard/context.ts';
import { evict, pods, scene, web } from '../../guard/testing/scene.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { NOON } from '../../model/testing/records.ts';
import { createFallBack } from './fall-back.ts';

const MINUTE = 60_000;

const decision: FallbackDecision = {
  kind: 'fallback',
  engine: 'placement',
  workload: evict().workload,
  workloadUid: web.uid,
  pod: evict().pod,
  resourceVersion: '1',
  to: 'on-demand',
  slot: 3,
  waitingSince: NOON - 5 * MINUTE,
  excess: 1,
  maxExcess: 2,
  why: { summary: 'spot has had no room for it for 5m', numbers: { slot: 3 } },
};

function createScene(outcome: EvictionOutcome) {
  const clock = createVirtualClock(NOON);
  const notices: { readonly reason: string; readonly note: string }[] = [];
  const journal = createJournal({ clock });
  const metrics = createMetrics();
  const blocks: Block[] = [];
  const covers: string[] = [];
  let asked = 0;
  const fallBack = createFallBack({
    spot: { stateOf: () => ({ kind: 'closed', since: NOON, until: NOON + 3 * MINUTE }) },
    covers: {
      askCover: (podUid, workloadUid) => void covers.push(`ask ${podUid} ${workloadUid}`),
      withdrawCover: (podUid) => void covers.push(`withdraw ${podUid}`),
    },
    evict: async () => {
      asked++;
      covers.push('evict');
      return outcome;
    },
    blocks: { report: (_, __, block) => void blocks.push(block) },
    events: createEvents({ record: ({ reason, note }) => void notices.push({ reason, note }) }, clock, 'Place'),
    journal,
    metrics,
    log: createSilentLogger(),
  });
  const waiting = {
    nodeName: undefined,
    phase: 'Pending',
    ready: false,
    unschedulableSince: NOON - 5 * MINUTE,
  } as const;
  const records = { pods: pods.map((pod) => (pod.name === 's3' ? { ...pod, ...waiting } : pod)) };
  return {
    notices,
    blocks,
    covers,
    journal: () => journal.entries(workloadKey(web)).map(({ kind, reason }) => `${kind} ${reason}`),
    metrics: () => metrics.render(),
    asked: () => asked,
    run: (changes: Parameters<typeof scene>[0] = {}, about = decision) =>
      fallBack(web, about, scene({ records, spot: untroubledSpot, ...changes }), new AbortController().signal),
  };
}

describe('hazard H5: a fallback', () => {
  test('is told once, with how long it waited and when spot is tried again, and counted', async () => {
    const { run, notices, journal, metrics } = createScene({ result: 'evicted' });
    expect(await run()).toBeUndefined();
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatchObject({
      reason: 'FallbackToOnDemand',
      note: expect.stringMatching(/for 5m;.*after 3m/),
    });
    expect(journal()).toEqual(['done FallbackToOnDemand']);
    expect(await metrics()).toMatch(/^spotalis_fallbacks_total 1$/m);
  });

  test('hazard H27: a pod the view still shows is not asked for twice', async () => {
    const { run, asked } = createScene({ result: 'evicted' });
    await run();
    expect(await run()).toBeGreaterThan(0);
    expect(asked()).toBe(1);
    await run({ now: NOON + 10_000 });
    expect(asked()).toBe(2);
  });

  describe('one place', () => {
    const uid = 's3-again';
    const waiting = {
      nodeName: undefined,
      phase: 'Pending',
      ready: false,
      unschedulableSince: NOON - 5 * MINUTE,
    } as const;
    const records = { pods: pods.map((pod) => (pod.name === 's3' ? { ...pod, ...waiting, uid } : pod)) };
    const next = { ...decision, pod: { ...decision.pod, uid } };

    test('is recreated once a patience by the own clock, whatever another clock says of the pod', async () => {
      const { run, asked } = createScene({ result: 'evicted' });
      await run();
      expect(await run({ now: NOON + 1000, records }, next)).toBe(5 * MINUTE - 1000);
      expect(asked()).toBe(1);
      await run({ now: NOON + 5 * MINUTE, records }, next);
      expect(asked()).toBe(2);
    });

    test('does not hold up another', async () => {
      const { run, asked } = createScene({ result: 'evicted' });
      await run();
      await run({ now: NOON + 1000, records }, { ...next, slot: 2 });
      expect(asked()).toBe(2);
    });
  });

  test.each<[EvictionOutcome, boolean]>([
    [{ result: 'evicted' }, true],
    [{ result: 'unknown', message: 'broke off' }, true],
    [{ result: 'gone' }, true],
    [{ result: 'changed' }, false],
    [{ result: 'forbidden', message: 'no right to evict' }, false],
  ])('counts as cover before it is asked for; answered %j, it still does: %s', async (outcome, counts) => {
    const { run, covers } = createScene(outcome);
    await run();
    expect(covers).toEqual([`ask s3 ${web.uid}`, 'evict', ...(counts ? [] : ['withdraw s3'])]);
  });

  test('what the guards object to is reported and nothing is asked', async () => {
    const { run, blocks, asked } = createScene({ result: 'evicted' });
    expect(await run({ waitingCovers: 50 })).toBeGreaterThan(0);
    expect(blocks.map(({ reason }) => reason)).toEqual(['FallbackBusy']);
    expect(asked()).toBe(0);
  });

  test.each(['gone', 'changed'] as const)('a pod that is %s is nobody’s failure', async (result) => {
    const { run, notices, journal } = createScene({ result });
    expect(await run()).toBeUndefined();
    expect(notices).toEqual([]);
    expect(journal()).toEqual([]);
  });

  test('a busy API server is asked again when it says', async () => {
    const { run, notices } = createScene({ result: 'throttled', retryAfterMillis: 7_000 });
    expect(await run()).toBe(7_000);
    expect(notices).toEqual([]);
  });

  test('a refusal is told, and tried again', async () => {
    const { run, notices, journal } = createScene({ result: 'forbidden', message: 'no right to evict' });
    expect(await run()).toBeGreaterThan(0);
    expect(notices).toMatchObject([{ reason: 'EvictionFailed', note: expect.stringContaining('no right to evict') }]);
    expect(journal()).toEqual(['failed EvictionFailed']);
  });
});
