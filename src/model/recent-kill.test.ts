import { expect, test } from 'vitest';
import { RECOVERED_MILLIS, wasJustKilled } from './recent-kill.ts';
import { NOON } from './testing/records.ts';
import { aContainer, aContainerStatus } from './testing/sizing-records.ts';

interface End {
  readonly reason?: string;
  readonly finishedAt?: number | undefined;
  readonly seenAt?: number;
}

test.each<[string, End | undefined, boolean]>([
  ['it never ended', undefined, false],
  ['it was killed a moment ago', {}, true],
  ['it crashed', { reason: 'Error' }, false],
  ['it was killed, and has run for long since', { finishedAt: NOON - RECOVERED_MILLIS }, false],
  ['it was killed just not so long ago', { finishedAt: NOON - RECOVERED_MILLIS + 1 }, true],
  ['it was killed, and nobody says when', { finishedAt: undefined }, true],
  ['it was killed just now, on a node whose clock is hours behind', { finishedAt: 0, seenAt: NOON - 1000 }, true],
  ['it was killed long ago, on a node whose clock is ahead', { seenAt: NOON - RECOVERED_MILLIS }, false],
  ['it was killed by a node whose clock is ahead', { finishedAt: NOON + 86_400_000 }, true],
])('%s', (_, end, expected) => {
  const lastTermination = end && { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 1000, ...end };
  expect(wasJustKilled(aContainerStatus(aContainer(), { lastTermination }), NOON)).toBe(expected);
});
