import { expect, test } from 'vitest';
import { readPolicyStatus } from './policy-status.ts';

test('what was written comes back as it is', () => {
  const status = {
    observedGeneration: 2,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '', reason: 'R', message: '' }],
    workloads: [
      { name: 'web', namespace: 'shop', kind: 'Deployment', recommendations: [{ container: 'app', cpu: '1' }] },
      { name: 'db', namespace: 'shop', kind: 'StatefulSet' },
    ],
  };
  expect(readPolicyStatus(status)).toEqual(status);
});

test.each([
  ['nothing', undefined, {}],
  ['a text', 'x', {}],
  ['a list', [], {}],
  ['lists that are none', { conditions: 'x', workloads: null }, { conditions: [], workloads: [] }],
  ['entries that are none', { conditions: [null], workloads: [1, {}] }, { conditions: [], workloads: [{}] }],
  [
    'recommendations that are none',
    { workloads: [{ recommendations: 'x' }, { recommendations: [null, {}] }] },
    { workloads: [{ recommendations: [] }, { recommendations: [{}] }] },
  ],
])('%s: nobody stumbles over it', (_, status, expected) => {
  expect(readPolicyStatus(status)).toEqual(expected);
});
