import { describe, expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { createDisruptionLog } from '../history.ts';
import { evict, managed, scene, web, windowOf } from '../testing/scene.ts';

describe('the window', () => {
  const at = (schedule: string, duration: string, now = NOON) =>
    inspectAll(evict(), scene({ now, policy: { ...managed, window: windowOf(schedule, duration) } }));

  test('open: go on', () => {
    expect(at('0 12 * * *', '1h')).toEqual([]);
  });

  test('hazard H29: closed: the very instant it opens, even where the window is shorter than any poll', () => {
    expect(at('30 12 * * *', '1m')).toMatchObject([
      {
        reason: 'OutsideWindow',
        message: expect.stringContaining('2026-03-02T12:30:00.000Z'),
        retryAfterMillis: 1_800_000,
      },
    ]);
    expect(at('30 12 * * *', '1m', NOON + 1_800_000)).toEqual([]);
    expect(at('30 12 * * *', '1m', NOON + 1_860_000)).toMatchObject([{ reason: 'OutsideWindow' }]);
  });

  test('none: always', () => {
    expect(inspectAll(evict(), scene())).toEqual([]);
  });

  test('one that never opens again has no time to wait for', () => {
    const never = { text: 'never', isOpen: () => false, nextChange: () => undefined };
    const [block] = inspectAll(evict(), scene({ policy: { ...managed, window: never } }));
    expect(block).toMatchObject({ reason: 'OutsideWindow', retryAfterMillis: undefined });
  });
});

describe('the cooldown', () => {
  const elapsed = (millis: number, cooldownMillis: number) => {
    const log = createDisruptionLog({ initial: 1, max: 1 });
    log.recordDisruption(web.uid, NOON - millis);
    return inspectAll(evict(), scene({ history: log, settings: { cooldownMillis } }));
  };

  test('case 47: of 60 s with 30 s gone: 30 s more', () => {
    expect(elapsed(30_000, 60_000)).toMatchObject([{ reason: 'CooldownActive', retryAfterMillis: 30_000 }]);
  });

  test('case 47: is over to the millisecond', () => {
    expect(elapsed(59_999, 60_000)).toHaveLength(1);
    expect(elapsed(60_000, 60_000)).toEqual([]);
    expect(elapsed(1, 0)).toEqual([]);
  });
});

describe('evictions under way', () => {
  const flying = (workloadUid: string, podUid = 'p') => ({ workloadUid, podUid, since: NOON - 1000 });

  test('hazard H27: one of the same workload, not seen gone yet, blocks the next', () => {
    const blocks = inspectAll(evict(), scene({ inFlight: [flying(web.uid, 's1')] }));
    expect(blocks).toMatchObject([
      { rule: 'nothing-in-flight', reason: 'PodTerminating', message: 'Pod s1 is still terminating' },
    ]);
  });

  test('where it is a restart for a size, that is what is told', () => {
    const isResizing = (podUid: string) => podUid === 's1';
    const [block] = inspectAll(evict(), scene({ inFlight: [flying(web.uid, 's1')], isResizing }));
    expect(block).toMatchObject({ reason: 'ResizeInFlight', message: 'Pod s1 is being resized' });
  });

  test('hazard H32: the cluster-wide budget holds', () => {
    const inFlight = [flying('a'), flying('b')];
    expect(inspectAll(evict(), scene({ inFlight, settings: { maxConcurrentEvictions: 2 } }))).toMatchObject([
      {
        rule: 'within-budget',
        reason: 'ConcurrencyLimit',
        message: expect.stringContaining('2 evictions are in flight in the cluster, of 2'),
      },
    ]);
    expect(inspectAll(evict(), scene({ inFlight, settings: { maxConcurrentEvictions: 3 } }))).toEqual([]);
  });
});
