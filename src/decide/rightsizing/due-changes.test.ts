import { describe, expect, test } from 'vitest';
import { aContainer, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { noAdvice, type ResourceAdvice } from './advice.ts';
import { describeChanges, dueChanges } from './due-changes.ts';
import { dueAdvice } from './testing/advice.ts';

const advice = (cpu: ResourceAdvice, memory: ResourceAdvice) => [{ container: 'app', current: smallSize, cpu, memory }];
const none = noAdvice('NoData', 'nothing');

describe('what is due', () => {
  test('one resource may be due without the other', () => {
    expect(dueChanges(advice(dueAdvice(100), none))).toEqual([{ container: 'app', to: { cpuRequest: 100 } }]);
    expect(dueChanges(advice(none, dueAdvice(64 * MIB)))).toEqual([
      { container: 'app', to: { memoryRequest: 64 * MIB } },
    ]);
    expect(dueChanges(advice(none, none))).toEqual([]);
  });

  test('a limit goes with its request, and not where it stays', () => {
    expect(dueChanges(advice(dueAdvice(100, 200), none))[0]?.to).toEqual({ cpuRequest: 100, cpuLimit: 200 });
    expect(dueChanges(advice(dueAdvice(100, 400), none))[0]?.to).toEqual({ cpuRequest: 100 });
  });

  test('what is held is not due', () => {
    expect(dueChanges(advice({ ...dueAdvice(100), isDue: false, held: 'Cooldown' }, none))).toEqual([]);
  });

  test('in words', () => {
    const changes = dueChanges(advice(dueAdvice(100), dueAdvice(64 * MIB, 128 * MIB)));
    expect(describeChanges(changes, [aContainer()])).toBe(
      'app: cpu 200m -> 100m, memory 128Mi -> 64Mi, memory limit 256Mi -> 128Mi',
    );
    expect(describeChanges(changes, [aContainer({ size: {} })])).toContain('cpu none -> 100m');
  });
});
