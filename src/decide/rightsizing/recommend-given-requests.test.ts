/** Requests that a LimitRange gives, as the template has none: pods have them, and they are lowered like any other. */
import { expect, test } from 'vitest';
import { aLimitRange, anHpa, MIB } from '../../model/testing/sizing-records.ts';
import { dueChanges } from './due-changes.ts';
import type { Surroundings } from './fit-surroundings.ts';
import type { RightsizingPolicy } from './policy.ts';
import { DAY } from './testing/profiles.ts';
import { ask, container, eager, policy } from './testing/workload-question.ts';

const withoutMemory = container('app', { cpuRequest: 240 });
const given = (memory: number, around: Partial<Surroundings> = {}) => ({
  limitRanges: [aLimitRange({ defaultRequest: { cpu: 100, memory: memory * MIB } })],
  ...around,
});
const memoryOf = (around: Partial<Surroundings>, own: Partial<RightsizingPolicy> = {}) =>
  ask({ containers: [withoutMemory], around, policy: own })[0]?.memory;

test('without one, any value is better than none', () => {
  expect(memoryOf({})).toMatchObject({ isDue: true, request: 120 * MIB });
});

test.each<[string, Partial<RightsizingPolicy>, object]>([
  ['never, where the policy says so', { memoryDecrease: 'Never' }, { held: 'MemoryDecreaseNotAllowed' }],
  ['not by a short history', { minHistoryMillis: 3 * DAY }, { held: 'LowConfidence' }],
])('are lowered %s', (_, own, expected) => {
  expect(memoryOf(given(512), own)).toMatchObject({ isDue: false, ...expected });
});

test('are lowered in steps, and left alone where they are about right', () => {
  const memory = { ...policy.memory, change: { ...eager, maxStepDown: 0.5, minChange: 0.1 } };
  const asked = (mib: number) =>
    dueChanges(ask({ containers: [withoutMemory], around: given(mib), policy: { memory } }));
  expect(asked(512)).toEqual([{ container: 'app', to: { memoryRequest: 256 * MIB } }]);
  expect(asked(125)).toEqual([]);
});

test('are what an autoscaler goes by: they stay', () => {
  const containers = [container('app', { memoryRequest: 120 * MIB })];
  const around = given(64, { hpas: [anHpa({ utilization: { cpu: 80 } })] });
  expect(ask({ containers, around })[0]?.cpu).toMatchObject({ isDue: false, held: 'HpaTarget' });
});
