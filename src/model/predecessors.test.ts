import { describe, expect, test } from 'vitest';
import { isStowage, optipodBeside, predecessorOf, runningOf, runningPredecessor } from './predecessors.ts';
import type { PodRecord } from './records.ts';
import { aDeployment, aPod, aReplicaSet, aTemplate } from './testing/records.ts';

const NAME = 'app.kubernetes.io/name';
const COMPONENT = 'app.kubernetes.io/component';
const podOf = (labels: Readonly<Record<string, string>>, changes: Partial<PodRecord> = {}): PodRecord =>
  aPod(aReplicaSet(aDeployment()), 'p', {
    namespace: `${labels[NAME]}-system`,
    template: aTemplate({ labels }),
    ...changes,
  });

describe('programs of other systems', () => {
  test.each([
    ['spotalis', 'Spotalis'],
    ['optipod', 'OptiPod'],
    ['mbcas', 'MBCAS'],
  ] as const)('%s is known by its label', (label, system) => {
    expect(predecessorOf({ [NAME]: label })).toBe(system);
    expect(runningPredecessor(podOf({ [NAME]: label }))).toEqual({ system, pod: `${label}-system/p` });
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

  test.each([
    ['mbcas', 'operator', undefined],
    ['spotalis', 'operator', undefined],
    ['optipod', 'agent', undefined],
    ['mbcas', 'agent', 'MBCAS'],
    ['spotalis', 'controller', 'Spotalis'],
  ] as const)('%s, and of that %s, where it says no more: %s', (label, component, system) => {
    expect(runningPredecessor(podOf({ [NAME]: label, [COMPONENT]: component }))?.system).toBe(system);
  });

  test.each([
    ['a namespace of any name, where a tenant labels his pods', 'shop', undefined],
    ['one that only begins with the same letters', 'optipods', undefined],
    ['one of another system', 'mbcas-system', undefined],
    ['one named after it', 'optipod', 'OptiPod'],
    ['that of the cluster itself', 'kube-system', 'OptiPod'],
    ['that of the operator', 'platform', 'OptiPod'],
  ] as const)('in %s', (_, namespace, system) => {
    expect(runningPredecessor(podOf({ [NAME]: 'optipod' }, { namespace }), 'platform')?.system).toBe(system);
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
