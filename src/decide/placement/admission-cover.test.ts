import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import type { PodTemplate, Side } from '../../model/records.ts';
import { aStatefulSet, aTemplate, CAPACITY_TYPE, NOON, someSettings } from '../../model/testing/records.ts';
import { decideAdmission } from './admission.ts';
import { createSpotMemory, type SpotMemory } from './spot-memory.ts';
import { aSpotMemory } from './testing/availability.ts';
import { createWorld, inputFor, nodeOf, podFrom, runUnsteered, SPOT_NODE, worldOf } from './testing/world.ts';

describe('spot has no room: on-demand covers for a pod of a StatefulSet', () => {
  const spot = (changes: Partial<SpotMemory> = {}): SpotMemory => ({
    ...createSpotMemory({
      random: createSeededRandom(1),
      backoff: () => ({ initialMillis: 60_000, maxMillis: 60_000, factor: 2, jitter: 0 }),
      probeLimitMillis: () => 60_000,
    }),
    mayClaim: () => false,
    ...changes,
  });
  /** Of five pods two belong on on-demand, and `db-1` on spot. */
  const ask = (
    changes: {
      memory?: SpotMemory;
      running?: number;
      maxPercent?: number;
      without?: Side;
      template?: PodTemplate;
    } = {},
  ) => {
    const { memory = spot(), running = 0, maxPercent = 34, without, template = aTemplate() } = changes;
    const { fallback } = someSettings();
    const world = createWorld(aStatefulSet(), { rounding: 'floor', fallback: { ...fallback, maxPercent } });
    for (let index = 0; index < running; index++) runUnsteered(world, 'on-demand', { name: `db-${index + 2}` });
    if (without !== undefined) world.nodes = world.nodes.filter(({ name }) => name !== nodeOf(without));
    const decision = decideAdmission({ ...inputFor(world, { pod: { name: 'db-1', template } }), spot: memory });
    return decision.kind === 'steered' ? [decision.side, decision.explanation.numbers['cover']] : decision;
  };

  test('with the mark of it, and in the slot of its ordinal', () => {
    expect(ask()).toEqual(['on-demand', true]);
    expect(ask({ memory: spot({ mayClaim: () => true }) })).toEqual(['spot', undefined]);
  });

  test('up to the share of spot that may be covered, from the pods that are there', () => {
    // A third of three: two more than the two that belong there.
    expect(ask({ running: 3 })).toEqual(['on-demand', true]);
    expect(ask({ running: 4 })).toEqual(['spot', undefined]);
    expect(ask({ running: 2, maxPercent: 0 })).toEqual(['spot', undefined]);
    expect(ask({ running: 1, maxPercent: 0 })).toEqual(['on-demand', true]);
  });

  test('not where on-demand has no room either, nor against the pod’s own pin', () => {
    expect(ask({ without: 'on-demand' })).toEqual(['spot', undefined]);
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } });
    expect(ask({ template })).toEqual(['spot', undefined]);
  });

  test('hazard H8: in a storm a node with room on spot is used, and none is asked for', () => {
    const storm = spot({ mayClaim: () => true, storm: () => ({ lost: 9, calmAt: NOON + 1 }) });
    expect(ask({ memory: storm })).toEqual(['spot', undefined]);
    expect(ask({ memory: storm, without: 'spot' })).toEqual(['on-demand', true]);
    expect(ask({ memory: spot({ mayClaim: () => true }), without: 'spot' })).toEqual(['spot', undefined]);
  });
});

describe('hazard H8: in a storm what is lost together is made anew together', () => {
  /** Six replicas, all for spot, of which a node is left with room for this many; they are admitted one after the other. */
  const burst = (room: number, become: 'unseen' | 'unbound' | 'running', others = 0) => {
    const world = worldOf(6, 100, 0);
    world.nodes = world.nodes.map((node) => (node.name === SPOT_NODE ? { ...node, maxPods: room } : node));
    const spot = aSpotMemory();
    for (const uid of ['1', '2', '3']) {
      spot.standing(uid, { key: 'a/m5', zone: 'a', instanceType: 'm5.large' });
      spot.gone(uid, true, world.now);
    }
    for (let index = 0; index < others; index++) spot.setOut(`other-${index}`, world.now);
    return Array.from({ length: 6 }, () => {
      const decision = decideAdmission({ ...inputFor(world), spot });
      if (decision.kind !== 'steered') throw new Error(decision.message);
      if (become !== 'unseen') {
        const place = become === 'running' ? {} : ({ nodeName: undefined, phase: 'Pending' } as const);
        const pod = podFrom(world, decision, place);
        world.pods.push(pod);
        world.ledger.podSeen(pod.admissionId ?? '');
        if (become === 'unbound' && decision.side === 'spot') spot.setOut(pod.uid, world.now);
      }
      return decision.side;
    }).filter((side) => side === 'spot').length;
  };

  test.each(['unseen', 'unbound', 'running'] as const)(
    'no more go to spot than it has room for, as long as those before are %s',
    (become) => {
      expect([0, 2, 9].map((room) => burst(room, become))).toEqual([0, 2, 6]);
    },
  );

  test('pods of other workloads that have no node yet come first, too', () => {
    expect([2, 5, 9].map((room) => burst(room, 'unbound', 3))).toEqual([0, 2, 6]);
  });
});
