import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DisruptingEngine } from '../guard/budget.ts';
import { createDisruptionLog } from '../guard/history.ts';
import { object } from '../guard/objection.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createDisruptionTurns } from './disruption-turns.ts';

const candidate = (name: string, engine: DisruptingEngine = 'placement', drift = 1) => ({
  engine,
  key: name,
  workloadUid: `uid-${name}`,
  drift,
  replicas: 10,
});

const blockOf = (objection: ReturnType<typeof object>) => {
  if (objection === undefined) throw new Error('no objection');
  return { rule: 'some-rule', ...objection };
};
const full = blockOf(object('ConcurrencyLimit', { inFlight: 1, limit: 1 }));
const readOnly = blockOf(object('ReadOnly', {}));

/** @param places that are free, until {@link setUp} is told otherwise. */
function setUp(places = 1) {
  const clock = createVirtualClock(0);
  const history = createDisruptionLog({ initial: 1, max: 1 });
  let free = places;
  const turns = createDisruptionTurns({ history, free: () => free, clock });
  const called: string[] = [];
  for (const engine of ['placement', 'rightsizing'] as const)
    turns.onTurn(engine, (key) => void called.push(`${engine} ${key}`));
  return {
    clock,
    history,
    turns,
    called,
    setFree(next: number) {
      free = next;
    },
  };
}

