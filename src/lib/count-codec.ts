/** Counts as short text: most are small or 0, and take one byte. */
import { InvalidValueError } from './errors.ts';

const MAX_COUNT = 0xffff_ffff;
/** Seven bits of a number in each byte; the eighth says that more follow. */
const BITS = 128;

/**
 * Base64 of variable-length numbers, the lowest seven bits first (as LEB128 has it).
 * @param counts whole numbers, 0..2^32-1.
 */
export function encodeCounts(counts: readonly number[]): string {
  const bytes: number[] = [];
  for (const count of counts) {
    let rest = count;
    for (; rest >= BITS; rest = Math.floor(rest / BITS)) bytes.push((rest % BITS) + BITS);
    bytes.push(rest);
  }
  return Buffer.from(bytes).toString('base64');
}

/** @throws InvalidValueError for text that was not written by {@link encodeCounts}, or was cut since. */
export function decodeCounts(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  const counts: number[] = [];
  let count = 0;
  let factor = 1;
  for (const byte of bytes) {
    count += (byte % BITS) * factor;
    factor *= BITS;
    if (byte >= BITS) continue;
    counts.push(count);
    count = 0;
    factor = 1;
  }
  const isWhole = factor === 1 && bytes.toString('base64') === text;
  if (isWhole && counts.every((each) => each <= MAX_COUNT)) return counts;
  throw new InvalidValueError(
    'saved counts',
    text.length > 40 ? `${text.slice(0, 40)}...` : text,
    'base64, as written by Stowage',
  );
}
