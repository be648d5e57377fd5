import { describe, expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { inspect } from '../guard.ts';
import { evict, restamp, scene } from '../testing/scene.ts';

const verdictFor = (leader: boolean, heldMillis: number) =>
  inspect(evict(), scene({ leadership: { leader, sinceMillis: NOON - heldMillis } }));

describe('leadership', () => {
  test('who does not lead writes nothing', () => {
    const context = scene({ leadership: { leader: false, sinceMillis: 0 } });
    expect(inspect(evict(), context)).toMatchObject({ block: { rule: 'leader', reason: 'NotLeader' } });
    expect(inspect(restamp(), context).kind).toBe('blocked');
  });

  test('hazard H28: a new leader waits one cooldown, to the millisecond', () => {
    expect(verdictFor(true, 9_999)).toMatchObject({ block: { reason: 'LeaderWarmup', retryAfterMillis: 1 } });
    expect(verdictFor(true, 10_000).kind).toBe('approved');
  });

  test('it may correct stamps meanwhile', () => {
    expect(inspect(restamp(), scene({ leadership: { leader: true, sinceMillis: NOON } })).kind).toBe('approved');
  });
});
