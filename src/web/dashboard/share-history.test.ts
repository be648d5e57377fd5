import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../act/journal.ts';
import { shareHistory } from './share-history.ts';
import type { FollowedShares } from './share-recorder.ts';
import { createShareTrack, type ShareStep } from './share-track.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;

function followed(...steps: readonly ShareStep[]): FollowedShares {
  const track = createShareTrack();
  for (const step of steps) track.add(step);
  return { since: 95 * MINUTE, pods: new Map([['web-1', track]]), omitted: 2 };
}

function resized(minute: number, requestAfter: number, fields: Partial<JournalEntry> = {}): JournalEntry {
  const at = minute * MINUTE;
  const numbers = { requestAfter };
  const entry = { kind: 'done', reason: 'CPUApplied', message: '', pod: 'web-1' } as const;
  return { ...entry, numbers, firstAt: at, lastAt: at, count: 1, ...fields };
}

describe('shares over time', () => {
  test('are told as steps of given and used, without repeats', () => {
    const history = shareHistory(
      followed(
        { at: 95 * MINUTE, given: 200, used: undefined },
        { at: 96 * MINUTE, given: 200, used: 90 },
        { at: 97 * MINUTE, given: 300, used: 90 },
      ),
      [],
      NOW,
    );
    expect(history).toEqual({
      since: 95 * MINUTE,
      omitted: 2,
      pods: [
        {
          pod: 'web-1',
          given: [
            [95 * MINUTE, 200],
            [97 * MINUTE, 300],
          ],
          used: [[96 * MINUTE, 90]],
          endedAt: undefined,
        },
      ],
    });
  });

  test('what was given before anybody looked is in the journal', () => {
    const history = shareHistory(
      followed({ at: 95 * MINUTE, given: 200, used: 90 }),
      [
        resized(30, 50),
        resized(60, 100),
        resized(70, 150, { reason: 'CPURestored' }),
        resized(71, 900, { pod: 'web-2' }),
        resized(72, 900, { kind: 'failed' }),
        resized(73, 900, { reason: 'Applied' }),
        resized(74, 900, { numbers: {} }),
        resized(80, 200),
        resized(96, 900),
      ],
      NOW,
    );
    expect(history?.pods[0]?.given).toEqual([
      [60 * MINUTE, 100],
      [70 * MINUTE, 150],
      [80 * MINUTE, 200],
    ]);
  });

  test('what holds since before the hour begins with it', () => {
    const history = shareHistory(followed({ at: 10 * MINUTE, given: 200, used: 90 }), [], NOW);
    expect(history?.pods[0]).toMatchObject({ given: [[40 * MINUTE, 200]], used: [[40 * MINUTE, 90]] });
  });

  test('of no pod there is none', () => {
    expect(shareHistory({ since: 0, pods: new Map(), omitted: 0 }, [], NOW)).toBeUndefined();
  });
});
