import { describe, expect, test } from 'vitest';
import type { ResizeDecision, SizeDecision } from '../../../decide/size-decision.ts';
import { NOON } from '../../../model/testing/records.ts';
import { MIB } from '../../../model/testing/sizing-records.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import { ADMISSION } from '../size-history.ts';
import {
  aSizeLog,
  evictToResize,
  hourFrom,
  inFlight,
  reasonsFor,
  resize,
  retemplate,
  type SizeSceneChanges,
  sizeScene,
  web,
  withPod,
} from '../testing/size-scene.ts';

describe('time and pace', () => {
  const first = (decision: SizeDecision, changes: SizeSceneChanges) => inspectSizeAll(decision, sizeScene(changes))[0];

  test('the window is kept, for templates too; what takes back is not held by it', () => {
    const policy = { window: hourFrom('0 13 * * *') };
    expect(first(resize(), { policy })).toMatchObject({ reason: 'OutsideUpdateWindow', retryAfterMillis: 3_600_000 });
    expect(reasonsFor(retemplate(), { policy })).toEqual(['OutsideUpdateWindow']);
    expect(reasonsFor(evictToResize, { policy })).toEqual(['OutsideUpdateWindow']);
    for (const back of [
      resize({ isRestore: true }),
      retemplate({ isRestore: true }),
      { ...evictToResize, isRestore: true },
    ])
      expect(reasonsFor(back, { policy })).toEqual([]);
    expect(reasonsFor(resize(), { policy: { window: hourFrom('0 12 * * *') } })).toEqual([]);
  });

  test('the cooldown is of the pod for a resize, of the workload for a template', () => {
    const history = aSizeLog();
    history.recordChange('web-1', NOON - 60_000);
    expect(first(resize(), { history })).toMatchObject({ reason: 'ChangeCooldown', retryAfterMillis: 540_000 });
    expect(reasonsFor(retemplate(), { history })).toEqual([]);
    expect(reasonsFor(resize({ isFunding: true, engine: 'allocation' }), { history })).toEqual([]);
    expect(reasonsFor(resize(), { history, policy: { cooldownMillis: 60_000 } })).toEqual([]);
  });

  test('a failure is followed by a pause that doubles', () => {
    const history = aSizeLog();
    history.recordFailure('web-1', NOON - 30_000, 'quota');
    expect(first(resize(), { history })).toMatchObject({ reason: 'ChangeBackoff', retryAfterMillis: 30_000 });
    history.recordFailure('web-1', NOON, 'quota');
    expect(first(resize(), { history })).toMatchObject({ retryAfterMillis: 120_000 });
    history.recordSuccess('web-1');
    expect(reasonsFor(resize(), { history })).toEqual([]);
  });

  test('a pause of more that found no room keeps nothing from being taken back', () => {
    const history = aSizeLog();
    history.recordFailure(web.uid, NOON, 'no node had room for its new pods', 3_600_000);
    expect(first(retemplate(), { history })).toMatchObject({ reason: 'ChangeBackoff', retryAfterMillis: 3_600_000 });
    expect(reasonsFor(retemplate({ isRestore: true }), { history })).toEqual([]);
    history.recordFailure(web.uid, NOON, 'the API server refused it');
    expect(reasonsFor(retemplate({ isRestore: true }), { history })).toEqual(['ChangeBackoff']);
  });

  test('after a new pod without its size no pod of any workload is evicted for one, until one is born right', () => {
    const history = aSizeLog();
    expect(reasonsFor(evictToResize, { history })).toEqual([]);
    history.recordFailure(ADMISSION, NOON - 30_000, 'the new pod web-4 has the old size');
    expect(first(evictToResize, { history })).toMatchObject({ reason: 'NewPodsMissSize', retryAfterMillis: 30_000 });
    // A template has the size, and a running pod is given it.
    expect([...reasonsFor(retemplate(), { history }), ...reasonsFor(resize(), { history })]).toEqual([]);
    history.recordFailure(ADMISSION, NOON, 'the new pod web-5 has the old size');
    expect(first(evictToResize, { history })).toMatchObject({ retryAfterMillis: 120_000 });
    history.recordSuccess(ADMISSION);
    expect(reasonsFor(evictToResize, { history })).toEqual([]);
  });

  test('rightsizing bug 9: after three changes without effect nothing is tried for an hour, then two', () => {
    const history = aSizeLog();
    for (const minute of [3, 2]) history.recordIneffective(web.uid, NOON - minute * 60_000);
    expect(reasonsFor(resize(), { history })).toEqual([]);
    history.recordIneffective(web.uid, NOON);
    expect(first(resize(), { history })).toMatchObject({ reason: 'ChangesIneffective', retryAfterMillis: 3_600_000 });
    history.recordIneffective(web.uid, NOON);
    expect(first(resize(), { history })).toMatchObject({ retryAfterMillis: 7_200_000 });
    history.recordEffective(web.uid);
    expect(reasonsFor(resize(), { history })).toEqual([]);
  });

  test('a pod may have waited its time while its workload has not', () => {
    const history = aSizeLog();
    for (let count = 0; count < 3; count++) history.recordIneffective('web-1', NOON - 3_600_000);
    expect(reasonsFor(resize(), { history })).toEqual([]);
    for (let count = 0; count < 3; count++) history.recordIneffective(web.uid, NOON - 1_800_000);
    expect(first(resize(), { history })).toMatchObject({ reason: 'ChangesIneffective', retryAfterMillis: 1_800_000 });
  });

  test('the cluster bears so many resizes at once', () => {
    const resizes = Array.from({ length: 10 }, (_, index) => inFlight(`other-${index}`, { cpuRequest: 1 }));
    expect(reasonsFor(resize(), { resizes })).toEqual(['ResizeConcurrency']);
    expect(reasonsFor(resize(), { resizes: resizes.slice(1) })).toEqual([]);
    expect(reasonsFor(retemplate(), { resizes })).toEqual([]);
  });

  test.each([
    [1, 1, 1],
    [2, 1, 2],
    [3, 2, 3],
    [4, 3, 4],
    [60, 45, 60],
  ])('of %i places a minute all but memory has %i', (maxChangesPerMinute, forOthers, forMemory) => {
    const more = resize({ changes: [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 200 * MIB } }] });
    const template = retemplate({ changes: more.changes });
    const placesOf = (decision: SizeDecision): number => {
      const history = aSizeLog();
      let count = 0;
      while (reasonsFor(decision, { history, settings: { maxChangesPerMinute } }).length === 0)
        history.recordChange(`other-${count++}`, NOON);
      return count;
    };
    expect([resize(), retemplate(), more, template].map(placesOf)).toEqual([
      forOthers,
      forOthers,
      forMemory,
      forMemory,
    ]);
    expect(placesOf(resize({ engine: 'allocation' }))).toBe(forMemory);
  });

  test('more memory waits until a place comes free, all else a minute: there may be thousands of it', () => {
    const history = aSizeLog();
    for (const second of [50, 40, 20, 10]) history.recordChange(`other-${second}`, NOON - second * 1000);
    const more = resize({ changes: [{ container: 'app', to: { memoryRequest: 200 * MIB } }] });
    const retryOf = (decision: SizeDecision, maxChangesPerMinute: number) =>
      first(decision, { history, settings: { maxChangesPerMinute } })?.retryAfterMillis;
    expect([4, 3, 2, 1].map((limit) => retryOf(more, limit))).toEqual([10_000, 20_000, 40_000, 50_000]);
    expect(retryOf(resize(), 4)).toBe(60_000);
  });

  test('rightsizing bug 10: 3000 stale workloads change at most 30 times a minute', () => {
    const history = aSizeLog();
    let done = 0;
    for (let second = 0; second < 120; second++) {
      const now = NOON + second * 1000;
      for (let attempt = 0; attempt < 25; attempt++) {
        if (reasonsFor(resize(), { history, now, policy: { cooldownMillis: 0 } }).length > 0) continue;
        history.recordChange(`pod-${second}-${attempt}`, now);
        done++;
      }
      expect(history.changesSince(now - 60_000).length).toBeLessThanOrEqual(30);
    }
    expect(done).toBe(44);
  });
});

