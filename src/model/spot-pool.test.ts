import { describe, expect, test } from 'vitest';
import { familyOf, INSTANCE_TYPE_LABEL, poolOf, ZONE_LABEL } from './spot-pool.ts';
import { aNode } from './testing/records.ts';

const nodeIn = (labels: Readonly<Record<string, string>>) => aNode('n', 'spot', { labels });

describe('poolOf', () => {
  test('is zone and instance family, whatever the size', () => {
    const large = poolOf(nodeIn({ [ZONE_LABEL]: 'a', [INSTANCE_TYPE_LABEL]: 'm5.large' }));
    const huge = poolOf(nodeIn({ [ZONE_LABEL]: 'a', [INSTANCE_TYPE_LABEL]: 'm5.24xlarge' }));
    expect(large).toEqual({ key: 'a/m5', zone: 'a', instanceType: 'm5.large' });
    expect(huge.key).toBe(large.key);
  });

  test.each([
    ['another zone', { [ZONE_LABEL]: 'b', [INSTANCE_TYPE_LABEL]: 'm5.large' }, 'b/m5'],
    ['another family', { [ZONE_LABEL]: 'a', [INSTANCE_TYPE_LABEL]: 'm5a.large' }, 'a/m5a'],
    ['no zone', { [INSTANCE_TYPE_LABEL]: 'm5.large' }, '-/m5'],
    ['no type', { [ZONE_LABEL]: 'a' }, 'a/-'],
    ['neither: the pool of all such nodes', {}, '-/-'],
  ])('%s', (_, labels, key) => {
    expect(poolOf(nodeIn(labels)).key).toBe(key);
  });
});

test.each([
  ['m5.xlarge', 'm5'],
  ['c6gn.16xlarge', 'c6gn'],
  ['n2-standard-4', 'n2'],
  ['Standard_D4s_v5', 'Standard_Ds_v5'],
  ['Standard_D64s_v5', 'Standard_Ds_v5'],
  ['Standard_E4as_v5', 'Standard_Eas_v5'],
  ['odd', 'odd'],
])('the family of %s is %s', (type, family) => {
  expect(familyOf(type)).toBe(family);
});
