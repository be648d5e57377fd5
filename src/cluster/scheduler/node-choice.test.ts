import { describe, expect, test } from 'vitest';
import type { KubeObject, Node, Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { Caches } from '../caches.ts';
import { createClusterState } from './cluster-state.ts';
import { createNodeChoice } from './node-choice.ts';
import { podInfoOf } from './pod-info.ts';

const node = (name: string, cpu: string): Node => ({
  metadata: { name },
  status: { allocatable: { cpu, memory: '8Gi', pods: '10' } },
});
const pod = (cpu: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  metadata: { name: 'a', namespace: 'shop', uid: 'u' },
  spec: { containers: [{ name: 'app', resources: { requests: { cpu } } }], ...spec },
});
/** Of equals the first one is kept. */
const FIRST = { next: () => 0.999 };
const withClaim = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
const claim = { metadata: { name: 'data', namespace: 'shop' }, spec: {} };

/** Objects of the caches by plural and key. */
function choiceAmong(nodes: readonly Node[], objects: Readonly<Record<string, KubeObject>> = {}) {
  const cluster = createClusterState();
  for (const each of nodes) cluster.putNode(each);
  const of = ({ plural }: { plural: string }) => ({ get: (key: string) => objects[`${plural}/${key}`], all: () => [] });
  return createNodeChoice({ cluster, caches: { of } as unknown as Pick<Caches, 'of'>, random: FIRST });
}

describe('the node for a pod', () => {
  test('is one that can take it', () => {
    const choose = choiceAmong([node('small', '1'), node('large', '4')]);
    expect(choose(podInfoOf(pod('2')))).toMatchObject({ ok: true, node: { name: 'large' }, unbound: [] });
  });

  test('is none where no node has room, and the message counts why', () => {
    const choose = choiceAmong([node('n1', '1'), node('n2', '1')]);
    expect(choose(podInfoOf(pod('2')))).toEqual({
      ok: false,
      message:
        '0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    });
  });

  test('is none while a claim is missing, and no node is to blame', () => {
    const choose = choiceAmong([node('n1', '4')]);
    expect(choose(podInfoOf(pod('1', withClaim)))).toEqual({
      ok: false,
      message:
        '0/1 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    });
  });

  test('comes with the claims whose volumes are to be made there', () => {
    const choose = choiceAmong([node('n1', '4')], { [`${resources.persistentVolumeClaims.plural}/shop/data`]: claim });
    expect(choose(podInfoOf(pod('1', withClaim)))).toMatchObject({ ok: true, node: { name: 'n1' }, unbound: [claim] });
  });

  test('is looked for among others each time, where a cluster is too large to look at all', () => {
    const choose = choiceAmong(Array.from({ length: 400 }, (_, index) => node(`n${index}`, '4')));
    const chosen = [1, 2].map(() => choose(podInfoOf(pod('1'))));
    const [first, second] = chosen.map((choice) => (choice.ok ? choice.node.name : choice.message));
    expect(first).toBe('n0');
    expect(second).toMatch(/^n[1-9]/);
  });
});
