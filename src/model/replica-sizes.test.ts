import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLOOR_MILLIS } from './learned-floors.ts';
import { MAX_SIZED_REPLICAS } from './replica.ts';
import {
  freshState,
  harmedAt,
  mostOfAll,
  noReplicas,
  type ReplicaState,
  readReplicaSizes,
  sizesOf,
  thatFit,
  withReplicaSizes,
  writeReplicaSizes,
} from './replica-sizes.ts';
import type { ContainerSize, ContainerSpecRecord } from './sizing-records.ts';
import { aContainer, MIB, smallSize } from './testing/sizing-records.ts';

const template = [aContainer(), aContainer({ name: 'log', size: { cpuRequest: 50 } })];
const state = (containers: readonly ContainerSpecRecord[], more: Partial<ReplicaState> = {}): ReplicaState => ({
  sizes: sizesOf(containers),
  changedAt: undefined,
  before: undefined,
  lessons: { floors: [], reverts: 0 },
  ...more,
});
const sized = (size: ContainerSize): readonly ContainerSpecRecord[] => [
  aContainer({ size: { ...smallSize, ...size } }),
  ...template.slice(1),
];
const written = (size: ContainerSize, replica = '3'): string =>
  writeReplicaSizes(template, new Map([[replica, state(sized(size))]])) ?? '';

const anySize = fc.record({
  cpuRequest: fc.integer({ min: 1, max: 400 }),
  cpuLimit: fc.integer({ min: 400, max: 10_000 }),
  memoryRequest: fc.integer({ min: 1, max: 2 ** 20 }),
  memoryLimit: fc.integer({ min: 2 ** 20, max: 2 ** 40 }),
});
const anyState = fc
  .tuple(anySize, fc.option(anySize), fc.option(fc.nat(2 ** 40)), fc.nat(3))
  .map(([size, before, at, reverts]): ReplicaState => {
    const floors = [{ container: 'app', resource: 'cpu' as const, atLeast: 5, until: 2 ** 41 }].slice(0, reverts);
    return state(sized(size), {
      before: before === null ? undefined : sizesOf(sized(before)),
      changedAt: at ?? undefined,
      lessons: { floors, reverts },
    });
  });

