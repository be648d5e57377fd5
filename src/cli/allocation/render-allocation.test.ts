import { expect, test } from 'vitest';
import { plainStyle } from '../style.ts';
import { renderAllocation } from './render-allocation.ts';

test('what each pod bargained for, got and has, and what bounded it', () => {
  const pod = {
    pod: 'web-1',
    node: 'n1',
    agent: 'alive',
    share: '450m',
    ceiling: undefined,
    appliedLimit: undefined,
    applied: '450m',
    claim: '100m',
    want: '900m',
    usage: '440m',
    weight: 2.5,
    mode: 'congested',
    shadowPrice: 0.012,
    phase: 'Applied',
    reason: 'AlreadyApplied',
    message: '',
    clamps: ['LimitRange: max 900m -> 500m'],
  };
  const lines = renderAllocation(
    [pod, { ...pod, pod: 'web-2', agent: 'gone', reason: '', clamps: [] }],
    plainStyle,
    {},
  );
  expect(lines).toEqual([
    'CPU by allocation',
    'POD     NODE              SHARE   IN FORCE   CEILING   USAGE   CLAIM   WANT   WEIGHT   STATE',
    'web-1   n1                 450m       450m         -    440m    100m   900m      2.5   Applied: AlreadyApplied',
    'web-2   n1 (agent gone)    450m       450m         -    440m    100m   900m      2.5   Applied',
    'Bounds:',
    '  web-1: LimitRange: max 900m -> 500m',
  ]);
});
