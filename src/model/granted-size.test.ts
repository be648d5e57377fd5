import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInForce, isSettled, notInForce, sizesInForce, withdrawalChanges } from './granted-size.ts';
import { applyChanges, effectiveChanges, sizeKeys } from './pod-size.ts';
import type { ContainerSize, PodSizing } from './sizing-records.ts';
import { aContainer, aContainerStatus, aPodSizing, MIB, smallSize } from './testing/sizing-records.ts';

/** One container: `size` in its spec, `actual` in force, `allocated` granted. */
function aPodWith(size: ContainerSize, actual?: ContainerSize, allocated?: ContainerSize): PodSizing {
  const container = aContainer({ size });
  return aPodSizing({ containers: [container], statuses: [aContainerStatus(container, { actual, allocated })] });
}

describe('what is not in force', () => {
  const to = (size: ContainerSize) => [{ container: 'app', to: size }];

  test.each<[string, ContainerSize, ContainerSize]>([
    ['nothing: it is', { cpuRequest: 200, memoryLimit: 256 * MIB }, {}],
    ['nothing: CPU within the 10m the kernel rounds to', { cpuRequest: 210, cpuLimit: 390 }, {}],
    ['CPU beyond that', { cpuRequest: 211 }, { cpuRequest: 211 }],
    ['nothing: memory within a page', { memoryRequest: 128 * MIB + 4096 }, {}],
    ['memory beyond that', { memoryRequest: 128 * MIB + 4097 }, { memoryRequest: 128 * MIB + 4097 }],
    ['only what differs', { cpuRequest: 200, cpuLimit: 800 }, { cpuLimit: 800 }],
  ])('%s', (_, wanted, missing) => {
    const pod = aPodWith(smallSize, smallSize);
    expect(notInForce(pod, to(wanted))).toEqual(Object.keys(missing).length === 0 ? [] : to(missing));
    expect(isInForce(pod, to(wanted))).toBe(Object.keys(missing).length === 0);
  });

  test.each([
    ['does not say', aPodWith(smallSize)],
    ['has no such container', aPodSizing({ statuses: [] })],
  ])('all of it, where the kubelet %s', (_, pod) => {
    expect(notInForce(pod, to(smallSize))).toEqual(to(smallSize));
  });
});

describe('a resize is settled', () => {
  const inForce = { ...aPodWith(smallSize, smallSize), generation: 7, observedGeneration: 7 };
  const pending = { reason: 'Deferred', message: 'no room', since: undefined } as const;
  const inProgress = { error: undefined, since: undefined };

  test.each<[string, Partial<PodSizing>]>([
    ['once all that the spec asks for is in force, and the kubelet has seen it', {}],
    ['also where the kubelet does not say which spec it has seen', { observedGeneration: undefined }],
    ['also where it has seen a later one', { observedGeneration: 8 }],
  ])('%s', (_, changes) => {
    expect(isSettled({ ...inForce, ...changes })).toBe(true);
  });

  test.each<[string, Partial<PodSizing>]>([
    ['while the kubelet has seen an older spec only', { observedGeneration: 6 }],
    ['while it has not answered', { resize: { pending, inProgress: undefined } }],
    ['while it is at it', { resize: { pending: undefined, inProgress } }],
    ['while it is at one and another waits', { resize: { pending, inProgress } }],
    ['where another size is in force', aPodWith({ ...smallSize, cpuRequest: 900 }, smallSize)],
    [
      'where one of several containers has another',
      { containers: [...inForce.containers, aContainer({ name: 'log' })], statuses: inForce.statuses },
    ],
  ])('but not %s', (_, changes) => {
    const { generation, observedGeneration } = inForce;
    expect(isSettled({ ...inForce, generation, observedGeneration, ...changes })).toBe(false);
  });
});

test('sizes in force replace those of the spec, container by container', () => {
  const [app, log] = [aContainer(), aContainer({ name: 'log', cpuRestart: 'RestartContainer' })];
  const actual = { cpuRequest: 100 };
  const pod = { containers: [app, log], statuses: [aContainerStatus(log, { actual })] };
  expect(sizesInForce(pod)).toEqual([
    { ...app, size: {} },
    { ...log, size: actual },
  ]);
});

describe('taking a resize back', () => {
  test.each<[string, PodSizing, ContainerSize | undefined]>([
    [
      'a request goes back to what is allocated',
      aPodWith({ cpuRequest: 900 }, { cpuRequest: 300 }, { cpuRequest: 400 }),
      { cpuRequest: 400 },
    ],
    [
      'to what is in force, where nobody says what is allocated',
      aPodWith({ cpuRequest: 900 }, { cpuRequest: 300 }),
      { cpuRequest: 300 },
    ],
    [
      'a limit goes back to what is in force',
      aPodWith({ cpuLimit: 900 }, { cpuLimit: 500 }, { cpuLimit: 700 }),
      { cpuLimit: 500 },
    ],
    ['a limit that was being added stays', aPodWith({ cpuLimit: 900 }, {}), undefined],
    ['nothing, where the spec asks for nothing else', aPodWith(smallSize, smallSize, smallSize), undefined],
    ['nothing, where the kubelet says nothing', aPodWith(smallSize), undefined],
  ])('%s', (_, pod, to) => {
    expect(withdrawalChanges(pod)).toEqual(to === undefined ? [] : [{ container: 'app', to }]);
  });

  test('only of what whoever takes it back may write', () => {
    const pod = aPodWith({ ...smallSize, cpuRequest: 900, memoryRequest: 900 }, smallSize);
    expect(withdrawalChanges(pod, ['cpuRequest', 'cpuLimit'])).toEqual([{ container: 'app', to: { cpuRequest: 200 } }]);
  });

  test('for any pod, what was taken back asks for nothing beyond what is granted, and twice is once', () => {
    const amount = fc.option(fc.nat(3), { nil: undefined });
    const size = fc
      .record({ cpuRequest: amount, cpuLimit: amount, memoryRequest: amount, memoryLimit: amount })
      .map(
        (each): ContainerSize => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)),
      );
    fc.assert(
      fc.property(size, size, size, (spec, actual, allocated) => {
        const pod = aPodWith(spec, actual, allocated);
        const changes = withdrawalChanges(pod);
        expect(effectiveChanges(pod.containers, changes)).toEqual(changes);
        const containers = applyChanges(pod.containers, changes);
        expect(withdrawalChanges({ ...pod, containers })).toEqual([]);
        const [after] = containers;
        for (const key of sizeKeys) {
          const granted = (key.endsWith('Request') ? allocated[key] : undefined) ?? actual[key];
          expect(after?.size[key]).toBe(granted ?? spec[key]);
        }
      }),
    );
  });
});