describe('sizes of replicas', () => {
  test('for any sizes, what is written is read again', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z0-9.-]{1,20}$/), anyState, { maxKeys: 20 }), (states) => {
        const replicas = new Map(Object.entries(states));
        expect(readReplicaSizes(writeReplicaSizes(template, replicas), template)).toEqual(replicas);
      }),
      { numRuns: 200 },
    );
  });

  test('a change of the future is none of ours: believed, it would hold back every change until then', () => {
    const at = (changedAt: number) => {
      const text = writeReplicaSizes(template, new Map([['3', state(template, { changedAt })]]));
      return readReplicaSizes(text, template, 1_000_000).get('3')?.changedAt;
    };
    expect([at(999_999), at(1_060_000), at(1_060_001)]).toEqual([999_999, 1_060_000, undefined]);
  });

  test('for any sizes, a replica is given its own and never another’s', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(300), { minLength: 1, maxLength: 20 }), fc.array(anyState), (ordinals, all) => {
        const replicas = new Map(
          ordinals.flatMap((ordinal, index) => {
            const own = all[index];
            return own === undefined ? [] : [[String(ordinal), own] as const];
          }),
        );
        const read = readReplicaSizes(writeReplicaSizes(template, replicas), template);
        for (let ordinal = 0; ordinal <= 300; ordinal++) {
          const own = replicas.get(String(ordinal));
          const given = withReplicaSizes(template, read.get(String(ordinal)));
          expect(sizesOf(given)).toEqual(own?.sizes ?? sizesOf(template));
        }
      }),
      { numRuns: 50 },
    );
  });

  test('for any text, nothing is read that would be refused or that nobody wrote', () => {
    const valid = written({ cpuRequest: 120 });
    fc.assert(
      fc.property(fc.nat(valid.length), fc.nat(8), fc.string({ maxLength: 6 }), (at, cut, put) => {
        const text = valid.slice(0, at) + put + valid.slice(at + cut);
        for (const { sizes } of readReplicaSizes(text, template).values()) {
          for (const { cpuRequest = 0, cpuLimit = cpuRequest, memoryRequest = 0, memoryLimit = 0 } of [
            sizes.get('app') ?? {},
          ]) {
            expect(cpuRequest).toBeLessThanOrEqual(cpuLimit);
            expect(memoryRequest).toBeLessThanOrEqual(memoryLimit);
          }
          expect([...sizes.keys()].sort()).toEqual(['app', 'log']);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('200 replicas of two containers take a tenth of what all annotations may have', () => {
    const replicas = (count: number) =>
      new Map(
        Array.from({ length: count }, (_, index) => {
          const sizes = sized({ cpuRequest: 400, memoryRequest: 255 * MIB + index });
          const more = { changedAt: 1_800_000_000_000, before: sizesOf(template) };
          return [`node-of-a-large-cluster-${index}`, state(sizes, more)] as const;
        }),
      );
    expect(writeReplicaSizes(template, replicas(MAX_SIZED_REPLICAS))?.length).toBeLessThan(50_000);
    expect(writeReplicaSizes(template, replicas(MAX_SIZED_REPLICAS + 1))).toBeUndefined();
  });

  test('for any containers and names, those that fit can be written while they are watched, and one more leaves less than is kept for lessons', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z0-9.-]{1,60}$/), { minLength: 1, maxLength: 260 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), names, (containers, replicas) => {
        const many = Array.from({ length: containers }, (_, index) => aContainer({ name: `container-${index}` }));
        const watched = state(many, { changedAt: 1_800_000_000_000, before: sizesOf(many) });
        const write = (some: readonly string[]) =>
          writeReplicaSizes(many, new Map(some.map((replica) => [replica, watched])));
        const fit = thatFit(many, replicas, 1_800_000_000_000);
        expect(fit).toEqual(replicas.slice(0, fit.length));
        expect(write(fit)?.length).toBeLessThanOrEqual(90_000);
        const oneMore = replicas.slice(0, fit.length + 1);
        if (oneMore.length > fit.length && oneMore.length <= MAX_SIZED_REPLICAS)
          expect(write(oneMore)?.length ?? Number.POSITIVE_INFINITY).toBeGreaterThan(90_000);
      }),
      { numRuns: 100 },
    );
  });

  test('what replicas have learned is left out rather than their sizes', () => {
    const floors = Array.from({ length: 20 }, (_, index) => ({
      container: `container-of-a-pod-${index}`,
      resource: 'memory' as const,
      atLeast: 2 ** 40,
      until: 2 ** 41,
    }));
    const learned = state(template, { lessons: { floors, reverts: 1 } });
    const all = new Map(Array.from({ length: MAX_SIZED_REPLICAS }, (_, index) => [String(index), learned]));
    const read = readReplicaSizes(writeReplicaSizes(template, all), template);
    expect(read.size).toBe(MAX_SIZED_REPLICAS);
    expect(read.get('7')).toEqual(state(template));
  });

  test('what a replica had before counts as not there where no pod could have it', () => {
    const of = (before: ContainerSize) => {
      const watched = state(template, { before: sizesOf(sized(before)) });
      const text = writeReplicaSizes(template, new Map([['3', watched]]));
      return readReplicaSizes(text, template).get('3');
    };
    expect(of({ cpuRequest: 300 })?.before).toEqual(sizesOf(sized({ cpuRequest: 300 })));
    expect(of({ cpuRequest: 300, cpuLimit: 200 })).toEqual(state(template));
  });

  test('harm is of the replica that has turned back; what all of them have learned before is none of its own', () => {
    const floors = [{ container: 'app', resource: 'cpu' as const, atLeast: 5, until: FLOOR_MILLIS + 7 }];
    expect(harmedAt(freshState(template, floors))).toBeUndefined();
    expect(harmedAt(state(template, { lessons: { floors: [], reverts: 2 } }))).toBeUndefined();
    expect(harmedAt(state(template, { lessons: { floors, reverts: 1 } }))).toBe(7);
  });

  test('for any number of containers, the text is bounded or there is none', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 200 }), (containers, count) => {
        const many = Array.from({ length: containers }, (_, index) => aContainer({ name: `container-${index}` }));
        const replicas = new Map(Array.from({ length: count }, (_, index) => [String(index), state(many)]));
        expect((writeReplicaSizes(many, replicas) ?? '').length).toBeLessThanOrEqual(100_000);
      }),
      { numRuns: 30 },
    );
  });

  test.each<[string, string | undefined]>([
    ['nothing', undefined],
    ['no JSON', '{'],
    ['something else', '[]'],
    ['of a later version', written({ cpuRequest: 120 }).replace('{', '{"v":2,')],
    ['another template', written({ cpuRequest: 120 }).replace('[200,400,', '[201,400,')],
    ['a request above its limit', written({ cpuRequest: 401 })],
    [
      'less than the template has amounts of',
      written({}).replace('"size":{"app":[200,400,', '"size":{"app":[null,400,'),
    ],
    ['a container too few', written({ cpuRequest: 120 }).replace(/("size":\{"app":\[[^\]]*\]),"log":\[[^\]]*\]/, '$1')],
    ['no amounts', written({ cpuRequest: 120 }).replace('"size":{"app":[120', '"size":{"app":["120"')],
    ['a fraction', written({ cpuRequest: 120 }).replace('"size":{"app":[120', '"size":{"app":[1.5')],
  ])('%s counts as not there', (_, text) => {
    expect(readReplicaSizes(text, template)).toEqual(noReplicas);
  });

  test('what cannot be read of one replica is no reason to forget the others', () => {
    const both = new Map([
      ['0', state(sized({ cpuRequest: 401 }))],
      ['1', state(sized({ cpuRequest: 120 }))],
    ]);
    expect([...readReplicaSizes(writeReplicaSizes(template, both), template).keys()]).toEqual(['1']);
  });

  test('a limit that the template does not have is none of ours', () => {
    const limited = [template[0] ?? aContainer(), aContainer({ name: 'log', size: { cpuRequest: 50, cpuLimit: 60 } })];
    const text = writeReplicaSizes(template, new Map([['0', state(limited)]]));
    expect(readReplicaSizes(text, template)).toEqual(noReplicas);
  });

  test('floors that have expired are left out', () => {
    const floors = [{ container: 'app', resource: 'memory' as const, atLeast: MIB, until: 1000 }];
    const text = writeReplicaSizes(template, new Map([['0', state(template, { lessons: { floors, reverts: 2 } })]]));
    const lessonsAt = (now: number) => readReplicaSizes(text, template, now).get('0')?.lessons;
    expect(lessonsAt(999)).toEqual({ floors, reverts: 2 });
    expect(lessonsAt(1000)).toEqual({ floors: [], reverts: 2 });
  });

  test('the most of all is no less than what any of them has', () => {
    fc.assert(
      fc.property(fc.array(anyState, { maxLength: 8 }), (all) => {
        const most = sizesOf(mostOfAll(template, new Map(all.map((each, index) => [String(index), each]))));
        for (const { sizes } of all) {
          for (const [name, size] of sizes) {
            for (const [key, amount] of Object.entries(size)) {
              expect(most.get(name)?.[key as keyof ContainerSize]).toBeGreaterThanOrEqual(amount);
            }
          }
        }
      }),
      { numRuns: 100 },
    );
    expect(mostOfAll(template, noReplicas)).toEqual(template);
  });
});
