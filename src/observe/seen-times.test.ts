import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { formatTime } from '../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { endedAt, wasJustKilled } from '../model/recent-kill.ts';
import type { PodRecord } from '../model/records.ts';
import { createPodCompactor } from './compact-pod.ts';
import { MOST_APART_MILLIS } from './odd-clocks.ts';
import { createProjections } from './project.ts';
import { createSeenTimes } from './seen-times.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** When what happened to a pod happened. */
interface Life {
  readonly created?: EpochMillis;
  readonly unschedulable?: EpochMillis | undefined;
  readonly ready?: EpochMillis | undefined;
  readonly started?: EpochMillis | undefined;
  readonly killed?: EpochMillis | undefined;
  readonly deferred?: EpochMillis | undefined;
  readonly evicted?: EpochMillis | undefined;
  readonly gone?: EpochMillis | undefined;
}

const GRACE_SECONDS = 30;

/** The pod as machines tell it whose clocks are all ahead by `skew`. */
function tell(life: Life, skew: Millis): Pod {
  const time = (at: EpochMillis | undefined): string => formatTime((at ?? 0) + skew);
  const condition = (type: string, status: string, at: EpochMillis | undefined, reason = ''): object[] =>
    at === undefined ? [] : [{ type, status, reason, lastTransitionTime: time(at) }];
  const { created = NOON, unschedulable, ready, started, killed, deferred, evicted, gone } = life;
  return {
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      uid: 'uid-1',
      creationTimestamp: time(created),
      ...(gone !== undefined && {
        deletionTimestamp: time(gone + GRACE_SECONDS * SECOND),
        deletionGracePeriodSeconds: GRACE_SECONDS,
      }),
    },
    spec: { nodeName: 'n1', containers: [{ name: 'app' }, { name: 'proxy' }] },
    status: {
      conditions: [
        ...condition('PodScheduled', 'False', unschedulable, 'Unschedulable'),
        ...condition('Ready', 'False', ready),
        ...condition('DisruptionTarget', 'True', evicted, 'EvictionByEvictionAPI'),
        ...condition('PodResizePending', 'True', deferred, 'Deferred'),
      ],
      containerStatuses: ['app', 'proxy'].map((name) => ({
        name,
        ...(started !== undefined && { state: { running: { startedAt: time(started) } } }),
        ...(killed !== undefined && {
          restartCount: 1,
          lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: time(killed) } },
        }),
      })),
    },
  } as unknown as Pod;
}

/** The times that a record has of it. */
function lifeOf({ createdAt, unschedulableSince, readyChangedAt, evictedAt, deletingAt, sizing }: PodRecord): Life {
  const [app] = sizing?.statuses ?? [];
  return {
    created: createdAt,
    unschedulable: unschedulableSince,
    ready: readyChangedAt,
    started: app?.startedAt,
    killed: app?.lastTermination && endedAt(app.lastTermination),
    deferred: sizing?.resize.pending?.since,
    evicted: evictedAt,
    gone: deletingAt === undefined ? undefined : deletingAt - GRACE_SECONDS * SECOND,
  };
}

function observer(startMillis = NOON) {
  const clock = createVirtualClock(startMillis);
  const project = createProjections(
    (message) => {
      throw new Error(message);
    },
    { sizing: true },
  );
  const compact = createPodCompactor(10);
  const odd: (readonly [string, Millis])[] = [];
  const right: string[] = [];
  let isFollowing = true;
  const seen = createSeenTimes({
    clock,
    isFollowing: () => isFollowing,
    clocks: {
      noteOdd: ({ name }, ahead) => void odd.push([name, ahead]),
      noteRight: ({ name }) => void right.push(name),
    },
  });
  let before: PodRecord | undefined;
  return {
    clock,
    odd,
    right,
    /** A listing begins, or is over. */
    follow(isNow: boolean) {
      isFollowing = isNow;
    },
    see(object: Pod): PodRecord {
      const pod = project.pod(object);
      if (pod === undefined) throw new Error('not read');
      const graceMillis = (object.metadata?.deletionGracePeriodSeconds ?? 0) * SECOND;
      const record = seen.date({ pod, before, graceMillis }, (dated) => compact(dated, before));
      before = record;
      return record;
    },
  };
}

