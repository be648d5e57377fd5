/** What stands for objects that may not be read, and one informer for several namespaces. */
import { describe, expect, test } from 'vitest';
import type { ConfigMap, Pod } from '../api/core.ts';
import { KubeError } from '../api/kube-error.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { nodeClassProfile } from '../model/node-profiles.ts';
import type { PodRecord } from '../model/records.ts';
import { createSides } from '../model/sides.ts';
import { createAssumedInformer } from './assumed-informer.ts';
import { inferNodes, nodesToldBy } from './inferred-nodes.ts';
import { freshnessOf, joinInformers } from './joined-informer.ts';
import { createProjections } from './project.ts';
import { createManualInformer } from './testing/manual-stores.ts';

describe('joinInformers', () => {
  const configMap = (namespace: string, name: string): ConfigMap => ({ metadata: { namespace, name } });
  const nameOf = ({ metadata }: ConfigMap): string => metadata?.name ?? '';

  function setUp() {
    const clock = createVirtualClock(0);
    const [shop, mail] = [createManualInformer(nameOf), createManualInformer(nameOf)];
    return {
      shop,
      mail,
      clock,
      joined: joinInformers(
        new Map([
          ['shop', shop],
          ['mail', mail],
        ]),
        clock,
      ),
    };
  }
  const refused = new KubeError(403, undefined, 'pods is forbidden');

  test('finds, counts and lists the records of all of them', () => {
    const { shop, mail, joined } = setUp();
    shop.put(configMap('shop', 'a'));
    mail.put(configMap('mail', 'a'));
    mail.put(configMap('mail', 'b'));
    expect(joined.store.size).toBe(3);
    expect([...joined.store.keys()].toSorted()).toEqual(['mail/a', 'mail/b', 'shop/a']);
    expect([...joined.store.values()].toSorted()).toEqual(['a', 'a', 'b']);
    const inEach = ['shop', 'mail', 'other'].map((namespace) => [...joined.store.valuesIn(namespace)].toSorted());
    expect(inEach).toEqual([['a'], ['a', 'b'], []]);
    expect(joined.store.get('mail/b')).toBe('b');
    expect(joined.store.get('shop/b')).toBeUndefined();
    expect(joined.store.get('other/a')).toBeUndefined();
    expect(joined.store.has('shop/a')).toBe(true);
    expect(joined.store.has('other/a')).toBe(false);
  });

  test.each([
    ['fresh', 'fresh', 'fresh'],
    ['fresh', 'stale', 'stale'],
    ['stale', 'initial', 'initial'],
    ['initial', 'fresh', 'initial'],
  ] as const)('is %s and %s: %s', (first, second, together) => {
    const { shop, mail, joined } = setUp();
    shop.setFreshness(first);
    mail.setFreshness(second);
    expect(joined.freshness()).toBe(together);
    expect(joined.store.state).toBe(together);
  });

  test.each(['stale', 'initial'] as const)(
    'one that may not be read, and is %s, holds up none of the others',
    (state) => {
      const { shop, mail, joined } = setUp();
      mail.setFreshness(state, refused);
      expect([joined.freshness(), joined.store.state, joined.lastError()]).toEqual(['fresh', 'fresh', undefined]);
      expect([freshnessOf(joined), freshnessOf(joined, 'shop'), freshnessOf(joined, 'other')]).toEqual(
        Array(3).fill('fresh'),
      );
      expect(freshnessOf(joined, 'mail')).toBe(state);
      shop.setFreshness('stale');
      expect([joined.freshness(), freshnessOf(joined, 'other')]).toEqual(['stale', 'stale']);
      // Where none may be read, nothing is known.
      shop.setFreshness('stale', refused);
      expect([joined.freshness(), joined.lastError()]).toEqual([state, refused]);
    },
  );

  test('one that cannot be reached is another matter', () => {
    const { mail, joined } = setUp();
    mail.setFreshness('stale', new KubeError(503, undefined, 'down'));
    expect(joined.freshness()).toBe('stale');
  });

  test('is complete once all that may be read are', async () => {
    const { shop, mail, clock, joined } = setUp();
    shop.setFreshness('initial');
    mail.setFreshness('initial');
    const never = new Promise<void>(() => {});
    Object.assign(shop, { onSynced: never });
    Object.assign(mail, { onSynced: never });
    const late = joinInformers(
      new Map([
        ['shop', shop],
        ['mail', mail],
      ]),
      clock,
    );
    let isSynced = false;
    void late.onSynced.then(() => {
      isSynced = true;
    });
    void late.run(new AbortController().signal);
    await clock.advance(10_000);
    expect(isSynced).toBe(false);
    mail.setFreshness('initial', refused);
    await clock.advance(10_000);
    expect(isSynced).toBe(false);
    shop.setFreshness('fresh');
    await clock.advance(1_000);
    expect(isSynced).toBe(true);
    expect(joined.freshness()).toBe('fresh');
  });

  test('tells the changes of all, until the subscription ends', async () => {
    const { shop, mail, joined } = setUp();
    shop.put(configMap('shop', 'a'));
    const told: string[] = [];
    const end = joined.subscribe({ onChange: (key) => told.push(key) });
    mail.put(configMap('mail', 'b'));
    end();
    mail.put(configMap('mail', 'c'));
    expect(told).toEqual(['shop/a', 'mail/b']);
    expect(joined.lastContactMillis()).toBe(0);
    expect(joined.lastError()).toBeUndefined();
    await joined.onSynced;
    await joined.run(new AbortController().signal);
  });
});

