import { describe, expect, test } from 'vitest';
import { runLoop } from './testing/cpu-model.ts';
import { testPod } from './testing/pods.ts';

const weight = (value: number): Record<string, string> => ({ 'mbcas.io/weight': String(value) });

describe('closed loop', () => {
  test('a starved pod with a wrong request recovers within three ticks beside a hog', () => {
    const moments = runLoop(
      [
        { pod: testPod('a', { request: 100, marks: weight(4) }), load: () => 800 },
        { pod: testPod('b', { request: 600, marks: weight(2) }), load: () => 300 },
        { pod: testPod('c', { request: 600, marks: weight(1) }), load: () => 2000 },
      ],
      { seconds: 120, cores: 1670 },
    );
    expect(moments[3]?.served['a']).toBeGreaterThan(790);
  });
});
