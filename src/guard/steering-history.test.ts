import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSteeringLog } from './steering-history.ts';

const born = (createdAt: number, namespace = 'shop') => ({ namespace, name: 'web-1', createdAt });
const newLog = () => createSteeringLog({ initial: 1000, max: 4000 });
const retryAt = (log: ReturnType<typeof newLog>) => log.missed('z', 'z')?.retryAt;

describe('moves are held', () => {
  test('once for all that were under way when the first was seen to miss', () => {
    const log = newLog();
    log.recordMissed('a', born(1), 0, 10);
    log.recordMissed('b', born(2), 5, 20);
    expect(retryAt(log)).toBe(1010);
  });

  test('for a pause that doubles with each try that misses, up to its bound', () => {
    const log = newLog();
    log.recordMissed('a', born(1), 0, 10);
    const pauses = [1, 2, 3, 4].map((count) => {
      const at = count * 10_000;
      log.recordMissed('a', born(at), at, at);
      return (retryAt(log) ?? 0) - at;
    });
    expect(pauses).toEqual([2000, 4000, 4000, 4000]);
  });

  test('while one tries, and no longer where that one was refused', () => {
    const log = newLog();
    log.recordMove(0);
    expect(log.missed('z', 'z')).toBeUndefined();
    log.recordMissed('a', born(1), 0, 10);
    log.recordMove(2000);
    expect(retryAt(log)).toBe(3000);
    log.cancelMove(5);
    expect(retryAt(log)).toBe(3000);
    log.cancelMove(2000);
    expect(retryAt(log)).toBe(2000);
  });

  test('until a pod passes that is no older than the one that missed', () => {
    const log = newLog();
    log.recordMissed('a', born(5000), 0, 10);
    expect(log.recordSteered(born(4000))).toBe(false);
    expect(log.missed('z', 'z')).toBeDefined();
    expect(log.recordSteered(born(5000, 'other'))).toBe(true);
    expect(log.missed('z', 'z')).toBeUndefined();
    expect(log.recordSteered(born(6000))).toBe(false);
  });

  test('not for a pod that is older than one that passed', () => {
    const log = newLog();
    log.recordSteered(born(6000, 'other'));
    log.recordMissed('a', born(5000), 0, 7000);
    expect(log.missed('z', 'z')).toBeUndefined();
  });

  test('not into the next term as leader', () => {
    const log = newLog();
    log.recordMissed('a', born(1), 0, 10);
    log.forgetAll();
    expect(log.missed('z', 'z')).toBeUndefined();
  });
});

describe('what selectors leave out', () => {
  test.each([
    ['a namespace', 'b', 'left-out'],
    ['a workload', 'a', 'shop'],
  ])('%s holds the others once, and not again until a pod of it passes', (_, workloadUid, namespace) => {
    const log = newLog();
    log.recordMissed('a', born(1000, 'left-out'), 0, 1000);
    log.recordSteered(born(2000, 'shop'));
    log.recordMissed(workloadUid, born(3000, namespace), 2500, 3000);
    expect(log.missed('z', 'z')).toBeUndefined();
    log.recordSteered(born(4000, 'left-out'), 'a');
    log.recordSteered(born(4000, namespace), workloadUid);
    log.recordMissed(workloadUid, born(5000, namespace), 4500, 5000);
    expect(log.missed('z', 'z')).toBeDefined();
  });

  test('tries later than others, by workload and by namespace', () => {
    const log = newLog();
    log.recordMissed('a', born(1), 0, 10);
    expect(log.missed('z', 'z')?.retryAt).toBe(1010);
    expect(log.missed('a', 'z')?.retryAt).toBe(16_010);
    expect(log.missed('z', 'shop')?.retryAt).toBe(16_010);
    expect(log.missed('a', 'shop')?.retryAt).toBe(31_010);
  });

  test('a workload that is gone is forgotten', () => {
    const log = newLog();
    log.recordMissed('a', born(1000), 0, 1000);
    log.recordSteered(born(2000));
    log.forget('a');
    log.recordMissed('a', born(3000), 2500, 3000);
    expect(log.missed('z', 'z')).toBeDefined();
  });

  test('a namespace is forgotten with the last of its workloads that missed', () => {
    const log = newLog();
    log.recordMissed('a', born(1), 0, 10);
    log.recordMissed('b', born(2), 0, 10);
    log.forget('a');
    expect(log.missed('z', 'shop')?.retryAt).toBe(16_010);
    log.forget('b');
    expect(log.missed('z', 'shop')?.retryAt).toBe(1010);
    expect(log.missed('z', 'z')?.retryAt).toBe(1010);
  });

  test('one that was steered is not taken for gone when others of its namespace are', () => {
    const log = newLog();
    log.recordMissed('a', born(1), 0, 10);
    log.recordSteered(born(0), 'b');
    log.forget('c');
    expect(log.missed('a', 'shop')?.retryAt).toBe(16_010);
  });
});

test('property: of moves that all miss, whichever workloads they are of, no two tries are closer than the first pause', () => {
  const attempts = fc.array(fc.record({ wait: fc.integer({ min: 1, max: 3000 }), workload: fc.nat(5) }));
  fc.assert(
    fc.property(attempts, (all) => {
      const log = newLog();
      log.recordMissed('first', born(0), 0, 0);
      let [now, last] = [0, 0];
      for (const { wait, workload } of all) {
        now += wait;
        const held = retryAt(log);
        expect(held).toBeDefined();
        if (held === undefined || held > now) continue;
        expect(now - last).toBeGreaterThanOrEqual(1000);
        log.recordMove(now);
        last = now;
        log.recordMissed(`w${workload}`, born(now, `n${workload % 2}`), now, now + 1);
      }
    }),
  );
});
