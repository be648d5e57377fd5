import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createOfferings } from './offerings.ts';

const REFUSAL = 180_000;

describe('a refusal', () => {
  test('ends for who looked before its end, though the process stood still since then', async () => {
    const clock = createVirtualClock(0);
    const offerings = createOfferings(clock);
    offerings.setAvailable('spot', false);
    expect(offerings.nextExpiry(0)).toBeUndefined();
    expect(offerings.request('spot', 'a')).toBe(false);
    await clock.advance(REFUSAL - 1);
    const lookedAt = clock.now();
    expect(offerings.isWorthAsking('spot', 'a')).toBe(false);
    await clock.advance(300);
    expect(offerings.nextExpiry(lookedAt)).toBe(REFUSAL);
    expect(offerings.isWorthAsking('spot', 'a')).toBe(true);
    expect(offerings.nextExpiry(clock.now())).toBeUndefined();
  });
});