describe('what is no change of mind is held back by less', () => {
  const kinds = {
    plain: {},
    withdrawal: { isWithdrawal: true },
    restore: { isRestore: true },
    funding: { isFunding: true },
  } as const satisfies Record<string, Partial<ResizeDecision>>;
  type Kind = keyof typeof kinds;
  const others = Array.from({ length: 10 }, (_, index) => inFlight(`other-${index}`, { cpuRequest: 1 }));
  const remembering = (remember: (log: ReturnType<typeof aSizeLog>) => void): SizeSceneChanges => {
    const history = aSizeLog();
    remember(history);
    return { history };
  };
  const changes = [{ container: 'app', to: { cpuRequest: 300 } }];

  test.each<[string, SizeSceneChanges, readonly Kind[]]>([
    ['OutsideUpdateWindow', { policy: { window: hourFrom('0 13 * * *') } }, ['plain']],
    ['ChangeCooldown', remembering((log) => log.recordChange('web-1', NOON)), ['plain']],
    [
      'ChangesIneffective',
      remembering((log) => {
        for (let count = 0; count < 3; count++) log.recordIneffective(web.uid, NOON);
      }),
      ['plain'],
    ],
    [
      'ChangePace',
      remembering((log) => {
        for (let count = 0; count < 30; count++) log.recordChange(`other-${count}`, NOON);
      }),
      ['plain'],
    ],
    [
      'InfeasibleBefore',
      remembering((log) => log.recordInfeasible('web-1', 'n1', { changes, detail: 'not enough capacity' })),
      ['plain', 'funding'],
    ],
    ['ChangeBackoff', remembering((log) => log.recordFailure('web-1', NOON, 'quota')), ['plain', 'restore', 'funding']],
    ['ResizeConcurrency', { resizes: others }, ['plain', 'restore', 'funding']],
    ['LeaderWarmup', { leadership: { leader: true, sinceMillis: NOON } }, ['plain', 'restore', 'funding']],
    ['OtherResizer', withPod({ sizeManagers: ['kubectl-edit'] }), ['plain', 'restore', 'funding']],
  ])('%s', (reason, scene, held) => {
    const holding = (Object.keys(kinds) as Kind[]).filter((kind) => reasonsFor(resize(kinds[kind]), scene).length > 0);
    expect(holding).toEqual(held);
    for (const kind of held) expect(reasonsFor(resize(kinds[kind]), scene)).toEqual([reason]);
  });
});

