import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Candidate, orderCandidates } from './budget.ts';
import { createDisruptionLog } from './history.ts';

const candidate = (key: string, drift = 1, replicas = 10): Candidate => ({
  engine: 'placement',
  key,
  workloadUid: key,
  drift,
  replicas,
});
const sizing = (key: string): Candidate => ({ ...candidate(key), engine: 'rightsizing' });
const neverYet = () => undefined;
const newLog = () => createDisruptionLog({ initial: 1, max: 1 });
const keysOf = (list: readonly Candidate[]): string[] => list.map(({ key }) => key);

describe('orderCandidates', () => {
  test('who was never disrupted comes first, then who waited longest', () => {
    const log = newLog();
    log.recordDisruption('recent', 200);
    log.recordDisruption('earlier', 100);
    const ordered = orderCandidates([candidate('recent'), candidate('earlier'), candidate('never')], log, neverYet);
    expect(keysOf(ordered)).toEqual(['never', 'earlier', 'recent']);
  });

  test('among equals the one furthest off in proportion, then by name', () => {
    const all = [candidate('b', 5, 100), candidate('c', 3, 6), candidate('a', 5, 100)];
    const ordered = orderCandidates(all, newLog(), neverYet);
    expect(keysOf(ordered)).toEqual(['c', 'a', 'b']);
  });

  test('does not change the list it was given, and gives equal lists for equal input', () => {
    const list = [candidate('b'), candidate('a')];
    expect(keysOf(orderCandidates(list, newLog(), neverYet))).toEqual(['a', 'b']);
    expect(keysOf(list)).toEqual(['b', 'a']);
    expect(orderCandidates([...list].reverse(), newLog(), neverYet)).toEqual(list.toReversed());
  });

  test('one of each engine in turn, first of the engine that waited longest for a place', () => {
    const all = [candidate('a'), candidate('b'), candidate('c'), sizing('y'), sizing('z')];
    const orderAfter = (placement: number | undefined, rightsizing: number | undefined) =>
      keysOf(orderCandidates(all, newLog(), (engine) => (engine === 'placement' ? placement : rightsizing)));
    expect(orderAfter(4, 3)).toEqual(['y', 'a', 'z', 'b', 'c']);
    expect(orderAfter(3, 4)).toEqual(['a', 'y', 'b', 'z', 'c']);
    expect(orderAfter(3, undefined)).toEqual(['y', 'a', 'z', 'b', 'c']);
    expect(orderAfter(undefined, undefined)).toEqual(['a', 'y', 'b', 'z', 'c']);
  });

  test('who puts back harm comes first; the others keep the order they had', () => {
    const all = [candidate('a'), candidate('b'), sizing('y'), sizing('z')];
    const log = newLog();
    log.recordDisruption('r', 100);
    const ordered = orderCandidates([...all, { ...sizing('r'), isRestore: true }], log, neverYet);
    expect(keysOf(ordered)).toEqual(['r', ...keysOf(orderCandidates(all, log, neverYet))]);
  });

  test('Property: an engine that asks gets a place after one disruption of the other at most, whoever waits and whatever was', () => {
    const history = fc.array(fc.option(fc.nat(1_000), { nil: undefined }), { minLength: 2, maxLength: 14 });
    const last = fc.record({
      placement: fc.option(fc.nat(5), { nil: undefined }),
      rightsizing: fc.option(fc.nat(5), { nil: undefined }),
    });
    fc.assert(
      fc.property(history, fc.nat(), last, (disrupted, split, lastTurn) => {
        const log = newLog();
        const sizingCount = 1 + (split % (disrupted.length - 1));
        const waiting = disrupted.map((at, index) => {
          const each = index < sizingCount ? sizing(`w${index}`) : candidate(`w${index}`);
          if (at !== undefined) log.recordDisruption(each.workloadUid, at);
          return each;
        });
        const turns = { ...lastTurn };
        const engines: string[] = [];
        for (let turn = 10; engines.length < 2; turn++) {
          const [next] = orderCandidates(waiting, log, (engine) => turns[engine]);
          if (next === undefined) throw new Error('somebody waits');
          turns[next.engine] = turn;
          log.recordDisruption(next.workloadUid, 1_000 + turn);
          engines.push(next.engine);
        }
        expect(engines.toSorted()).toEqual(['placement', 'rightsizing']);
      }),
    );
  });

  test('hazard H32: with any budget, nobody gets a second turn while somebody waits for a first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        (drifts, budget) => {
          const log = newLog();
          const turns = new Map(drifts.map((_, index) => [`w${index}`, 0]));
          const left = drifts.map((drift, index) => ({ ...candidate(`w${index}`, drift) }));
          for (let cycle = 1; left.some(({ drift }) => drift > 0); cycle++) {
            const waiting = left.filter(({ drift }) => drift > 0);
            for (const chosen of orderCandidates(waiting, log, neverYet).slice(0, budget)) {
              const turnsOf = (key: string): number => turns.get(key) ?? 0;
              const waitsForFirst = waiting.some(({ key }) => turnsOf(key) === 0);
              if (waitsForFirst) expect(turnsOf(chosen.key)).toBe(0);
              turns.set(chosen.key, (turns.get(chosen.key) ?? 0) + 1);
              log.recordDisruption(chosen.workloadUid, cycle);
              left.splice(
                left.findIndex(({ key }) => key === chosen.key),
                1,
                { ...chosen, drift: chosen.drift - 1 },
              );
            }
          }
          expect([...turns.values()]).toEqual(drifts);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
