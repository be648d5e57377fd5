import { expect, test } from 'vitest';
import { toWarning } from './warning.ts';

test('one printable line that says where it comes from', () => {
  expect(toWarning('spotalis', 'a\nb\tc…d')).toBe('spotalis: a b c d');
  expect(toWarning('optipod', 'the policy’s window')).toBe("optipod: the policy's window");
});

test('never so long that the API server would cut it', () => {
  expect(toWarning('optipod', 'x'.repeat(1_000))).toHaveLength(250);
});
