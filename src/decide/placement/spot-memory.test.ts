import { expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { createSpotMemory } from './spot-memory.ts';

test('remembers what pods found and which nodes were lost', () => {
  const spot = createSpotMemory({
    random: createSeededRandom(1),
    backoff: () => ({ initialMillis: 1000, factor: 2, maxMillis: 1000, jitter: 0 }),
    probeLimitMillis: () => 1000,
  });
  for (const uid of ['1', '2', '3']) {
    spot.standing(uid, { key: 'a/m5', zone: 'a', instanceType: 'm5.large' });
    spot.gone(uid, true, 0);
  }
  spot.recordStranded('w', 0, undefined, 0);
  expect(spot.storm(0)).toMatchObject({ lost: 3 });
  expect(spot.lossyPools(30, 0)).toHaveLength(1);
  expect(spot.stateOf('w', 0)).toMatchObject({ kind: 'closed' });
});
