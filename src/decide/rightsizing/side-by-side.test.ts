import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReasonName } from '../../lib/reasons.ts';
import { applyChanges, type SizeChange, sizeKeys } from '../../model/pod-size.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import {
  type Beginning,
  type ChangeInPhase,
  joinChanges,
  mayBegin,
  partsOf,
  partsTakenBack,
  restOf,
  takenBack,
  withoutParts,
} from './side-by-side.ts';
import { loweredResources } from './watched-change.ts';

const before = [aContainer(), aContainer({ name: 'proxy' })];
const of = (container: string, to: SizeChange['to']): readonly SizeChange[] => [{ container, to }];
const lessCpu = of('app', { cpuRequest: 100 });
const moreCpu = of('app', { cpuRequest: 900 });
const lessMemory = of('app', { memoryRequest: 64 * MIB });
const moreMemory = of('app', { memoryRequest: 900 * MIB });
const proxyLess = of('proxy', { cpuRequest: 100 });
const watched = (changes: readonly SizeChange[], phase: ChangeInPhase['phase'] = 'spread'): ChangeInPhase => ({
  changes,
  before,
  phase,
});

describe('another change while one is looked after', () => {
  test.each<[string, readonly ChangeInPhase[], readonly SizeChange[], boolean]>([
    ['none is', [], lessCpu, true],
    ['more CPU after less memory', [watched(lessMemory)], moreCpu, true],
    ['more memory after more CPU', [watched(moreCpu)], moreMemory, true],
    ['more CPU after less CPU', [watched(lessCpu)], moreCpu, true],
    ['more CPU while less of it is tried on the first pod', [watched(lessCpu, 'canary')], moreCpu, true],
    ['more CPU while more is on its way', [watched(moreCpu)], of('app', { cpuRequest: 950 }), false],
    ['less memory after less CPU', [watched(lessCpu)], lessMemory, true],
    ['less memory after more CPU', [watched(moreCpu)], lessMemory, true],
    ['less for another container', [watched(lessCpu)], proxyLess, true],
    ['less of the same', [watched(lessCpu)], of('app', { cpuRequest: 50 }), false],
    ['less of the same limit', [watched(lessCpu)], of('app', { cpuLimit: 100 }), false],
    ['less of anything while a decrease is tried on the first pod', [watched(lessCpu, 'canary')], proxyLess, false],
    ['less while a raise is tried on the first pod', [watched(moreCpu, 'canary')], proxyLess, true],
  ])('%s', (_, ongoing, due, expected) => {
    const { raises, decreases } = mayBegin(due, before, ongoing);
    expect(joinChanges([...raises, ...decreases])).toEqual(expected ? due : []);
  });

  test('what may begin begins, the rest waits', () => {
    const due = of('app', { cpuRequest: 50, memoryRequest: 900 * MIB });
    expect(mayBegin(due, before, [watched(lessCpu)])).toEqual({ raises: moreMemory, decreases: [] });
  });

  test('a request and its limit are never torn apart', () => {
    const due = of('app', { cpuRequest: 900, cpuLimit: 100, memoryRequest: 900 * MIB });
    expect(mayBegin(due, before, [])).toEqual({
      raises: moreMemory,
      decreases: of('app', { cpuRequest: 900, cpuLimit: 100 }),
    });
  });

  test('where each change means new pods, decreases come one after the other', () => {
    expect(mayBegin(lessMemory, before, [watched(lessCpu)], true)).toEqual({ raises: [], decreases: [] });
    expect(mayBegin(moreMemory, before, [watched(lessCpu)], true)).toEqual({ raises: moreMemory, decreases: [] });
  });

  const amount = fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined });
  const change = fc
    .record({ container: fc.constantFrom('app', 'proxy'), cpu: amount, limit: amount, memory: amount })
    .map(
      ({ container, cpu, limit, memory }): SizeChange => ({
        container,
        to: {
          ...(cpu !== undefined && { cpuRequest: cpu }),
          ...(limit !== undefined && { cpuLimit: limit }),
          ...(memory !== undefined && { memoryRequest: memory * MIB }),
        },
      }),
    );
  const phases = fc.constantFrom<ChangeInPhase['phase']>('canary', 'spread');

  test('for any decreases that are watched, no raise waits', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 2 }), phases, change, (ongoing, phase, due) => {
        const lowering = ongoing.filter((each) => partsOf([each]).length === loweredResources(each, before).length);
        const { raises } = mayBegin([due], before, [watched(lowering, phase)]);
        const lowered = loweredResources(due, before);
        expect(partsOf(raises)).toEqual(partsOf([due]).filter(({ resource }) => !lowered.includes(resource)));
      }),
      { numRuns: 200 },
    );
  });

  test('for any changes, no resource is lowered while something of it is watched', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), phases, change, (ongoing, phase, due) => {
        const { decreases } = mayBegin([due], before, [watched(ongoing, phase)]);
        const busy = partsOf(ongoing).map(({ container, resource }) => `${container}/${resource}`);
        for (const { container, resource } of partsOf(decreases))
          expect(busy).not.toContain(`${container}/${resource}`);
      }),
      { numRuns: 200 },
    );
  });
});

