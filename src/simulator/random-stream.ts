/** Chance in a simulation. */
import { createSeededRandom, type Random } from '../lib/random.ts';

/** Streams of their own, so that a change of one thing in a scenario leaves the luck of the others as it was. */
export function randomStream(seed: number, purpose: string): Random {
  let mixed = seed;
  for (const char of purpose) mixed = Math.imul(mixed ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return createSeededRandom(mixed);
}
