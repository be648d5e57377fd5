import { expect, test } from 'vitest';
import { clampReasons, describeClamp } from './clamp.ts';

test.each([
  [{ reason: 'LimitRange', what: 'max', before: 800, after: 700 }, 'LimitRange: max 800m -> 700m'],
  [{ reason: 'MaxCpu', what: 'max', before: Number.POSITIVE_INFINITY, after: 700 }, 'MaxCpu: max unbounded -> 700m'],
  [{ reason: 'PriorityClass', what: 'weight', before: 5, after: 1.58767 }, 'PriorityClass: weight 5 -> 1.588'],
] as const)('%j in words', (clamp, text) => {
  expect(describeClamp(clamp)).toBe(text);
});

test('every reason is listed once', () => {
  expect(new Set(clampReasons).size).toBe(clampReasons.length);
});
