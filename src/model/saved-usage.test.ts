import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSavedUsage, type SavedUsage } from './saved-usage.ts';
import { leafOf, leavesOf, withLeaf } from './testing/leaves.ts';
import { profileOptions } from './testing/usage.ts';

const percentiles = { p50: 1, p90: 2, p95: 3, p99: 4, max: 5, samples: 6 };
const valid: SavedUsage = {
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  container: 'app',
  profile: '{}',
  options: profileOptions,
  readTo: { cpu: 1, memory: 2 },
  seenAt: 3,
  kills: ['uid/4'],
  window: { from: 0, to: 1, cpu: percentiles, memory: undefined },
  ring: { windowMillis: 10, slots: [[1, 2, 3, 4, 5]] },
};

describe('saved usage', () => {
  test('is recognized, also after a journey as text', () => {
    expect(isSavedUsage(valid)).toBe(true);
    expect(isSavedUsage(JSON.parse(JSON.stringify(valid)))).toBe(true);
  });

  test('window, ring and either instant may be missing', () => {
    const { window: _window, ring: _ring, ...least } = valid;
    expect(isSavedUsage({ ...least, readTo: {} })).toBe(true);
  });

  test.each([
    ['no workload', { workload: undefined }],
    ['a workload without a name', { workload: { kind: 'Deployment', namespace: 'shop', name: '' } }],
    ['a container that is no text', { container: 5 }],
    ['no profile', { profile: '' }],
    ['no options', { options: undefined }],
    ['a half-life of nothing', { options: { ...profileOptions, usualHalfLifeMillis: 0 } }],
    ['options without an exclusion', { options: { usualHalfLifeMillis: 1 } }],
    ['an instant that is text', { readTo: { cpu: '5' } }],
    ['no time it was seen at', { seenAt: null }],
    ['kills that are no list', { kills: 'uid/4' }],
    ['a kill that is no text', { kills: [4] }],
    ['a window without its end', { window: { from: 0 } }],
    ['percentiles with a hole', { window: { from: 0, to: 1, cpu: { ...percentiles, p99: undefined } } }],
    ['a ring without its window', { ring: { slots: [] } }],
    ['a slot with too little in it', { ring: { windowMillis: 10, slots: [[1, 2, 3]] } }],
    ['a slot that is no list', { ring: { windowMillis: 10, slots: [7] } }],
    ['a slot beyond all numbers', { ring: { windowMillis: 10, slots: [[1e300, 2, 3, 4, 5]] } }],
    ['half a slot', { ring: { windowMillis: 10, slots: [[1.5, 2, 3, 4, 5]] } }],
    ['usage below nothing', { ring: { windowMillis: 10, slots: [[1, -2, 3, 4, 5]] } }],
    ['half a sample', { ring: { windowMillis: 10, slots: [[1, 2, 3.5, 4, 5]] } }],
    ['a ring of nothing', { ring: { windowMillis: 0, slots: [] } }],
    ['a ring of next to nothing', { ring: { windowMillis: 1e-300, slots: [] } }],
    ['a time no calendar has', { seenAt: 1e300 }],
    ['an instant no calendar has', { readTo: { memory: 8_640_000_000_000_001 } }],
  ])('with %s it is refused', (_name, changes) => {
    expect(isSavedUsage({ ...valid, ...changes })).toBe(false);
  });

  test.each(leavesOf(valid).map((path) => [path.join('.'), path] as const))(
    'with something else than it should be at %s it is refused',
    (_name, path) => {
      const wrong = typeof leafOf(valid, path) === 'number' ? ['1', null, Number.NaN, {}] : [7, null, '', {}];
      for (const leaf of wrong) expect(isSavedUsage(withLeaf(valid, path, leaf))).toBe(false);
    },
  );

  test('for any value at all, it only says yes or no', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(typeof isSavedUsage(value)).toBe('boolean');
      }),
      { numRuns: 300 },
    );
  });
});
