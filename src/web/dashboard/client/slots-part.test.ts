import { expect, test } from 'vitest';
import { cutText } from './slots-part.ts';

test('a picture of some pods says of how many', () => {
  expect(cutText(5000)).toBe('The first 300 of 5,000 pods; the table has all of them.');
});
