import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyChanges,
  effectiveChanges,
  heldRequest,
  heldRequests,
  isIncrease,
  qosClassOf,
  sizeOfContainer,
  sumOf,
} from './pod-size.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB, smallSize } from './testing/sizing-records.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const size = { cpuRequest: 100, cpuLimit: 100, memoryRequest: MIB, memoryLimit: MIB };

describe('QoS class', () => {
  test.each([
    ['nothing at all', [{}], 'BestEffort'],
    ['zero is nothing', [{ cpuRequest: 0 }], 'BestEffort'],
    ['limits alone stand for requests', [{ cpuLimit: 100, memoryLimit: MIB }], 'Guaranteed'],
    ['all equal', [size], 'Guaranteed'],
    ['one container without', [size, {}], 'Burstable'],
    ['one resource without', [{ cpuRequest: 100, cpuLimit: 100 }], 'Burstable'],
    ['request below limit', [{ ...size, cpuRequest: 99 }], 'Burstable'],
    ['of memory, too', [{ ...size, memoryRequest: MIB / 2 }], 'Burstable'],
    ['no limit of CPU', [{ cpuRequest: 100, memoryRequest: MIB, memoryLimit: MIB }], 'Burstable'],
    ['one thousandth is something', [{ cpuRequest: 1 }], 'Burstable'],
  ])('%s', (_, sizes, qos) => {
    expect(qosClassOf(sizes)).toBe(qos);
  });
});

describe('changes', () => {
  const containers = [aContainer(), aContainer({ name: 'log', size: { cpuRequest: 10 } })];

  test('the size of a container is found by its name', () => {
    expect(['log', 'gone'].map((name) => sizeOfContainer(containers, name))).toEqual([{ cpuRequest: 10 }, undefined]);
  });

  test('only what is named changes, and containers that are not there are left out', () => {
    const after = applyChanges(containers, [
      { container: 'app', to: { cpuRequest: 300 } },
      { container: 'gone', to: { cpuRequest: 1 } },
    ]);
    expect(after.map((container) => container.size)).toEqual([{ ...smallSize, cpuRequest: 300 }, { cpuRequest: 10 }]);
    expect(containers[0]?.size).toBe(smallSize);
  });

  test('for any changes, applying the effective ones is applying all, and twice is once', () => {
    const amount = fc.option(fc.nat(5), { nil: undefined });
    const to = fc
      .record({ cpuRequest: amount, memoryLimit: amount })
      .map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)));
    const change = fc.record({ container: fc.constantFrom('app', 'log', 'gone'), to });
    fc.assert(
      fc.property(fc.uniqueArray(change, { selector: ({ container }) => container }), (changes) => {
        const effective = effectiveChanges(containers, changes);
        const after = applyChanges(containers, effective);
        expect(after).toEqual(applyChanges(containers, changes));
        expect(effectiveChanges(after, effective)).toEqual([]);
      }),
    );
  });

  test.each([
    [{ cpuRequest: 201 }, true],
    [{ cpuRequest: 200 }, false],
    [{ cpuRequest: 100, memoryLimit: 257 * MIB }, true],
    [{}, false],
  ])('%j is an increase: %s', (to, expected) => {
    expect(isIncrease(smallSize, to)).toBe(expected);
  });

  test('a first request is an increase, a first limit is not', () => {
    expect(isIncrease({}, { cpuRequest: 1 })).toBe(true);
    expect(isIncrease({}, { cpuLimit: 1 })).toBe(false);
  });
});

test('containers together: what is not set counts as nothing', () => {
  const containers = [{ size: { cpuRequest: 100, cpuLimit: 300 } }, { size: { cpuRequest: 50 } }, { size: {} }];
  expect(sumOf(containers, 'cpuRequest')).toBe(150);
  expect(sumOf(containers, 'cpuLimit')).toBe(300);
  expect(sumOf(containers, 'memoryLimit')).toBe(0);
  expect(sumOf([], 'cpuRequest')).toBe(0);
});

describe('what a container holds', () => {
  const status = (allocated: number | undefined, actual: number | undefined) => ({
    ...aContainerStatus(aContainer()),
    allocated: allocated === undefined ? undefined : { memoryRequest: allocated },
    actual: actual === undefined ? undefined : { memoryRequest: actual },
  });
  const asking = (memoryRequest: number) => aContainer({ size: { memoryRequest } });

  test.each([
    ['an increase not yet admitted', 300, status(200, 200), false, 300],
    ['a decrease admitted and not in force', 100, status(100, 200), false, 200],
    ['a decrease not yet admitted', 100, status(200, 100), false, 200],
    ['what can never be granted', 300, status(200, 100), true, 200],
    ['what can never be granted to a container that has nothing', 300, status(0, undefined), true, 0],
    ['what can never be granted, where the kubelet says nothing', 300, status(undefined, undefined), true, 300],
    ['a container the kubelet does not know yet', 300, undefined, true, 300],
  ] as const)('%s', (_name, asked, known, isInfeasible, expected) => {
    const statuses = known === undefined ? [] : [known];
    expect(heldRequest('memoryRequest', asking(asked), { statuses, isInfeasible })).toBe(expected);
  });
});

describe('what a pod holds', () => {
  const sized = (sizing: Parameters<typeof aSizedPod>[2], requests?: { cpuMillis: number; memoryBytes: number }) => {
    const pod = aSizedPod(owner, 'web-1', sizing);
    return {
      pod: requests === undefined ? pod : { ...pod, template: { ...pod.template, requests } },
      sizing: pod.sizing,
    };
  };
  const ask = (cpuRequest: number) => [{ container: 'app', to: { cpuRequest } }];

  test('an increase counts from the moment it is asked, a decrease not before it is done', () => {
    expect(heldRequests(sized({})).cpuMillis).toBe(200);
    expect(heldRequests(sized({}), ask(300)).cpuMillis).toBe(300);
    expect(heldRequests(sized({}), ask(100)).cpuMillis).toBe(200);
  });

  test('CPU and memory each by itself, of all containers together', () => {
    const containers = [aContainer(), aContainer({ name: 'log' })];
    const pod = sized({ containers, statuses: containers.map((each) => aContainerStatus(each)) });
    const changes = [
      { container: 'app', to: { cpuRequest: 100, memoryRequest: 160 * MIB } },
      { container: 'log', to: { cpuRequest: 300, memoryRequest: 64 * MIB } },
    ];
    expect(heldRequests(pod, changes)).toEqual({ cpuMillis: 500, memoryBytes: 288 * MIB });
    const less = containers.map(({ name }) => ({ container: name, to: { cpuRequest: 1, memoryRequest: MIB } }));
    expect(heldRequests(pod, less)).toEqual(heldRequests(pod));
  });

  test('overhead and init containers stay in it', () => {
    const pod = sized({}, { cpuMillis: 500, memoryBytes: 200 * MIB });
    expect(heldRequests(pod, ask(300))).toEqual({ cpuMillis: 600, memoryBytes: 200 * MIB });
  });

  test('what was asked for and can never be granted counts only when it is asked again', () => {
    const container = aContainer({ size: { ...smallSize, cpuRequest: 9000 } });
    const pending = { reason: 'Infeasible', message: '', since: undefined } as const;
    const status = aContainerStatus(aContainer());
    const pod = sized(
      { containers: [container], statuses: [status], resize: { pending, inProgress: undefined } },
      { cpuMillis: 200, memoryBytes: 128 * MIB },
    );
    expect(heldRequests(pod).cpuMillis).toBe(200);
    expect(heldRequests(pod, ask(300)).cpuMillis).toBe(300);
  });
});