const anySkew = fc.oneof(
  fc.constantFrom(0, 10 * MINUTE, -10 * MINUTE, HOUR, -HOUR, 3 * HOUR, -3 * HOUR, YEAR, -YEAR),
  fc.integer({ min: -YEAR, max: YEAR }).map((millis) => Math.floor(millis / SECOND) * SECOND),
);
const events = ['unschedulable', 'ready', 'started', 'killed', 'deferred', 'evicted', 'gone'] as const;
const anyHistory = fc.array(
  fc.record({
    what: fc.constantFrom(...events),
    afterSeconds: fc.integer({ min: 1, max: 3600 }),
    lateSeconds: fc.integer({ min: 0, max: 5 }),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('for any clocks of others', () => {
  test('what changes counts from when it is seen, and keeps that time', async () => {
    await fc.assert(
      fc.asyncProperty(anySkew, anyHistory, async (skew, history) => {
        const { clock, see } = observer();
        let life: Life = { created: NOON };
        const expected = new Map<keyof Life, EpochMillis>([['created', NOON]]);
        see(tell(life, skew));
        for (const { what, afterSeconds, lateSeconds } of history) {
          // A pod that goes is told to go once.
          if (what === 'gone' && life.gone !== undefined) continue;
          await clock.advance(afterSeconds * SECOND);
          life = { ...life, [what]: clock.now() };
          expected.set(what, clock.now());
          await clock.advance(lateSeconds * SECOND);
          const dated = lifeOf(see(tell(life, skew)));
          for (const [field, at] of expected) {
            const apart = Math.abs((dated[field] ?? Number.NaN) - at);
            expect([field, apart <= MOST_APART_MILLIS + 5 * SECOND]).toEqual([field, true]);
          }
        }
      }),
    );
  });

  test('nothing of a listing is later than the listing', () => {
    fc.assert(
      fc.property(anySkew, fc.integer({ min: 0, max: 48 * 3600 }), (skew, agoSeconds) => {
        const { clock, see, follow, odd } = observer();
        follow(false);
        const at = NOON - agoSeconds * SECOND;
        const begun = { created: at, ready: at, started: at, unschedulable: at };
        const life = { ...begun, killed: at, deferred: at, evicted: at, gone: at };
        const dated = lifeOf(see(tell(life, skew)));
        for (const time of Object.values(dated)) expect(time).toBeLessThanOrEqual(clock.now() + MOST_APART_MILLIS);
        // Of the past it is believed: it may well be so.
        if (skew - agoSeconds * SECOND <= 0) expect(dated.killed).toBe(at + skew);
        expect(odd).toEqual([]);
      }),
    );
  });

  test('clocks that agree within seconds are believed to the second', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -25, max: 25 }), anyHistory, async (skewSeconds, history) => {
        const { clock, see, odd } = observer();
        const skew = skewSeconds * SECOND;
        let life: Life = { created: NOON };
        for (const { what, afterSeconds, lateSeconds } of history) {
          if (what === 'gone' && life.gone !== undefined) continue;
          await clock.advance(afterSeconds * SECOND);
          life = { ...life, [what]: clock.now() };
          await clock.advance(lateSeconds * SECOND);
          const told = see(tell(life, skew));
          expect(lifeOf(told)[what]).toBe((life[what] ?? Number.NaN) + skew);
        }
        expect(odd.filter(([teller]) => teller !== 'the API server')).toEqual([]);
      }),
    );
  });
});

