import { describe, expect, test } from 'vitest';
import { isStowage, optipodBeside, predecessorOf, runningOf, runningPredecessor } from './predecessors.ts';
import type { PodRecord } from './records.ts';
import { aDeployment, aPod, aReplicaSet, aTemplate } from './testing/records.ts';

const NAME = 'app.kubernetes.io/name';
const podOf = (labels: Readonly<Record<string, string>>, changes: Partial<PodRecord> = {}): PodRecord =>
  aPod(aReplicaSet(aDeployment()), 'p', { template: aTemplate({ labels }), ...changes });

describe('programs of other systems', () => {
  test.each([
    ['spotalis', 'Spotalis'],
    ['optipod', 'OptiPod'],
    ['mbcas', 'MBCAS'],
  ] as const)('%s is known by its label', (label, system) => {
    expect(predecessorOf({ [NAME]: label })).toBe(system);
    expect(runningPredecessor(podOf({ [NAME]: label }))).toEqual({ system, pod: 'shop/p' });
  });

  test.each([
    ['any other', { app: 'web' }],
    ['no label', {}],
    ['a name that every object has', { [NAME]: 'constructor' }],
    ['our own', { [NAME]: 'stowage' }],
    ['our own by their name', { [NAME]: 'spotalis', 'app.kubernetes.io/part-of': 'stowage' }],
    ['our own of an earlier chart, by their name', { [NAME]: 'spotalis', 'helm.sh/chart': 'stowage-0.1.0' }],
  ])('%s is none', (_, labels) => {
    expect(predecessorOf(labels)).toBeUndefined();
    expect(runningPredecessor(podOf(labels))).toBeUndefined();
  });

  test.each(['Pending', 'Succeeded', 'Failed'] as const)('one that is %s writes nothing', (phase) => {
    expect(runningPredecessor(podOf({ [NAME]: 'mbcas' }, { phase }))).toBeUndefined();
  });

  test('one on its way out may write until it has ended', () => {
    expect(runningPredecessor(podOf({ [NAME]: 'mbcas' }, { deletingAt: 1 }))).toMatchObject({ system: 'MBCAS' });
  });

  test('one of those that run is named', () => {
    const running = { predecessors: () => [{ system: 'OptiPod' as const, pod: 'a/b' }] };
    expect(runningOf(running, 'OptiPod')).toBe('a/b');
    expect(runningOf(running, 'MBCAS')).toBeUndefined();
    expect(optipodBeside(running, 'optipod.optipod.io')).toBe('a/b');
    expect(optipodBeside(running, 'optipod.io')).toBeUndefined();
  });
});

test.each([
  [{ [NAME]: 'stowage' }, true],
  [{ [NAME]: 'sizes', 'app.kubernetes.io/part-of': 'stowage' }, true],
  [{ [NAME]: 'sizes', 'helm.sh/chart': 'stowage-0.1.0' }, true],
  [{ [NAME]: 'sizes', 'helm.sh/chart': 'stowaged-0.1.0' }, false],
  [{ [NAME]: 'sizes' }, false],
])('%j are labels of ours: %s', (labels, expected) => {
  expect(isStowage(labels)).toBe(expected);
});
