import { describe, expect, test } from 'vitest';
import { aTemplate } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { evict, pod, pods, restamp, scene } from '../testing/scene.ts';

const beside = (labels: Readonly<Record<string, string>>, phase: 'Running' | 'Succeeded' = 'Running') =>
  scene({
    records: { pods: [...pods, pod('other', 'x', { owner: undefined, phase, template: aTemplate({ labels }) })] },
  });
const spotalis = { 'app.kubernetes.io/name': 'spotalis' };

describe('Spotalis beside Stowage', () => {
  test('keeps pods from being moved while it runs; its end wakes nobody, so it is looked for again', () => {
    expect(inspectAll(evict(), beside(spotalis))).toEqual([
      {
        rule: 'no-spotalis',
        reason: 'PredecessorRuns',
        message:
          'Spotalis runs beside Stowage (pod shop/other) and writes the same: while it does, Stowage changes nothing here',
        advice: 'Stop it, and see docs/troubleshooting.md#two-installations.',
        retryAfterMillis: 60_000,
      },
    ]);
    expect(inspectAll(restamp(), beside(spotalis)).map(({ rule }) => rule)).toContain('no-spotalis');
  });

  test.each([
    ['it has ended', spotalis, 'Succeeded'],
    ['it is ours under its name', { ...spotalis, 'app.kubernetes.io/part-of': 'stowage' }, 'Running'],
    ['OptiPod places nothing', { 'app.kubernetes.io/name': 'optipod' }, 'Running'],
    ['it is any other pod', { app: 'spotalis' }, 'Running'],
  ] as const)('is no trouble where %s', (_, labels, phase) => {
    expect(inspectAll(evict(), beside(labels, phase))).toEqual([]);
  });
});
