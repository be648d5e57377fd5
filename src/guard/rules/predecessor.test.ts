import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { aTemplate } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { evict, pod, pods, restamp, scene } from '../testing/scene.ts';

const beside = (
  labels: Readonly<Record<string, string>>,
  { namespace = 'spotalis-system', phase = 'Running' }: Partial<Pick<PodRecord, 'namespace' | 'phase'>> = {},
) => {
  const other = pod('other', 'x', { namespace, owner: undefined, phase, template: aTemplate({ labels }) });
  return scene({ records: { pods: [...pods, other], ownNamespace: 'platform' } });
};
const spotalis = { 'app.kubernetes.io/name': 'spotalis' };

describe('Spotalis beside Stowage', () => {
  test('keeps pods from being moved while it runs; its end wakes nobody, so it is looked for again', () => {
    expect(inspectAll(evict(), beside(spotalis))).toEqual([
      {
        rule: 'no-spotalis',
        reason: 'PredecessorRuns',
        message:
          'Spotalis runs beside Stowage (pod spotalis-system/other) and writes the same: while it does, Stowage changes nothing here',
        advice: 'Stop it, and see docs/troubleshooting.md#two-installations.',
        retryAfterMillis: 60_000,
      },
    ]);
    expect(inspectAll(restamp(), beside(spotalis)).map(({ rule }) => rule)).toContain('no-spotalis');
  });

  test.each([
    ['it has ended', spotalis, { phase: 'Succeeded' }],
    ['a tenant calls his own pod so', spotalis, { namespace: 'shop' }],
    ['it is ours under its name', { ...spotalis, 'app.kubernetes.io/part-of': 'stowage' }, {}],
    ['OptiPod places nothing', { 'app.kubernetes.io/name': 'optipod' }, { namespace: 'optipod-system' }],
    ['it is any other pod', { app: 'spotalis' }, {}],
  ] as const)('is no trouble where %s', (_, labels, changes) => {
    expect(inspectAll(evict(), beside(labels, changes))).toEqual([]);
  });

  test('counts in the namespace of the operator, which it is to leave', () => {
    expect(inspectAll(evict(), beside(spotalis, { namespace: 'platform' }))).toHaveLength(1);
  });
});
