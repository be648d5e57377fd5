import { expect, test } from 'vitest';
import { mostOf } from './replicas-part.ts';

test('bars are to one scale: what the largest of all replicas requests', () => {
  const replicas = [
    { containers: [{ container: 'app', cpu: 120, memory: 5 }, { container: 'log' }] },
    { containers: [{ container: 'app', cpu: 900 }] },
  ];
  expect([mostOf(replicas, 'cpu'), mostOf(replicas, 'memory'), mostOf([], 'cpu')]).toEqual([900, 5, 1]);
});
