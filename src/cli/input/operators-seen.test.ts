import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import { createOperatorsSeen } from './operators-seen.ts';

const program = (
  label: string,
  namespace: string,
  {
    kind = 'Deployment',
    component = 'operator',
    replicas,
  }: { kind?: string; component?: string; replicas?: number } = {},
): KubeObject & { readonly spec: object } => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: {
    name: label,
    namespace,
    labels: { 'app.kubernetes.io/name': label, 'app.kubernetes.io/component': component },
  },
  spec: { ...(replicas !== undefined && { replicas }) },
});
const stowage = program('stowage', 'a', { replicas: 2 });

function problemsOf(...objects: readonly KubeObject[]): readonly string[] {
  const seen = createOperatorsSeen();
  for (const object of objects) seen.see(object);
  return seen.problems();
}

describe('operators that act on the same objects', () => {
  test.each<[string, KubeObject]>([
    ['one alone', stowage],
    ['its agents', program('stowage', 'b', { kind: 'DaemonSet', component: 'agent' })],
    ['a second one that is scaled down', program('stowage', 'b', { replicas: 0 })],
    ['a predecessor that is scaled down', program('optipod', 'b', { replicas: 0 })],
    ['what only is called so', program('mbcas', 'b', { kind: 'PodAllocation' })],
    ['what has no labels', { kind: 'Deployment', metadata: { name: 'spotalis' } }],
  ])('%s is no trouble', (_, object) => {
    expect(problemsOf(stowage, object)).toEqual([]);
  });

  test('a second installation is told', () => {
    expect(problemsOf(program('stowage', 'b'), stowage)).toEqual([
      expect.stringMatching(/^Stowage is installed 2 times \(a\/stowage, b\/stowage\): unless /),
    ]);
  });

  test.each([
    ['app.kubernetes.io/part-of', 'stowage'],
    ['helm.sh/chart', 'stowage-0.1.0'],
  ])('an installation of ours is known by another name of it, by %s', (key, value) => {
    const named = program('sizes', 'b');
    const labels = { ...named.metadata?.labels, [key]: value };
    const renamed = { ...named, metadata: { ...named.metadata, labels } };
    expect(problemsOf(renamed)).toEqual([]);
    expect(problemsOf(renamed, stowage)).toEqual([expect.stringContaining('installed 2 times (a/stowage, b/sizes)')]);
    expect(problemsOf(renamed, program('mbcas', 'c'))).toEqual([expect.stringMatching(/^MBCAS runs beside Stowage/)]);
    // Not even where it is called like one of them.
    const spotalis = { ...labels, 'app.kubernetes.io/name': 'spotalis' };
    expect(problemsOf({ ...named, metadata: { ...named.metadata, labels: spotalis } }, stowage)).toHaveLength(1);
  });

  test.each([
    ['spotalis', 'Deployment', 'Spotalis'],
    ['optipod', 'Deployment', 'OptiPod'],
    ['mbcas', 'DaemonSet', 'MBCAS'],
  ])('%s that still runs beside it is told; before it is installed, it is not', (label, kind, title) => {
    const other = program(label, `${label}-system`, { kind, component: 'controller' });
    expect(problemsOf(other)).toEqual([]);
    expect(problemsOf(other, stowage)).toEqual([
      `${title} runs beside Stowage (${label}-system/${label}), and they do the same work: stop it as docs/migrating-from-${label}.md says`,
    ]);
  });
});
