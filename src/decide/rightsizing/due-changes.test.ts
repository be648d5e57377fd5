import { describe, expect, test } from 'vitest';
import { aContainer, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { noAdvice, type ResourceAdvice } from './advice.ts';
import { describeChanges, dueChanges, withMemoryLimits } from './due-changes.ts';
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
    const memory = (limit: number) => dueChanges(advice(none, dueAdvice(64 * MIB, limit)))[0]?.to;
    expect(memory(128 * MIB)).toEqual({ memoryRequest: 64 * MIB, memoryLimit: 128 * MIB });
    expect(memory(256 * MIB)).toEqual({ memoryRequest: 64 * MIB });
  });

  test('only a limit may change', () => {
    expect(dueChanges(advice(dueAdvice(200, 300), none))[0]?.to).toEqual({ cpuLimit: 300 });
    expect(dueChanges(advice(none, dueAdvice(128 * MIB, 200 * MIB)))[0]?.to).toEqual({ memoryLimit: 200 * MIB });
  });

  test('what is held is not due', () => {
    const held = { isDue: false, held: 'Cooldown' } as const;
    expect(dueChanges(advice({ ...dueAdvice(100, 200), ...held }, { ...dueAdvice(MIB, MIB), ...held }))).toEqual([]);
  });

  test('in words', () => {
    const changes = dueChanges(advice(dueAdvice(100), dueAdvice(64 * MIB, 128 * MIB)));
    expect(describeChanges(changes, [aContainer()])).toBe(
      'app: cpu 200m -> 100m, memory 128Mi -> 64Mi, memory limit 256Mi -> 128Mi',
    );
    expect(describeChanges(changes, [aContainer({ size: {} })])).toContain('cpu none -> 100m');
  });
});

test('memory limits that would fall stay, where that restarts nothing', () => {
  const proxy = aContainer({ name: 'proxy', memoryRestart: 'RestartContainer' });
  const inForce = [aContainer(), proxy, aContainer({ name: 'log', size: {} })];
  const less = { memoryRequest: 64 * MIB, memoryLimit: 128 * MIB };
  const of = (container: string, to: object) => withMemoryLimits([{ container, to }], inForce)[0]?.to;
  expect(of('app', less)).toEqual({ memoryRequest: 64 * MIB });
  expect(of('app', { memoryLimit: 128 * MIB })).toBeUndefined();
  expect(of('app', { memoryLimit: 512 * MIB })).toEqual({ memoryLimit: 512 * MIB });
  expect([of('proxy', less), of('log', less)]).toEqual([less, less]);
});