describe('turns', () => {
  test('with room for all, everyone may go at once', () => {
    const { turns } = setUp();
    expect(turns.take(candidate('a'))).toBeUndefined();
    expect(turns.take(candidate('b'))).toBeUndefined();
  });

  test('without a free place nobody goes, and the waiting are called when one is free', () => {
    const { turns, called, setFree } = setUp(0);
    turns.noteBlocked(candidate('a'), full);
    turns.noteBlocked(candidate('b', 'rightsizing'), full);
    turns.offer();
    expect(called).toEqual([]);
    setFree(2);
    turns.offer();
    expect(called).toEqual(['placement a', 'rightsizing b']);
  });

  test('who was disrupted longest ago goes first; who comes later waits for him, and is told so', () => {
    const { turns, history, called } = setUp();
    history.recordDisruption('uid-b', 5);
    turns.noteBlocked(candidate('a'), full);
    expect(turns.take(candidate('b'))).toMatchObject({
      rule: 'turn',
      reason: 'AwaitingTurn',
      message: '1 other goes first: engines and workloads take turns at what may be disrupted at once',
      retryAfterMillis: 5_000,
    });
    expect(called).toEqual(['placement a']);
    history.recordDisruption('uid-c', 6);
    // Only who is next in line looks again after a while; the others are called.
    expect(turns.take(candidate('c'))).toMatchObject({ reason: 'AwaitingTurn', retryAfterMillis: undefined });
    expect(turns.take(candidate('a'))).toBeUndefined();
    expect(turns.take(candidate('b'))).toBeUndefined();
  });

  test('engines go in turn, however many of one wait', () => {
    const { turns } = setUp();
    expect(turns.take(candidate('a'))).toBeUndefined();
    for (const name of ['b', 'c', 'd']) turns.noteBlocked(candidate(name), full);
    turns.noteBlocked(candidate('web', 'rightsizing'), full);
    turns.noteBlocked(candidate('db', 'rightsizing'), full);
    expect(turns.take(candidate('b'))).toMatchObject({ reason: 'AwaitingTurn' });
    expect(turns.take(candidate('db', 'rightsizing'))).toBeUndefined();
    expect(turns.take(candidate('web', 'rightsizing'))).toMatchObject({ reason: 'AwaitingTurn' });
    expect(turns.take(candidate('b'))).toBeUndefined();
  });

  test('who waits is known to wait until it goes, wants nothing any more, or something else is in its way', () => {
    const { turns } = setUp(0);
    for (const name of ['a', 'b', 'c']) turns.noteBlocked(candidate(name), full);
    turns.leave('placement', 'a');
    turns.noteBlocked(candidate('b'), readOnly);
    expect(['a', 'b', 'c'].map((key) => turns.isWaiting('placement', key))).toEqual([false, false, true]);
    expect(turns.isWaiting('rightsizing', 'c')).toBe(false);
  });

  test('who was called and wants nothing any more blocks nobody: the next is called at once', () => {
    const { turns, history, called } = setUp();
    history.recordDisruption('uid-b', 5);
    turns.noteBlocked(candidate('a'), full);
    turns.noteBlocked(candidate('b'), full);
    turns.offer();
    turns.noteBlocked(candidate('a'), readOnly);
    expect(called).toEqual(['placement a', 'placement b']);
    expect(turns.take(candidate('b'))).toBeUndefined();
  });

  test('who leaves without having waited calls nobody', () => {
    const { turns, called } = setUp();
    turns.noteBlocked(candidate('a'), full);
    turns.leave('placement', 'b');
    expect(called).toEqual([]);
  });

  test('who was called and does not come within five seconds is passed over, and may ask anew', async () => {
    const { turns, clock, history } = setUp();
    history.recordDisruption('uid-b', 5);
    turns.noteBlocked(candidate('a'), full);
    turns.offer();
    await clock.advance(4_999);
    expect(turns.take(candidate('b'))).toBeDefined();
    await clock.advance(1);
    expect(turns.isWaiting('placement', 'a')).toBe(true);
    expect(turns.take(candidate('b'))).toBeUndefined();
    expect(turns.isWaiting('placement', 'a')).toBe(false);
    expect(turns.take(candidate('a'))).toBeUndefined();
  });

  test('who reserves takes nothing and keeps the place, but not for ever', async () => {
    const { turns, clock, history } = setUp();
    history.recordDisruption('uid-b', 5);
    expect(turns.reserve(candidate('a', 'rightsizing'))).toBeUndefined();
    expect(turns.isWaiting('rightsizing', 'a')).toBe(true);
    expect(turns.take(candidate('b', 'rightsizing'))).toBeDefined();
    await clock.advance(3_000);
    expect(turns.reserve(candidate('a', 'rightsizing'))).toBeUndefined();
    await clock.advance(2_000);
    expect(turns.take(candidate('b', 'rightsizing'))).toBeUndefined();
  });

  test('who was called and reserves too late is behind the others, and alone it may', async () => {
    const { turns, clock, history } = setUp();
    history.recordDisruption('uid-b', 5);
    turns.noteBlocked(candidate('a', 'rightsizing'), full);
    turns.offer();
    await clock.advance(5_000);
    turns.noteBlocked(candidate('b', 'rightsizing'), full);
    expect(turns.reserve(candidate('a', 'rightsizing'))).toMatchObject({
      message: expect.stringMatching(/^1 other goes first/),
      retryAfterMillis: 5_000,
    });
    turns.leave('rightsizing', 'b');
    turns.noteBlocked(candidate('a', 'rightsizing'), full);
    turns.offer();
    await clock.advance(5_000);
    expect(turns.reserve(candidate('a', 'rightsizing'))).toBeUndefined();
  });

  test('who was looked at and did not ask again leaves, and the next is called', () => {
    const { turns, history, called, setFree } = setUp(0);
    history.recordDisruption('uid-b', 5);
    for (const name of ['a', 'b']) turns.noteBlocked(candidate(name, 'rightsizing'), full);
    const lookedAtB = turns.look('rightsizing', 'b');
    turns.noteBlocked(candidate('b', 'rightsizing'), full);
    lookedAtB();
    expect(turns.isWaiting('rightsizing', 'b')).toBe(true);
    setFree(1);
    turns.offer();
    turns.look('rightsizing', 'a')();
    expect(called).toEqual(['rightsizing a', 'rightsizing b']);
    expect(turns.isWaiting('rightsizing', 'a')).toBe(false);
  });

  test('a look that asks nothing leaves who waits for another engine, who has come to wait meanwhile, and who has reserved', () => {
    const { turns } = setUp(1);
    turns.noteBlocked(candidate('a', 'placement'), full);
    const lookedAt = turns.look('rightsizing', 'b');
    turns.noteBlocked(candidate('b', 'rightsizing'), full);
    lookedAt();
    turns.look('rightsizing', 'a')();
    expect(turns.isWaiting('placement', 'a')).toBe(true);
    expect(turns.isWaiting('rightsizing', 'b')).toBe(true);

    const { turns: others } = setUp(1);
    expect(others.reserve(candidate('a', 'rightsizing'))).toBeUndefined();
    others.offer();
    others.look('rightsizing', 'a')();
    expect(others.isWaiting('rightsizing', 'a')).toBe(true);
  });

  test('who would reserve and is told to wait holds nothing', () => {
    const { turns, history } = setUp();
    history.recordDisruption('uid-a', 5);
    turns.noteBlocked(candidate('b', 'rightsizing'), full);
    expect(turns.reserve(candidate('a', 'rightsizing'))).toBeDefined();
    turns.look('rightsizing', 'a')();
    expect(turns.isWaiting('rightsizing', 'a')).toBe(false);
  });

  test('what puts back harm goes before all others, of whichever engine and however lately disrupted', () => {
    const { turns, history } = setUp();
    history.recordDisruption('uid-hurt', 9);
    expect(turns.take(candidate('z', 'rightsizing'))).toBeUndefined();
    for (const name of ['a', 'b']) turns.noteBlocked(candidate(name), full);
    turns.noteBlocked({ ...candidate('hurt', 'rightsizing'), isRestore: true }, full);
    expect(turns.take(candidate('a'))).toMatchObject({ reason: 'AwaitingTurn' });
    expect(turns.take({ ...candidate('hurt', 'rightsizing'), isRestore: true })).toBeUndefined();
    expect(turns.take(candidate('a'))).toBeUndefined();
  });

  test('who listens no longer is not called, and with the last listener of an engine nobody of it waits', () => {
    const { turns } = setUp();
    const heard: string[] = [];
    const end = turns.onTurn('placement', (key) => void heard.push(key));
    turns.noteBlocked(candidate('a'), full);
    turns.offer();
    end();
    turns.offer();
    expect(heard).toEqual(['a']);
    expect(turns.isWaiting('placement', 'a')).toBe(true);
    const alone = createDisruptionTurns({
      history: createDisruptionLog({ initial: 1, max: 1 }),
      free: () => 0,
      clock: createVirtualClock(0),
    });
    const endAlone = alone.onTurn('placement', () => {});
    alone.noteBlocked(candidate('a'), full);
    alone.noteBlocked(candidate('a', 'rightsizing'), full);
    endAlone();
    expect(alone.isWaiting('placement', 'a')).toBe(false);
    expect(alone.isWaiting('rightsizing', 'a')).toBe(true);
  });

  test('Property: whoever asks in whatever order, with one place no engine goes twice while the other waits, and no workload before its like', () => {
    const asker = fc.record({
      engine: fc.constantFrom<DisruptingEngine>('placement', 'rightsizing'),
      drift: fc.integer({ min: 0, max: 10 }),
    });
    const askers = fc.array(asker, { minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(askers, fc.array(fc.nat(), { minLength: 30, maxLength: 30 }), (asking, starts) => {
        const { turns, history, setFree } = setUp(0);
        const all = asking.map(({ engine, drift }, index) => candidate(`w${index}`, engine, drift));
        const isShared = new Set(all.map(({ engine }) => engine)).size > 1;
        const counts = new Map(all.map((each) => [each.key, 0]));
        let last: DisruptingEngine | undefined;
        for (const [now, start] of starts.entries()) {
          for (const each of all) turns.noteBlocked(each, full);
          setFree(1);
          const rotated = all.map((_, index) => all[(index + start) % all.length]).filter((each) => each !== undefined);
          const [gone, ...others] = rotated.filter((each) => {
            const isGoing = turns.take(each) === undefined;
            if (isGoing) setFree(0);
            return isGoing;
          });
          if (gone === undefined) throw new Error('one must be able to go');
          expect(others).toEqual([]);
          if (isShared) expect(gone.engine).not.toBe(last);
          last = gone.engine;
          counts.set(gone.key, (counts.get(gone.key) ?? 0) + 1);
          const ofEngine = all.filter(({ engine }) => engine === last).map(({ key }) => counts.get(key) ?? 0);
          expect(Math.max(...ofEngine) - Math.min(...ofEngine)).toBeLessThanOrEqual(1);
          history.recordDisruption(gone.workloadUid, now);
        }
      }),
    );
  });
});
