import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { policyGroups, policyType } from '../api/optimization-policy.ts';
import { createScriptedApi, kubeError } from '../kube/testing/scripted-api.ts';
import type { Logger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { nodeClassProfile } from '../model/node-profiles.ts';
import { createSides } from '../model/sides.ts';
import { policyObject, type TestPolicy } from '../model/testing/policies.ts';
import { createPolicyStores, type PolicyStoresOptions } from './policy-stores.ts';

type Group = (typeof policyGroups)[number];

/** A cluster that serves the groups in `served`; change it, and the policies in it, at will. */
function setUp(
  served: Group[],
  policies: Partial<Record<Group, TestPolicy[]>> = {},
  more: Pick<PolicyStoresOptions, 'scope' | 'rulingNamespaces'> = {},
) {
  const clock = createVirtualClock(0);
  const words: string[] = [];
  const say = (_: unknown, message: string): void => void words.push(message);
  const log: Logger = { debug: () => {}, info: say, warn: say, error: say, child: () => log };
  const scripts = new Map(policyGroups.map((group) => [group, createScriptedApi()]));
  for (const [group, scripted] of scripts) {
    scripted.onList = () => {
      if (!served.includes(group)) throw kubeError(404, 'NotFound', 'not found');
      return { items: (policies[group] ?? []).map((each) => policyObject({ ...each, group })), resourceVersion: '5' };
    };
    scripted.onWatch = ({ sendInitialEvents }) => {
      if (sendInitialEvents === true) throw kubeError(422, 'Invalid', 'sendInitialEvents is forbidden');
    };
  }
  const scriptOf = (group: string) => {
    const found = scripts.get(policyGroups.find((each) => each === group) ?? 'optipod.io');
    if (found === undefined) throw new Error(`no script for ${group}`);
    return found;
  };
  const api: KubeApi = {
    ...scriptOf('optipod.io').api,
    list: (type, options) => scriptOf(type.group).api.list(type, options),
    watch: (type, options) => scriptOf(type.group).api.watch(type, options),
    discover: async (apiVersion) =>
      served.filter((group) => apiVersion === `${group}/v1alpha1`).map((group) => policyType(group)),
  };
  const stores = createPolicyStores({ api, clock, random: createSeededRandom(1), log, ...more });
  const changes: string[] = [];
  stores.onChange(({ kind, policy }) => changes.push(`${kind} ${policy.group} ${policy.name}`));
  let isSynced = false;
  void stores.onSynced.then(() => {
    isSynced = true;
  });
  const stopper = new AbortController();
  const running = stores.run(stopper.signal);
  onTestFinished(async () => {
    stopper.abort();
    await clock.advance(0);
    await running;
  });
  const push = (group: Group, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject) =>
    scriptOf(group).watch().push({ type, object });
  const add = (group: Group, name: string): void => {
    const object = policyObject({ name });
    push(group, 'ADDED', { ...object, metadata: { ...object.metadata, resourceVersion: '6' } });
  };
  return { clock, stores, changes, words, served, push, add, scriptOf, isSynced: () => isSynced };
}

const names = ({ stores }: ReturnType<typeof setUp>) => stores.policies().map(({ group, name }) => `${group} ${name}`);

describe('both groups', () => {
  test('are followed, each policy with the group it lives in', async () => {
    const world = setUp([...policyGroups], {
      'optipod.io': [{ name: 'new' }],
      'optipod.optipod.io': [{ name: 'old' }],
    });
    await world.clock.advance(1_000);
    expect(world.isSynced()).toBe(true);
    expect(names(world)).toEqual(['optipod.io new', 'optipod.optipod.io old']);
    expect(world.changes).toEqual(['spec optipod.io new', 'spec optipod.optipod.io old']);
    expect(world.stores.isFresh()).toBe(true);
  });

  test('optipod defect B9a: an object that cannot be read is a record with problems, the others stay', async () => {
    const world = setUp(['optipod.io'], {
      'optipod.io': [
        { name: 'bad', spec: { metricsConfig: { provider: 'prometheus', rollingWindow: '7x' } } },
        { name: 'good' },
      ],
    });
    await world.clock.advance(1_000);
    expect(world.stores.policies().map(({ name, problems }) => [name, problems.length])).toEqual([
      ['bad', 1],
      ['good', 0],
    ]);
  });
});

describe('a definition that is not installed', () => {
  test('is no trouble: known at once, one line at most, however long it lasts', async () => {
    const world = setUp([]);
    await world.clock.advance(1_000);
    expect([world.isSynced(), world.stores.isFresh(), names(world)]).toEqual([true, true, []]);
    await world.clock.advance(3_600_000);
    expect(world.words).toEqual([]);
  });

  test('is picked up when it appears, and let go of when it goes', async () => {
    const world = setUp([], { 'optipod.io': [{ name: 'p' }] });
    await world.clock.advance(1_000);
    world.served.push('optipod.io');
    await world.clock.advance(61_000);
    expect(names(world)).toEqual(['optipod.io p']);
    world.served.length = 0;
    world
      .scriptOf('optipod.io')
      .watch()
      .fail(kubeError(404, 'NotFound', 'not found'));
    await world.clock.advance(130_000);
    expect(names(world)).toEqual([]);
    expect(world.changes).toEqual(['spec optipod.io p', 'gone optipod.io p']);
  });
});

describe('changes', () => {
  test('optipod defect B6: a status that was written is told apart from a new generation and from a deletion', async () => {
    const world = setUp(['optipod.io'], { 'optipod.io': [{ name: 'p' }] });
    await world.clock.advance(1_000);
    world.changes.length = 0;
    const object = policyObject({ name: 'p', status: { workloadsDiscovered: 2 } });
    const modified = (more: object): void =>
      world.push('optipod.io', 'MODIFIED', { ...object, metadata: { ...object.metadata, ...more } });
    modified({ resourceVersion: '6' });
    await world.clock.advance(0);
    modified({ resourceVersion: '7', generation: 2 });
    await world.clock.advance(0);
    modified({ resourceVersion: '8', generation: 2, deletionTimestamp: '2026-01-31T00:00:00Z' });
    await world.clock.advance(0);
    world.push('optipod.io', 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: '9' } });
    await world.clock.advance(0);
    expect(world.changes.map((change) => change.split(' ')[0])).toEqual(['status', 'spec', 'spec', 'gone']);
  });

  test('are told of one that was made anew under the same name as gone, and then as new', async () => {
    const world = setUp(['optipod.io'], { 'optipod.io': [{ name: 'p' }] });
    await world.clock.advance(1_000);
    world.changes.splice(0);
    const { metadata, ...object } = policyObject({ name: 'p', uid: 'another' });
    world.push('optipod.io', 'MODIFIED', { ...object, metadata: { ...metadata, resourceVersion: '6' } });
    await world.clock.advance(0);
    expect(world.changes).toEqual(['gone optipod.io p', 'spec optipod.io p']);
  });

  test('the list of policies is the same array until one changes', async () => {
    const world = setUp(['optipod.io'], { 'optipod.io': [{ name: 'p' }] });
    await world.clock.advance(1_000);
    const before = world.stores.policies();
    expect(world.stores.policies()).toBe(before);
    world.add('optipod.io', 'q');
    await world.clock.advance(0);
    expect(names(world)).toEqual(['optipod.io p', 'optipod.io q']);
    expect(before).toHaveLength(1);
  });

  test('a broken connection makes the policies stale, not gone', async () => {
    const world = setUp(['optipod.io'], { 'optipod.io': [{ name: 'p' }] });
    await world.clock.advance(1_000);
    const broken = new Error('connection refused');
    world.scriptOf('optipod.io').onList = () => {
      throw broken;
    };
    world.scriptOf('optipod.io').onWatch = () => {
      throw broken;
    };
    world.scriptOf('optipod.io').watch().fail(broken);
    await world.clock.advance(10_000);
    expect([world.stores.isFresh(), names(world)]).toEqual([false, ['optipod.io p']]);
  });

  test('a right that is lost makes the policies stale, not gone, however long it is missing', async () => {
    const world = setUp(['optipod.io'], { 'optipod.io': [{ name: 'p' }] });
    await world.clock.advance(1_000);
    const script = world.scriptOf('optipod.io');
    const { onList, onWatch } = script;
    const refused = kubeError(403, 'Forbidden', 'optimizationpolicies is forbidden');
    script.onList = script.onWatch = () => {
      throw refused;
    };
    script.watch().fail(refused);
    await world.clock.advance(3_600_000);
    expect([world.stores.isFresh(), names(world)]).toEqual([false, ['optipod.io p']]);
    expect(world.changes).toEqual(['spec optipod.io p']);
    expect(world.words.filter((word) => word.includes('may not be read'))).toHaveLength(1);
    Object.assign(script, { onList, onWatch });
    await world.clock.advance(130_000);
    expect([world.stores.isFresh(), names(world)]).toEqual([true, ['optipod.io p']]);
  });

  test('a right that was never given: known at once, told once, and not taken for an empty list', async () => {
    const world = setUp([...policyGroups], { 'optipod.io': [{ name: 'p' }] });
    const script = world.scriptOf('optipod.optipod.io');
    const { onList } = script;
    script.onList = () => {
      throw kubeError(403, 'Forbidden', 'optimizationpolicies is forbidden');
    };
    await world.clock.advance(300_000);
    expect([world.isSynced(), world.stores.isFresh(), names(world)]).toEqual([true, false, ['optipod.io p']]);
    expect(world.words.filter((word) => word.includes('may not be read'))).toHaveLength(1);
    script.onList = onList;
    await world.clock.advance(61_000);
    expect(world.stores.isFresh()).toBe(true);
  });

  describe('in several namespaces, of which one may not be read', () => {
    const scope = { namespaces: ['mail', 'shop', 'tools'], sides: createSides(nodeClassProfile(['karpenter'])) };
    const without = (unread: string, rulingNamespaces?: readonly string[]) => {
      const world = setUp(['optipod.io'], {}, { scope, rulingNamespaces });
      world.scriptOf('optipod.io').onList = ({ namespace }) => {
        if (namespace === unread) throw kubeError(403, 'Forbidden', 'optimizationpolicies is forbidden');
        return { items: [], resourceVersion: '5' };
      };
      return world;
    };

    test('the others are followed, and only its own workloads wait', async () => {
      const world = without('mail', ['tools']);
      await world.clock.advance(10_000);
      expect(world.isSynced()).toBe(true);
      const { isFresh } = world.stores;
      expect([isFresh(), isFresh('shop'), isFresh('mail')]).toEqual([true, true, false]);
    });

    test.each<[string, readonly string[] | undefined]>([
      ['one whose policies may select others', ['tools']],
      ['any, where all of them may', undefined],
    ])('%s holds up everything', async (_, ruling) => {
      const world = without('tools', ruling);
      await world.clock.advance(10_000);
      expect([world.stores.isFresh(), world.stores.isFresh('shop')]).toEqual([false, false]);
    });
  });

  test('who ends a subscription hears no more', async () => {
    const world = setUp(['optipod.io']);
    await world.clock.advance(1_000);
    const heard: string[] = [];
    const end = world.stores.onChange(({ policy }) => heard.push(policy.name));
    end();
    world.add('optipod.io', 'q');
    await world.clock.advance(0);
    expect([heard, world.changes]).toEqual([[], ['spec optipod.io q']]);
  });
});
