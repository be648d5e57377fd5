/** Generated names and uids. */
import type { Random } from '../../lib/random.ts';

/** No vowels and no look-alikes, so that no generated name spells a word. Source: apimachinery pkg/util/rand. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Longest `generateName` part kept: names are at most 63 characters. */
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** Source: apiserver pkg/storage/names/generate.go. */
export function generateName(base: string, random: Random): string {
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index++) suffix += ALPHABET[Math.floor(random.next() * ALPHABET.length)];
  return `${base.slice(0, MAX_BASE_LENGTH)}${suffix}`;
}

/** A random (version 4) uid, reproducible from the seed of `random`. */
export function generateUid(random: Random): string {
  const hex = (digits: number): string =>
    Math.floor(random.next() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  const variant = (8 + Math.floor(random.next() * 4)).toString(16);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${variant}${hex(3)}-${hex(8)}${hex(4)}`;
}

/** Time as `metav1.Time` prints it: whole seconds, UTC. */
export function toTime(epochMillis: number): string {
  return `${new Date(epochMillis).toISOString().slice(0, 19)}Z`;
}
