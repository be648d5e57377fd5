import { expect, test } from 'vitest';
import { firstSizes } from './first-sizes.ts';
import { testPodOf } from './testing/pods.ts';

const now = [
  ['c0', { cpuRequest: 400, cpuLimit: 500 }],
  ['c1', { cpuRequest: 100 }],
];

test.each<[string, string | undefined, readonly (readonly [string, object])[] | typeof now]>([
  ['what the annotation says', '{"c0":{"requests":{"cpu":"200m"}}}', [['c0', { cpuRequest: 200 }]]],
  ['what is there, without one', undefined, now],
  ['what is there, where somebody spoilt it', '{"c0":7}', now],
])('before the first change a pod had %s', (_, text, wanted) => {
  const marks = text === undefined ? {} : { 'mbcas.io/original-resources': text };
  expect([...firstSizes(testPodOf([[400, 500], [100]], { marks }))]).toEqual(wanted);
});