describe('createAssumedInformer', () => {
  test('holds what it is given, and what is assumed of all else', async () => {
    const informer = createAssumedInformer({ records: [['a', 1]], otherwise: (key) => key.length });
    expect([informer.store.get('a'), informer.store.get('bcd')]).toEqual([1, 3]);
    expect([informer.store.has('a'), informer.store.has('bcd'), informer.store.size]).toEqual([true, false, 1]);
    expect([...informer.store.keys(), ...informer.store.values()]).toEqual(['a', 1]);
    informer.put('shop/b', 2);
    expect([...informer.store.valuesIn('shop'), ...informer.store.valuesIn('a')]).toEqual([2]);
    expect(informer.freshness()).toBe('fresh');
    expect(informer.lastContactMillis()).toBe(0);
    expect(informer.lastError()).toBeUndefined();
    await informer.onSynced;
    await informer.run(new AbortController().signal);
  });

  test('tells what is put and removed', () => {
    const informer = createAssumedInformer<number>({ records: [['a', 1]] });
    const told: unknown[] = [];
    const end = informer.subscribe({ onChange: (...change) => told.push(change) });
    informer.put('b', 2);
    informer.put('b', undefined);
    end();
    informer.put('c', 3);
    expect(told).toEqual([
      ['a', undefined, 1],
      ['b', undefined, 2],
      ['b', 2, undefined],
    ]);
  });
});

describe('inferNodes', () => {
  const project = createProjections((message) => {
    throw new Error(message);
  });
  const KEY = 'karpenter.sh/capacity-type';
  const sidesOf = (profile: 'karpenter' | 'gke' | 'aks') => createSides(nodeClassProfile([profile]));

  function setUp(profile: 'karpenter' | 'gke' | 'aks' = 'karpenter') {
    const sides = sidesOf(profile);
    const pods = createManualInformer(project.pod);
    const nodes = inferNodes(pods, sides);
    const pinned = (side: 'spot' | 'on-demand'): object => {
      const pin = sides.pinOf(side);
      if (pin.kind === 'nodeSelector') return { nodeSelector: { [pin.key]: pin.value } };
      const nodeSelectorTerms = pin.terms.map(({ expressions }) => ({ matchExpressions: expressions }));
      return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
    };
    const put = (name: string, nodeName: string | undefined, spec: object = {}): Pod => {
      const metadata = { namespace: 'shop', name, uid: `uid-${name}` };
      const pod = { metadata, spec: { containers: [], ...spec, ...(nodeName !== undefined && { nodeName }) } } as Pod;
      pods.put(pod);
      return pod;
    };
    const classOf = (name: string) => {
      const node = nodes.store.get(name);
      return node === undefined ? undefined : sides.classOf(node);
    };
    return { pods, nodes, pinned, put, classOf };
  }

  test.each(['karpenter', 'gke', 'aks'] as const)(
    '%s: a pinned pod that runs tells the side of its node',
    (profile) => {
      const { put, pinned, classOf } = setUp(profile);
      put('a', 'n1', pinned('spot'));
      put('b', 'n2', pinned('on-demand'));
      expect([classOf('n1'), classOf('n2')]).toEqual(['spot', 'on-demand']);
    },
  );

  test.each(['karpenter', 'gke'] as const)('%s: a pod that could run anywhere tells nothing', (profile) => {
    const { put, classOf } = setUp(profile);
    put('a', 'n1');
    expect(classOf('n1')).toBeUndefined();
  });

  test('a pod that waits tells nothing before it is bound', () => {
    const { put, pinned, classOf, nodes } = setUp();
    put('a', undefined, pinned('spot'));
    expect(nodes.store.size).toBe(0);
    put('a', 'n1', pinned('spot'));
    expect(classOf('n1')).toBe('spot');
  });

  test('what one pod told is known of all on the node, until the last one leaves', () => {
    const { pods, put, pinned, classOf } = setUp();
    const told = put('a', 'n1', pinned('spot'));
    const other = put('b', 'n1');
    pods.remove(told);
    expect(classOf('n1')).toBe('spot');
    pods.remove(other);
    expect(classOf('n1')).toBeUndefined();
  });

  test('a machine that comes back as another is what the newest pod says', () => {
    const { put, pinned, classOf } = setUp();
    put('a', 'n1', { nodeSelector: { [KEY]: 'spot' } });
    put('b', 'n1', pinned('on-demand'));
    expect(classOf('n1')).toBe('on-demand');
  });

  test('of pods at one moment: what they tell alike is known, what they tell both ways is not', () => {
    const { put, pinned, pods } = setUp();
    put('a', 'n1', pinned('spot'));
    put('b', 'n1');
    put('c', 'n2', pinned('on-demand'));
    put('d', 'n3', pinned('spot'));
    put('e', 'n3', pinned('on-demand'));
    put('f', 'n4');
    put('g', undefined, pinned('spot'));
    const sides = sidesOf('karpenter');
    const ended = { ...pods.store.get('shop/a'), nodeName: 'n5', phase: 'Succeeded' } as PodRecord;
    const told = nodesToldBy([...pods.store.values(), ended], sides);
    expect(told.map((node) => [node.name, sides.classOf(node)])).toEqual([
      ['n1', 'spot'],
      ['n2', 'on-demand'],
    ]);
    expect(told[0]).toMatchObject({ maxPods: 0 });
  });

  test('it has no room: nothing is known of what else runs there', () => {
    const { put, pinned, nodes } = setUp();
    put('a', 'n1', pinned('spot'));
    expect(nodes.store.get('n1')).toMatchObject({ maxPods: 0, allocatable: { cpuMillis: 0, memoryBytes: 0 } });
  });
});
