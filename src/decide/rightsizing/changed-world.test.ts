import { describe, expect, test } from 'vitest';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import type { HoldReason, ResourceAdvice } from './advice.ts';
import { isStillAdvised, outlivedParts } from './changed-world.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import { dueAdvice } from './testing/advice.ts';

const size = { cpuRequest: 500, memoryRequest: 512 * MIB, memoryLimit: 1024 * MIB };
const before = [aContainer({ size }), aContainer({ name: 'log' })];
const less: readonly SizeChange[] = [
  { container: 'app', to: { cpuRequest: 240, memoryRequest: 120 * MIB, memoryLimit: 200 * MIB } },
  { container: 'log', to: { cpuRequest: 10 } },
];
const after = applyChanges(before, less);
const change = { changes: less, before };
const ofApp = (to: SizeChange['to']): readonly SizeChange[] => [{ container: 'app', to }];
const memoryOfApp = { container: 'app', resource: 'memory' as const };

describe('what somebody has put other sizes in force for', () => {
  test.each<[string, boolean, Parameters<typeof outlivedParts>[2], ReturnType<typeof outlivedParts>]>([
    ['nothing, while it is in force', true, after, []],
    ['nothing, while only the first pod has it', false, before, []],
    ['more memory', true, applyChanges(after, ofApp({ memoryRequest: 900 * MIB })), [memoryOfApp]],
    ['another limit', true, applyChanges(after, ofApp({ memoryLimit: 900 * MIB })), [memoryOfApp]],
    [
      'more memory, while only the first pod has it',
      false,
      applyChanges(before, ofApp({ memoryLimit: 1 })),
      [memoryOfApp],
    ],
    ['an amount that the change leaves alone', true, applyChanges(after, ofApp({ cpuLimit: 900 })), []],
    [
      'all of it, taken back',
      true,
      before,
      [{ container: 'app', resource: 'cpu' }, memoryOfApp, { container: 'log', resource: 'cpu' }],
    ],
    ['a container that is gone', true, after.slice(0, 1), [{ container: 'log', resource: 'cpu' }]],
  ])('%s', (_, isWritten, inForce, expected) => {
    expect(outlivedParts(change, isWritten, inForce)).toEqual(expected);
  });

  test('an amount that was not set before, and is now', () => {
    const limited = { changes: ofApp({ cpuLimit: 300 }), before };
    expect(outlivedParts(limited, false, before)).toEqual([]);
    const set = applyChanges(before, ofApp({ cpuLimit: 400 }));
    expect(outlivedParts(limited, false, set)).toEqual([{ container: 'app', resource: 'cpu' }]);
  });
});

describe('what the first pod was given is advised still', () => {
  const app = { cpu: dueAdvice(240), memory: dueAdvice(120 * MIB, 200 * MIB) };
  const log = { cpu: dueAdvice(10), memory: dueAdvice(30 * MIB) };
  const of = (changes: Partial<Pick<SizedAdvice, 'cpu' | 'memory'>> = {}): SizedAdvice[] => [
    { container: 'app', current: size, ...app, ...changes },
    { container: 'log', current: {}, ...log },
  ];
  const held = (reason: HoldReason, request = 240): ResourceAdvice => ({
    ...dueAdvice(request),
    isDue: false,
    held: reason,
  });
  const rulesWith = (minChange: number, minAmount = 1) => ({
    cpu: { change: { minChange, minAmount } },
    memory: { change: { minChange, minAmount } },
  });
  const rules = rulesWith(0.1);
  const isStill = (advice: readonly SizedAdvice[]): boolean => isStillAdvised(change, advice, rules);

  test.each<[string, readonly SizedAdvice[], boolean]>([
    ['the same', of(), true],
    ['a little more', of({ cpu: dueAdvice(264) }), true],
    ['more than a little', of({ cpu: dueAdvice(265) }), false],
    ['less', of({ cpu: dueAdvice(100) }), true],
    ['more of a limit', of({ memory: dueAdvice(120 * MIB, 221 * MIB) }), false],
    ['limits stay now', of({ memory: dueAdvice(120 * MIB) }), false],
    ['not worth a change by itself any more', of({ cpu: held('GainTooSmall') }), true],
    ['after another change', of({ cpu: held('Cooldown') }), true],
    ['an autoscaler has come', of({ cpu: held('HpaTarget') }), false],
    ['allocation has come', of({ cpu: held('CpuAllocated') }), false],
    ['memory must not fall', of({ memory: held('MemoryDecreaseNotAllowed', 120 * MIB) }), false],
    ['nothing is known', of({ cpu: { ...held('NoData'), target: undefined, request: undefined } }), false],
    ['the container is gone', of().slice(0, 1), false],
  ])('%s: %#', (_, advice, expected) => {
    expect(isStill(advice)).toBe(expected);
  });

  test('where any change is worth making, a ripple of usage is none; nor is an amount that is not worth it', () => {
    const at = (request: number, minAmount = 1): boolean =>
      isStillAdvised(change, of({ cpu: dueAdvice(request) }), rulesWith(0, minAmount));
    expect([252, 253].map((request) => at(request))).toEqual([true, false]);
    expect([260, 261].map((request) => at(request, 20))).toEqual([true, false]);
  });

  test('a raise, as long as more than before is advised', () => {
    const more = { changes: ofApp({ cpuRequest: 800 }), before };
    const at = (request: number): boolean => isStillAdvised(more, of({ cpu: dueAdvice(request) }), rules);
    expect([800, 900, 501, 500, 240].map(at)).toEqual([true, true, true, false, false]);
  });

  test('a first request, as long as any is advised', () => {
    const first = { changes: [{ container: 'app', to: { cpuRequest: 100 } }], before: [aContainer({ size: {} })] };
    expect(isStillAdvised(first, of({ cpu: dueAdvice(50) }), rules)).toBe(true);
    expect(isStillAdvised(first, of({ cpu: { ...dueAdvice(0), request: undefined } }), rules)).toBe(false);
  });
});