describe('pauses end to the millisecond', () => {
  /** Each began a minute ago and lasts one. */
  const since = NOON - 60_000;
  const policy = { cooldownMillis: 60_000 };

  test.each<[string, SizeDecision, SizeSceneChanges, (log: ReturnType<typeof aSizeLog>) => void]>([
    ['ChangeCooldown', resize(), { policy }, (history) => history.recordChange('web-1', since)],
    ['ChangeBackoff', resize(), { policy }, (history) => history.recordFailure('web-1', since, 'quota')],
    ['NewPodsMissSize', evictToResize, { policy }, (history) => history.recordFailure(ADMISSION, since, 'an old size')],
    ['LeaderWarmup', resize(), { leadership: { leader: true, sinceMillis: since } }, () => undefined],
  ])('%s', (reason, decision, changes, remember) => {
    const history = aSizeLog();
    remember(history);
    const at = (now: number) => inspectSizeAll(decision, sizeScene({ ...changes, history, now }));
    expect(at(NOON - 1)).toMatchObject([{ reason, retryAfterMillis: 1 }]);
    expect(at(NOON)).toEqual([]);
  });

  test('a change of exactly a minute ago no longer counts for the pace', () => {
    const history = aSizeLog();
    for (let count = 0; count < 30; count++) history.recordChange(`other-${count}`, since);
    expect(reasonsFor(resize(), { history, now: NOON - 1 })).toEqual(['ChangePace']);
    expect(reasonsFor(resize(), { history })).toEqual([]);
  });

  test('how long ago the last change was is told', () => {
    const history = aSizeLog();
    history.recordChange('web-1', since);
    const [block] = inspectSizeAll(resize(), sizeScene({ history }));
    expect(block?.message).toBe('The last change of web-1 was 1m ago; the next may follow in 9m');
  });
});
