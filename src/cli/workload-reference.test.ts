import { describe, expect, test } from 'vitest';
import { workloadText } from '../model/cluster-view.ts';
import { UsageError } from './cli-error.ts';
import { parseWorkloadReference } from './workload-reference.ts';

describe('parseWorkloadReference', () => {
  test.each([
    [['deploy/shop/web'], undefined, 'Deployment shop/web'],
    [['deployment/web'], 'shop', 'Deployment shop/web'],
    [['deployments.apps/web'], undefined, 'Deployment default/web'],
    [['deployment.v1.apps/web'], undefined, 'Deployment default/web'],
    [['sts/db'], 'data', 'StatefulSet data/db'],
    [['StatefulSet', 'db'], 'data', 'StatefulSet data/db'],
    [['statefulsets/data/db'], 'data', 'StatefulSet data/db'],
  ])('%j with -n %s is %s', (words, namespace, expected) => {
    expect(workloadText(parseWorkloadReference(words, namespace))).toBe(expected);
  });

  test.each([
    [['web'], undefined, /"web" is no kind/],
    [['constructor/web'], undefined, /"constructor" is no kind/],
    [['daemonset/web'], undefined, /"daemonset" is no kind/],
    [['deploy/'], undefined, /write it as/],
    [['deploy'], undefined, /write it as/],
    [['deploy//web'], undefined, /write it as/],
    [['deploy/a/b/c'], undefined, /write it as/],
    [['deploy/shop/web'], 'other', /names namespace shop, but -n says other/],
  ])('%j with -n %s is refused', (words, namespace, message) => {
    expect(() => parseWorkloadReference(words, namespace)).toThrow(UsageError);
    expect(() => parseWorkloadReference(words, namespace)).toThrow(message);
  });
});
