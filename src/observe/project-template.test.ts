import { expect, test } from 'vitest';
import { projectTemplate } from './project-template.ts';

test.each<[string, number, number]>([
  ['of a minute', 60, 60],
  ['of none at all', 0, 0],
  ['below 0', -1, 1],
  ['of as many bits as the API takes', 2 ** 63, Number.MAX_SAFE_INTEGER],
])('a grace period %s is what the API server makes of it', (_, terminationGracePeriodSeconds, expected) => {
  expect(projectTemplate({}, { containers: [], terminationGracePeriodSeconds }).terminationGraceSeconds).toBe(expected);
});

test('without a grace period it is half a minute', () => {
  expect(projectTemplate({}, { containers: [] }).terminationGraceSeconds).toBe(30);
});

test('a grace period that is no whole number is told', () => {
  const spec = { containers: [], terminationGracePeriodSeconds: 1.5 };
  expect(() => projectTemplate({}, spec)).toThrow('spec.terminationGracePeriodSeconds');
});