describe('changes together', () => {
  test('one entry a container, the later value counts', () => {
    expect(joinChanges([...lessCpu, ...lessMemory, ...proxyLess, ...moreCpu])).toEqual([
      { container: 'app', to: { cpuRequest: 900, memoryRequest: 64 * MIB } },
      ...proxyLess,
    ]);
  });

  test('parts are named by container and resource', () => {
    expect(partsOf(of('app', { cpuLimit: 1, memoryRequest: 1 }))).toEqual([
      { container: 'app', resource: 'cpu' },
      { container: 'app', resource: 'memory' },
    ]);
  });

  test('what is given up is no longer there, and an empty change neither', () => {
    const both = { changes: [...of('app', { cpuRequest: 1, memoryRequest: 2 }), ...proxyLess] };
    expect(withoutParts([both], [{ container: 'app', resource: 'cpu' }])).toEqual([
      { changes: [...of('app', { memoryRequest: 2 }), ...proxyLess] },
    ]);
    expect(withoutParts([both], partsOf(both.changes))).toEqual([]);
    expect(withoutParts([both], [{ container: 'other', resource: 'cpu' }])).toEqual([both]);
  });
});

describe('taking back', () => {
  const less = of('app', { cpuRequest: 100, memoryRequest: 64 * MIB });
  const inForce = applyChanges(before, [...less, ...proxyLess]);

  test('only what is to blame', () => {
    const sizes = takenBack(inForce, { changes: less, before }, [{ container: 'app', resource: 'memory' }]);
    expect(sizes[0]?.size).toEqual({ ...before[0]?.size, cpuRequest: 100 });
    expect(sizes[1]?.size.cpuRequest).toBe(100);
  });

  test('of one container, not of another that was changed with it', () => {
    const both = [...less, ...proxyLess];
    const sizes = takenBack(inForce, { changes: both, before }, [{ container: 'app', resource: 'cpu' }]);
    expect(sizes.map(({ size }) => size.cpuRequest)).toEqual([before[0]?.size.cpuRequest, 100]);
  });

  test('not what somebody else changed of it since', () => {
    const since = applyChanges(inForce, of('app', { cpuLimit: 900 }));
    const sizes = takenBack(since, { changes: less, before }, [{ container: 'app', resource: 'cpu' }]);
    expect(sizes[0]?.size).toMatchObject({ cpuRequest: before[0]?.size.cpuRequest, cpuLimit: 900 });
  });

  test('what there was none of is gone again', () => {
    const bare = [aContainer({ size: { memoryLimit: MIB } })];
    const changes = of('app', { memoryRequest: 1, memoryLimit: 1 });
    const sizes = takenBack(applyChanges(bare, changes), { changes, before: bare }, partsOf(changes));
    expect(sizes[0]?.size).toEqual({ memoryLimit: MIB });
  });

  test('for any change, all of it taken back leaves what was before', () => {
    const amounts = fc.record(Object.fromEntries(sizeKeys.map((key) => [key, fc.nat(1000)])), { requiredKeys: [] });
    fc.assert(
      fc.property(amounts, (to) => {
        const changes = of('app', to);
        expect(takenBack(applyChanges(before, changes), { changes, before }, partsOf(changes))).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the QoS class', () => {
  const full = { cpuRequest: 500, cpuLimit: 1000, memoryRequest: 512 * MIB, memoryLimit: 512 * MIB };
  const burstable = [aContainer({ size: full })];
  const less = of('app', { cpuRequest: 240, cpuLimit: 240, memoryRequest: 120 * MIB, memoryLimit: 132 * MIB });
  const after = applyChanges(burstable, less);
  const memory = [{ container: 'app', resource: 'memory' as const }];

  test('is kept: what would make the pods Guaranteed takes the rest of the decrease with it', () => {
    expect(partsTakenBack(after, { changes: less, before: burstable }, memory)).toEqual(partsOf(less));
  });

  test('where it stays, only what is to blame goes', () => {
    const wide = applyChanges(after, of('app', { cpuLimit: 900 }));
    expect(partsTakenBack(wide, { changes: less, before: burstable }, memory)).toEqual(memory);
  });

  test('a raise of the same change goes only where it must', () => {
    const changes = [...less, ...of('proxy', { cpuRequest: 5000 })];
    const two = [...burstable, aContainer({ name: 'proxy' })];
    const parts = partsTakenBack(applyChanges(two, changes), { changes, before: two }, memory);
    expect(parts).toEqual(memory);
  });
});

describe('what is left when a guard objects', () => {
  const both = { raises: moreCpu, decreases: of('app', { memoryRequest: MIB }) };
  test.each<[string, Beginning, ReasonName, ReturnType<typeof restOf>]>([
    ['memory in use: the rest', both, 'MemoryInUse', { raises: moreCpu, decreases: [] }],
    [
      'memory in use: CPU may fall',
      { raises: [], decreases: of('app', { cpuRequest: 1, memoryLimit: 1 }) },
      'MemoryUseUnknown',
      { raises: [], decreases: of('app', { cpuRequest: 1 }) },
    ],
    ['memory in use, and nothing else', { raises: [], decreases: lessMemory }, 'MemoryInUse', undefined],
    ['memory in use keeps no raise of memory', { raises: moreMemory, decreases: lessCpu }, 'MemoryInUse', undefined],
    ['no room: what needs none', both, 'NodeHasNoRoom', { raises: [], decreases: both.decreases }],
    ['no quota: what needs none', both, 'QuotaRefuses', { raises: [], decreases: both.decreases }],
    ['a quota that is kept: what needs none', both, 'QuotaKept', { raises: [], decreases: both.decreases }],
    [
      'what a node can never give: what needs none',
      both,
      'InfeasibleBefore',
      { raises: [], decreases: both.decreases },
    ],
    ['no room, and only decreases', { raises: [], decreases: lessCpu }, 'NodeHasNoRoom', undefined],
    ['no room, and only raises', { raises: moreCpu, decreases: [] }, 'NodeHasNoRoom', undefined],
    ['anything else is about all of it', both, 'ChangePace', undefined],
  ])('%s', (_, beginning, reason, expected) => {
    expect(restOf(beginning, reason, () => false)).toEqual(expected);
  });

  test.each<[string, Beginning, ReasonName, ReturnType<typeof restOf>]>([
    [
      'what restarts nothing',
      { raises: moreMemory, decreases: lessCpu },
      'SingleReplica',
      { raises: [], decreases: lessCpu },
    ],
    [
      'so of one container',
      { raises: of('app', { cpuRequest: 900, memoryRequest: 900 * MIB }), decreases: proxyLess },
      'ResizeRestarts',
      { raises: moreCpu, decreases: proxyLess },
    ],
    ['nothing where all of it does', { raises: moreMemory, decreases: [] }, 'ResizeRestarts', undefined],
    ['nor where none of it does', { raises: moreCpu, decreases: proxyLess }, 'OutsideUpdateWindow', undefined],
    ['no room: first what needs none', both, 'NodeHasNoRoom', { raises: [], decreases: both.decreases }],
  ])('of what may restart memory, %s', (_, beginning, reason, expected) => {
    expect(
      restOf(beginning, reason, ({ container, resource }) => container === 'app' && resource === 'memory'),
    ).toEqual(expected);
  });
});