describe('a kill on a node whose clock is ten minutes behind', () => {
  const skew = -10 * MINUTE;

  test('is one of a moment ago, known by the time that the node told', async () => {
    const { clock, see } = observer();
    see(tell({ started: NOON }, skew));
    await clock.advance(HOUR);
    const killed = clock.now();
    const [app] = see(tell({ started: killed, killed }, skew)).sizing?.statuses ?? [];
    if (app === undefined) throw new Error('no status');
    expect(app.lastTermination).toEqual({
      reason: 'OOMKilled',
      exitCode: 137,
      finishedAt: killed + skew,
      seenAt: killed,
    });
    expect(wasJustKilled(app, clock.now() + 9 * MINUTE)).toBe(true);
    expect(wasJustKilled(app, clock.now() + 10 * MINUTE)).toBe(false);
  });

  test('stays of then when other things of the pod change', async () => {
    const { clock, see } = observer();
    see(tell({ started: NOON }, skew));
    await clock.advance(MINUTE);
    const killed = clock.now();
    see(tell({ started: killed, killed }, skew));
    await clock.advance(5 * MINUTE);
    const later = lifeOf(see(tell({ started: killed, killed, ready: clock.now() }, skew)));
    expect(later).toMatchObject({ killed, started: killed, ready: clock.now() });
  });
});

test('what changed while nobody watched is no older than that', async () => {
  const { clock, see, follow } = observer();
  see(tell({ started: NOON }, 0));
  follow(false);
  await clock.advance(10 * MINUTE);
  // Nine minutes ago, by a clock that is right; by one that is an hour behind it cannot be.
  const killed = NOON + MINUTE;
  expect(lifeOf(see(tell({ started: NOON, killed }, 0))).killed).toBe(killed);
  expect(lifeOf(see(tell({ started: NOON, killed: killed - HOUR }, 0))).killed).toBe(clock.now());
});

test('a pod of the same name that is another one takes nothing over', async () => {
  const { clock, see } = observer();
  see(tell({}, HOUR));
  await clock.advance(HOUR);
  const other = tell({ created: NOON }, HOUR);
  const record = see({ ...other, metadata: { ...other.metadata, uid: 'uid-2' } });
  expect(record.createdAt).toBe(clock.now());
});

test('who wants a pod gone sooner moves its end by as much, whatever the clock', async () => {
  for (const skew of [0, HOUR, -HOUR]) {
    const { clock, see, odd } = observer();
    see(tell({}, skew));
    await clock.advance(MINUTE);
    const gone = clock.now();
    see(tell({ gone }, skew));
    const before = odd.length;
    await clock.advance(10 * MINUTE);
    const forced = tell({ gone: gone - GRACE_SECONDS * SECOND }, skew);
    const { deletingAt } = see({ ...forced, metadata: { ...forced.metadata, deletionGracePeriodSeconds: 0 } });
    expect(deletingAt).toBe(gone);
    expect(odd.length - before).toBe(skew === 0 ? 0 : 1);
  }
});

describe('whose clock is odd', () => {
  test.each<[string, Millis, Life, string[]]>([
    ['the API server’s is behind', -HOUR, { created: NOON }, ['the API server']],
    ['a node’s is ahead', HOUR, { created: NOON, started: NOON }, ['the API server', 'node n1', 'node n1']],
    // A kubelet that pulls another image tells of a container minutes after its start.
    ['a container is told late', -3 * MINUTE, { created: NOON, started: NOON }, ['the API server']],
    ['all agree', 0, { created: NOON, started: NOON, ready: NOON }, []],
  ])('is told: %s', (_, skew, life, tellers) => {
    const { see, odd, right } = observer();
    see(tell(life, skew));
    expect(new Set(right)).toEqual(new Set(skew === 0 ? ['the API server', 'node n1'] : []));
    expect(odd.map(([teller]) => teller)).toEqual(tellers);
    expect(odd.every(([, ahead]) => ahead === skew)).toBe(true);
  });

  test('of a container that is told late no clock is called right: one that is ahead by as much tells so, too', () => {
    const { see, odd, right } = observer();
    see(tell({ created: NOON, started: NOON - 20 * SECOND, ready: NOON }, 40 * SECOND));
    expect(odd.map(([teller]) => teller)).toEqual(['the API server', 'node n1']);
    expect(right).toEqual([]);
  });
});
