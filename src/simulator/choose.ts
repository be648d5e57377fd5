/** Which ones an event of a script means: by name, or by chance. */
import type { Random } from '../lib/random.ts';

/** `*` stands for any text; nothing else is special. */
export function matchesGlob(pattern: string, text: string): boolean {
  const literal = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`).test(text);
}

/** So many of them, at random; all where there are no more. */
export function draw<T>(from: readonly T[], count: number, random: Random): T[] {
  const left = [...from];
  const drawn: T[] = [];
  while (drawn.length < count && left.length > 0)
    drawn.push(...left.splice(Math.floor(random.next() * left.length), 1));
  return drawn;
}
