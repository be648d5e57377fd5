import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readinessAt } from './scripted-readiness.ts';

type Script = Parameters<typeof readinessAt>[0];

const script = (changes: Partial<Script>): Script => ({
  readyMillis: 10,
  unreadyAfterMillis: 'never',
  unreadyForMillis: 'never',
  ...changes,
});
const failing = script({ unreadyAfterMillis: 100, unreadyForMillis: 20 });

test.each<[string, Script, number, boolean, number, number | 'never']>([
  ['before it is ready', script({}), 9, false, 0, 10],
  ['from then on', script({}), 10, true, 10, 'never'],
  ['one that never becomes ready', script({ readyMillis: 'never' }), 1e9, false, 0, 'never'],
  ['before it fails', failing, 109, true, 10, 110],
  ['while it fails', failing, 110, false, 110, 130],
  ['after that', failing, 130, true, 130, 230],
  ['many rounds later', failing, 10 + 50 * 120 + 105, false, 10 + 50 * 120 + 100, 10 + 51 * 120],
  ['one that fails for good', script({ unreadyAfterMillis: 100 }), 1e9, false, 110, 'never'],
  ['one that fails for no time', script({ unreadyAfterMillis: 0, unreadyForMillis: 0 }), 10, true, 10, 'never'],
  ['one that is ready for no time', script({ unreadyAfterMillis: 0, unreadyForMillis: 20 }), 35, false, 30, 50],
])('%s', (_name, of, ran, isReady, sinceMillis, untilMillis) => {
  expect(readinessAt(of, ran)).toEqual({ isReady, sinceMillis, untilMillis });
});

test('for any script and moment, what holds has begun by then, ends later, and is the same all the time', () => {
  const millis = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.constant('never' as const));
  const scripts = fc.record({ readyMillis: millis, unreadyAfterMillis: millis, unreadyForMillis: millis });
  fc.assert(
    fc.property(scripts, fc.integer({ min: 0, max: 500 }), (of, ran) => {
      const at = readinessAt(of, ran);
      expect(at.sinceMillis).toBeLessThanOrEqual(ran);
      if (at.untilMillis !== 'never') expect(at.untilMillis).toBeGreaterThan(ran);
      expect(readinessAt(of, at.sinceMillis)).toEqual(at);
    }),
  );
});
