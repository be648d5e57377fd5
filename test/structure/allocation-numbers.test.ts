/** Every property, integration and public bug of the allocation engine is a test with its number in its name. */
import { expect, test } from 'vitest';
import { testSources } from './numbered.ts';

const sources = testSources();

/** Numbers after a word in the tag of a title, which is all that stands before its colon: `P17, P18: ...`. */
function numbersAfter(word: string): Set<number> {
  const numbers = new Set<number>();
  for (const source of sources) {
    for (const [tag] of source.matchAll(
      /['"`](?:\w+: )?(?:(?:(?:allocation|mbcas) bug|integration) \d+|P\d+)(?:, [^:'"`]*)?:/g,
    )) {
      for (const match of tag.matchAll(new RegExp(`\\b${word}(\\d+)\\b`, 'g'))) numbers.add(Number(match[1]));
    }
  }
  return numbers;
}

test.each([
  ['P', 18],
  ['integration ', 10],
  ['allocation bug ', 21],
  ['mbcas bug ', 15],
])('%s1 to %d are named tests, and no number is made up', (word, count) => {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  expect([...numbersAfter(word)].sort((a, b) => a - b)).toEqual(all);
});
