import { expect, test } from 'vitest';
import { createSizingInterners } from './sizing-interners.ts';
import { createSizingProjections } from './sizing-projections.ts';

const quota = (name: string, cpu: string) => ({
  metadata: { name, namespace: 'shop' },
  spec: { hard: { 'requests.cpu': cpu } },
  status: { hard: { 'requests.cpu': cpu }, used: {} },
});

test('an object that cannot be read is told once while that lasts, and anew when it was readable meanwhile', () => {
  const messages: string[] = [];
  const project = createSizingProjections(createSizingInterners(100), (message) => messages.push(message));
  const told = (name: string, cpu: string): number => {
    project.quota(quota(name, cpu));
    return messages.length;
  };
  expect(project.quota(quota('a', 'much'))).toBeUndefined();
  expect(messages).toEqual([expect.stringMatching(/^ResourceQuota shop\/a is left out of sizing.*much/)]);
  expect(told('a', 'much')).toBe(1);
  expect(told('a', 'more')).toBe(2);
  expect(told('b', 'more')).toBe(3);
  expect(told('a', '4')).toBe(3);
  expect(told('a', 'more')).toBe(4);
  expect(told('b', 'more')).toBe(4);
});
