import { expect, test } from 'vitest';
import { restartDelay } from './restart-backoff.ts';

test.each([
  ['the first restart waits only until the end is noticed', 0, 5_000, 0, 1_120],
  ['the second waits ten seconds', 1, 5_000, 10_000, 10_000],
  ['each one more doubles the wait', 4, 5_000, 80_000, 80_000],
  ['up to five minutes', 20, 5_000, 300_000, 300_000],
  ['a container that ran for ten minutes begins anew', 20, 600_000, 0, 1_120],
])('%s', (_name, restarts, ranMillis, backoffMillis, delayMillis) => {
  expect(restartDelay(restarts, ranMillis)).toEqual({ backoffMillis, delayMillis });
});
