import { expect, test } from 'vitest';
import { testPod, testRules } from '../decide/allocation/testing/pods.ts';
import { guidanceOf } from './allocation-guidance.ts';

const guidanceWith = (nodeShare: number) =>
  guidanceOf({
    known: {
      pod: testPod('a', { request: 400 }),
      facts: { limitRanges: [], hpas: [], pdbs: [] },
      history: {},
    },
    advice: undefined,
    original: undefined,
    quota: { room: { cpuRequest: 5000, cpuLimit: undefined }, nodeShare },
    rules: testRules,
    now: 0,
  });

test.each([
  [1, 1],
  [2 / 3, 0.66],
  [0.5, 0.5],
  [0.07, 0.07],
  [1 / 300, 0.0033],
  [0, 0],
])(
  'integration 2: of the room of a quota a node is told its part, %d, never rounded up nor to nothing',
  (share, told) => {
    expect(guidanceWith(share)).toMatchObject({ quotaRequestRoom: 5000, quotaNodeShare: told });
  },
);
