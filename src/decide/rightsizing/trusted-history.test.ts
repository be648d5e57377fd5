import { expect, test } from 'vitest';
import { UsageProfile } from '../../model/usage-profile.ts';
import { isTrusted } from './trusted-history.ts';

const HOUR = 3_600_000;
const START = 1_700_000_000_000;
const rules = { minHistoryMillis: 24 * HOUR, minSamples: 20, staleAfterMillis: 2 * HOUR };

/** A sample an hour of both, but for what is left out. */
function profile(hours: number, left?: 'cpu' | 'memory', leftFrom = 0): UsageProfile {
  const known = new UsageProfile({ usualHalfLifeMillis: 8 * HOUR, startupExclusionMillis: 0 });
  for (let hour = 0; hour <= hours; hour++) {
    const at = START + hour * HOUR;
    if (left !== 'cpu' || hour < leftFrom) known.add({ at, cpu: 100 });
    if (left !== 'memory' || hour < leftFrom) known.add({ at, memory: 1e8 });
  }
  return known;
}

test.each<[string, UsageProfile | undefined, number, boolean]>([
  ['a day', profile(24), 24, true],
  ['less than a day', profile(23), 23, false],
  ['nothing', undefined, 24, false],
  ['no memory', profile(24, 'memory'), 24, false],
  ['no CPU', profile(24, 'cpu'), 24, false],
  ['too few samples of CPU', profile(24, 'cpu', 12), 24, false],
  ['nothing for hours', profile(24), 27, false],
  ['a future that a wrong clock told of', profile(24), 21, false],
  ['no memory for hours', profile(48, 'memory', 40), 48, false],
])('a history of %s', (_, known, hours, expected) => {
  expect(isTrusted(known, rules, START + hours * HOUR)).toBe(expected);
});
