import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Candidate, orderCandidates } from './budget.ts';
import { createDisruptionLog } from './history.ts';

const candidate = (key: string, drift = 1, replicas = 10): Candidate => ({ key, workloadUid: key, drift, replicas });
const newLog = () => createDisruptionLog({ initial: 1, max: 1 });
const keysOf = (list: readonly Candidate[]): string[] => list.map(({ key }) => key);

describe('orderCandidates', () => {
  test('who was never disrupted comes first, then who waited longest', () => {
    const log = newLog();
    log.recordDisruption('recent', 200);
    log.recordDisruption('earlier', 100);
    const ordered = orderCandidates([candidate('recent'), candidate('earlier'), candidate('never')], log);
    expect(keysOf(ordered)).toEqual(['never', 'earlier', 'recent']);
  });

  test('among equals the one furthest off in proportion, then by name', () => {
    const ordered = orderCandidates([candidate('b', 5, 100), candidate('c', 3, 6), candidate('a', 5, 100)], newLog());
    expect(keysOf(ordered)).toEqual(['c', 'a', 'b']);
  });

  test('does not change the list it was given, and gives equal lists for equal input', () => {
    const list = [candidate('b'), candidate('a')];
    expect(keysOf(orderCandidates(list, newLog()))).toEqual(['a', 'b']);
    expect(keysOf(list)).toEqual(['b', 'a']);
    expect(orderCandidates([...list].reverse(), newLog())).toEqual(orderCandidates(list, newLog()));
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
            for (const chosen of orderCandidates(waiting, log).slice(0, budget)) {
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
