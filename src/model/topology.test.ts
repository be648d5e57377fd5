import { expect, test } from 'vitest';
import { aNode } from './testing/records.ts';
import { domainOf, HOSTNAME } from './topology.ts';

test.each([
  ['the value of the label', 'zone', { zone: 'a' }, 'a'],
  ['none without it', 'zone', {}, undefined],
  ['none for a key that only looks like a label', 'constructor', {}, undefined],
  ['of machines the label of the machine', HOSTNAME, { [HOSTNAME]: 'ip-10-0-0-1' }, 'ip-10-0-0-1'],
  ['of machines without it the name', HOSTNAME, {}, 'n1'],
])('the domain of a node is %s', (_, key, labels, expected) => {
  expect(domainOf(aNode('n1', undefined, { labels }), key)).toBe(expected);
});
