import { expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { gracefulEnd } from './graceful-end.ts';

const pod = (ofDeletion?: number, ofSpec?: number): Pod => ({
  metadata: { name: 'a', ...(ofDeletion !== undefined && { deletionGracePeriodSeconds: ofDeletion }) },
  spec: { containers: [], ...(ofSpec !== undefined && { terminationGracePeriodSeconds: ofSpec }) },
});

test.each<[string, Pod, number | 'never', boolean, boolean, number]>([
  ['a pod that stops in time is not killed', pod(), 2900, true, false, 2900],
  ['nor is one that takes all the time it has', pod(), 30_000, true, false, 30_000],
  ['one that takes longer is killed after half a minute', pod(), 30_001, true, true, 30_000],
  ['so is one that never stops', pod(), 'never', true, true, 30_000],
  ['its spec may give it another time', pod(undefined, 5), 20_000, true, true, 5000],
  ['whoever deletes it has the last word', pod(60, 5), 20_000, true, false, 20_000],
  ['also where that is no time at all', pod(0, 5), 20_000, true, true, 0],
  ['nothing that runs is nothing to wait for', pod(), 2900, false, false, 0],
])('%s', (_name, of, stopMillis, isRunning, isKilled, delayMillis) => {
  expect(gracefulEnd(of, { stopMillis }, isRunning)).toEqual({ isKilled, delayMillis });
});
