import { describe, expect, test } from 'vitest';
import { createDisruptionLog } from './history.ts';

const newLog = () => createDisruptionLog({ initial: 1000, max: 3000 });

describe('the last disruption', () => {
  test('is the latest one, however they arrive', () => {
    const log = newLog();
    expect(log.lastDisruption('w')).toBeUndefined();
    log.recordDisruption('w', 20);
    log.recordDisruption('w', 10);
    expect(log.lastDisruption('w')).toBe(20);
    log.recordDisruption('w', 30);
    expect(log.lastDisruption('w')).toBe(30);
    expect(log.lastDisruption('other')).toBeUndefined();
  });
});

describe('failed moves', () => {
  test('bug 17: bug 18: bug 21: each failure in a row doubles the pause, up to the bound', () => {
    const log = newLog();
    const pauses = [0, 0, 0, 0].map(() => {
      log.recordFailedMove('w', 'spot', 100);
      return (log.failedMove('w', 'spot')?.retryAt ?? 0) - 100;
    });
    expect(pauses).toEqual([1000, 2000, 3000, 3000]);
    expect(log.failedMove('w', 'spot')?.failures).toBe(4);
  });

  test('are remembered by workload and side', () => {
    const log = newLog();
    log.recordFailedMove('w', 'spot', 0);
    expect(log.failedMove('w', 'on-demand')).toBeUndefined();
    expect(log.failedMove('other', 'spot')).toBeUndefined();
  });

  test('are forgotten when the side takes a pod, the other side’s are not', () => {
    const log = newLog();
    log.recordFailedMove('w', 'spot', 0);
    log.recordFailedMove('w', 'on-demand', 0);
    log.recordLandedMove('w', 'spot');
    expect(log.failedMove('w', 'spot')).toBeUndefined();
    expect(log.failedMove('w', 'on-demand')?.failures).toBe(1);
    log.recordLandedMove('w', 'on-demand');
    log.recordLandedMove('never failed', 'spot');
    log.recordFailedMove('w', 'spot', 0);
    expect(log.failedMove('w', 'spot')?.failures).toBe(1);
  });

  test('hazard H6: a side that stays without room for days does not overflow the pause', () => {
    const log = newLog();
    for (let failures = 0; failures < 2000; failures++) log.recordFailedMove('w', 'spot', 0);
    expect(log.failedMove('w', 'spot')?.retryAt).toBe(3000);
  });
});

describe('a workload that is gone', () => {
  const DAY = 86_400_000;
  const newLogOf = (...workloads: readonly string[]) => {
    const log = newLog();
    for (const workload of workloads) {
      log.recordDisruption(workload, 1);
      log.recordFailedMove(workload, 'spot', 1);
      log.recordReturn(workload, 1);
    }
    return log;
  };
  const rememberedOf = (log: ReturnType<typeof newLog>, workload: string) => [
    log.lastDisruption(workload),
    log.failedMove(workload, 'spot')?.failures,
    ...log.returns(workload),
  ];

  test('keeps its cooldown for a day: its type may only have ceased to be served', () => {
    const log = newLogOf('w');
    log.forgetWorkload('w', 10);
    expect(rememberedOf(log, 'w')).toEqual([1, 1, 1]);
    log.forgetWorkload('other', 10 + DAY - 1);
    expect(rememberedOf(log, 'w')).toEqual([1, 1, 1]);
  });

  test('leaves nothing behind for longer', () => {
    const log = newLogOf('w', 'v');
    log.forgetWorkload('w', 10);
    log.forgetWorkload('v', 11);
    log.forgetWorkload('other', 10 + DAY);
    expect(rememberedOf(log, 'w')).toEqual([undefined, undefined]);
    expect(rememberedOf(log, 'v')).toEqual([1, 1, 1]);
  });

  test('that came back and is disrupted again is gone no longer', () => {
    const log = newLogOf('moved', 'failed', 'returned', 'quiet');
    for (const workload of ['moved', 'failed', 'returned', 'quiet']) log.forgetWorkload(workload, 10);
    log.recordDisruption('moved', 9 + DAY);
    log.recordFailedMove('failed', 'spot', 9 + DAY);
    log.recordReturn('returned', 9 + DAY);
    log.forgetWorkload('other', 10 + DAY);
    expect(rememberedOf(log, 'moved')).toEqual([9 + DAY, 1, 1]);
    expect(rememberedOf(log, 'failed')).toEqual([1, 2, 1]);
    expect(rememberedOf(log, 'returned')).toEqual([1, 1, 1, 9 + DAY]);
    expect(rememberedOf(log, 'quiet')).toEqual([undefined, undefined]);
  });

  test('and is told of once more, by an answer that came late, is forgotten a day after that', () => {
    const log = newLogOf('w');
    log.forgetWorkload('w', 10);
    log.recordDisruption('w', 20);
    log.forgetWorkload('other', 20 + DAY);
    expect(rememberedOf(log, 'w')).toEqual([undefined, undefined]);
  });

  test('that goes again keeps none of the others longer than their day', () => {
    const log = newLogOf('w', 'v');
    log.forgetWorkload('w', 10);
    log.forgetWorkload('v', 11);
    log.forgetWorkload('w', 9 + DAY);
    log.forgetWorkload('other', 11 + DAY);
    expect(rememberedOf(log, 'v')).toEqual([undefined, undefined]);
    expect(rememberedOf(log, 'w')).toEqual([1, 1, 1]);
  });

  test('that goes again begins its day anew', () => {
    const log = newLogOf('w');
    log.forgetWorkload('w', 10);
    log.forgetWorkload('w', 20);
    log.forgetWorkload('other', 10 + DAY);
    expect(rememberedOf(log, 'w')).toEqual([1, 1, 1]);
  });
});

describe('returns', () => {
  test('are remembered in order, by workload', () => {
    const log = createDisruptionLog({ initial: 1000, max: 8000 });
    expect(log.returns('w')).toEqual([]);
    log.recordReturn('w', 1);
    log.recordReturn('w', 2);
    log.recordReturn('other', 3);
    expect(log.returns('w')).toEqual([1, 2]);
    expect(log.returns('other')).toEqual([3]);
  });

  test('the memory has a bound, the latest stay', () => {
    const log = createDisruptionLog({ initial: 1000, max: 8000 });
    for (let at = 0; at < 1500; at++) log.recordReturn('w', at);
    expect(log.returns('w')).toHaveLength(1000);
    expect(log.returns('w').at(-1)).toBe(1499);
  });
});
