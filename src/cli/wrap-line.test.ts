import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wrapLine } from './wrap-line.ts';

describe('a line that is too long', () => {
  test('is broken between words, and goes on under where its text began', () => {
    expect(wrapLine('  blocked   BlockedByPdb: the budget allows no disruption now', 40)).toEqual([
      '  blocked   BlockedByPdb: the budget',
      '            allows no disruption now',
    ]);
    expect(wrapLine('note: no pods in the input: nothing runs yet', 30)).toEqual([
      'note: no pods in the input:',
      '      nothing runs yet',
    ]);
    expect(wrapLine('Plan: 16 of 16 workloads managed; nothing was written.', 30)).toEqual([
      'Plan: 16 of 16 workloads',
      '  managed; nothing was',
      '  written.',
    ]);
  });

  test('is left alone in pipes, and where it fits', () => {
    expect(wrapLine('a b c d e f', undefined)).toEqual(['a b c d e f']);
    expect(wrapLine('a b c', 5)).toEqual(['a b c']);
  });

  test('keeps a word whole that is longer than the terminal', () => {
    expect(wrapLine('see namespaces,nodes,pods,deployments now', 20)).toEqual([
      'see',
      '  namespaces,nodes,pods,deployments',
      '  now',
    ]);
  });

  test('is measured without its colours', () => {
    const red = '\u001b[31mtwo words\u001b[0m';
    expect(wrapLine(red, 9)).toEqual([red]);
  });

  test('loses no word, for any text and width', () => {
    const text = fc.array(fc.stringMatching(/^[a-z:.]{1,12}$/), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(text, fc.integer({ min: 30, max: 120 }), (words, width) => {
        const lines = wrapLine(words.join(' '), width);
        expect(lines.flatMap((line) => line.trim().split(' '))).toEqual(words);
        expect(lines.filter((line) => line.length > width)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
