import { expect, test } from 'vitest';
import { MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { noAdvice } from './advice.ts';
import { savingOf, sumSavings, worthOf } from './savings.ts';
import { dueAdvice } from './testing/advice.ts';

const none = noAdvice('NoData', 'nothing');

test('is that of all replicas, in the end and not of the next step', () => {
  const stepped = { ...dueAdvice(50), request: 150 };
  const advice = [{ container: 'app', current: smallSize, cpu: stepped, memory: dueAdvice(28 * MIB) }];
  expect(savingOf(advice, 3)).toEqual({ cpuMillis: 450, memoryBytes: 300 * MIB });
});

test('is negative where more is needed, and nothing where nothing is known', () => {
  expect(savingOf([{ container: 'app', current: smallSize, cpu: dueAdvice(500), memory: none }], 2).cpuMillis).toBe(
    -600,
  );
  expect(savingOf([{ container: 'app', current: smallSize, cpu: none, memory: none }], 2)).toEqual({
    cpuMillis: 0,
    memoryBytes: 0,
  });
});

test('of several is the sum, where one that needs more takes away from it', () => {
  const savings = [
    { cpuMillis: 500, memoryBytes: MIB },
    { cpuMillis: -200, memoryBytes: 3 * MIB },
  ];
  expect(sumSavings(savings)).toEqual({ cpuMillis: 300, memoryBytes: 4 * MIB });
  expect(sumSavings([])).toEqual({ cpuMillis: 0, memoryBytes: 0 });
});

test('a core is worth as much as some gigabytes', () => {
  expect(worthOf({ cpuMillis: 1000, memoryBytes: 0 })).toBe(1);
  expect(worthOf({ cpuMillis: 0, memoryBytes: 15 * 1024 ** 3 })).toBe(2);
});
