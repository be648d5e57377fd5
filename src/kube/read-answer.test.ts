import { expect, test } from 'vitest';
import { parseRetryAfter } from './read-answer.ts';

const NOW = Date.UTC(2026, 0, 1);
const inSeconds = (seconds: number): string => new Date(NOW + seconds * 1000).toUTCString();

test.each([
  [undefined, undefined],
  ['1', 1_000],
  [' 30 ', 30_000],
  ['0', 0],
  [inSeconds(20), 20_000],
  [inSeconds(-20), 0],
  ['soon', undefined],
  ['', undefined],
])('Retry-After %o is %o ms', (text, millis) => {
  expect(parseRetryAfter(text, NOW)).toBe(millis);
});

test.each(['86400', '999999999', '9'.repeat(40), inSeconds(7 * 86_400)])(
  'Retry-After of a day or more (%s) is a minute: an API server that is back is not left unheard',
  (text) => {
    expect(parseRetryAfter(text, NOW)).toBe(60_000);
  },
);
