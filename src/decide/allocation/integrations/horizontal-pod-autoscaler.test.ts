import { describe, expect, test } from 'vitest';
import type { OwnerReference } from '../../../model/records.ts';
import type { HpaRecord, SizedWorkload } from '../../../model/sizing-records.ts';
import { anHpa } from '../../../model/testing/sizing-records.ts';
import type { HpaMode } from '../marks.ts';
import { hpasOf, judgeHpas } from './horizontal-pod-autoscaler.ts';

const NOW = 10_000_000;
const byCpu = (percent = 80, change: Partial<HpaRecord> = {}): HpaRecord =>
  anHpa({ utilization: { cpu: percent }, ...change });
const free = { isRequestFrozen: false, limitMin: undefined, isScaling: false, step: undefined, bandFactor: 1 };
const frozen = { isRequestFrozen: true, isScaling: false, step: 0.1, bandFactor: 2 };

describe('what an autoscaler does to its pods', () => {
  test.each<[string, readonly HpaRecord[], HpaMode, object]>([
    ['none', [], 'auto', free],
    ['by memory only', [anHpa({ utilization: { memory: 80 } })], 'auto', free],
    ['by custom metrics only', [anHpa()], 'auto', free],
    [
      'by CPU: the request stays, the ceiling leaves room for the threshold',
      [byCpu(80)],
      'auto',
      { ...frozen, limitMin: 500 },
    ],
    ['a high threshold needs a higher ceiling', [byCpu(200)], 'auto', { ...frozen, limitMin: 1200 }],
    [
      'by CPU of one container',
      [anHpa({ containerUtilization: [{ container: 'main', resource: 'cpu', percent: 90 }] })],
      'auto',
      { ...frozen, limitMin: 540 },
    ],
    [
      'at its most replicas only growing is left',
      [byCpu(80, { currentReplicas: 10, desiredReplicas: 10 })],
      'auto',
      { ...free, isScaling: true },
    ],
    ['replicas on their way', [anHpa({ desiredReplicas: 5 })], 'auto', { ...free, isScaling: true }],
    ['scaled four minutes ago', [anHpa({ lastScaleAt: NOW - 240_000 })], 'auto', { ...free, isScaling: true }],
    ['scaled six minutes ago', [anHpa({ lastScaleAt: NOW - 360_000 })], 'auto', free],
    ['told to leave it alone', [byCpu(80)], 'ignore', free],
    ['told to keep requests though no autoscaler is there', [], 'limits-only', { ...frozen, limitMin: 500 }],
    [
      'told to keep requests, at its most replicas',
      [byCpu(80, { currentReplicas: 10, desiredReplicas: 10 })],
      'limits-only',
      frozen,
    ],
  ])('integration 5: %s', (_name, hpas, mode, wanted) => {
    expect(judgeHpas(hpas, mode, 500, NOW)).toMatchObject(wanted);
  });
});

describe('whose autoscaler', () => {
  const workload = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' } as SizedWorkload;

  test.each<[string, Partial<HpaRecord>, number]>([
    ['its own', {}, 1],
    ['another version of the API', { target: { apiVersion: 'apps/v1beta2', kind: 'Deployment', name: 'web' } }, 1],
    ['another group', { target: { apiVersion: 'argoproj.io/v1', kind: 'Deployment', name: 'web' } }, 0],
    ['another kind', { target: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' } }, 0],
    ['another name', { target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' } }, 0],
    ['another namespace', { namespace: 'blog' }, 0],
  ])('integration 5: %s', (_name, change, count) => {
    expect(hpasOf({ workload, owner: undefined }, [anHpa(change)], () => true)).toHaveLength(count);
  });

  test('integration 5: a bare pod has none', () => {
    expect(hpasOf({ workload: undefined, owner: undefined }, [anHpa()], () => false)).toEqual([]);
  });

  const byKind = (kind: string, name: string): HpaRecord =>
    anHpa({ name, target: { apiVersion: 'argoproj.io/v1alpha1', kind, name } });
  const ownedBy = (apiVersion: string, kind: string): OwnerReference => ({ apiVersion, kind, name: 'web', uid: 'u' });
  const ofPodsOf = (owner: OwnerReference, hpas: readonly HpaRecord[]): readonly string[] =>
    hpasOf({ workload: undefined, owner }, hpas, ({ kind }) => kind === 'Deployment').map(({ name }) => name);

  test('integration 5: of a workload that is not read, those whose target is not known either', () => {
    const hpas = [anHpa({ name: 'of-a-deployment' }), byKind('Rollout', 'web'), byKind('Rollout', 'api')];
    expect(ofPodsOf(ownedBy('apps/v1', 'ReplicaSet'), hpas)).toEqual(['web', 'api']);
    expect(ofPodsOf(ownedBy('apps/v1', 'ReplicaSet'), [anHpa()])).toEqual([]);
  });

  test('integration 5: of pods that their workload makes itself, its own', () => {
    const hpas = [byKind('Fleet', 'api'), byKind('Fleet', 'web')];
    expect(ofPodsOf(ownedBy('argoproj.io/v1', 'Fleet'), hpas)).toEqual(['web']);
  });
});
