import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChanges, qosClassOf } from '../../../model/pod-size.ts';
import type { ContainerSize } from '../../../model/sizing-records.ts';
import { aPdb, GIB } from '../../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedWorkload, MIB, smallSize } from '../../../model/testing/sizing-records.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  memory,
  pods,
  reasonsFor,
  resize,
  retemplate,
  type SizeSceneChanges,
  sizeScene,
  withPod,
} from '../testing/size-scene.ts';

describe('the change', () => {
  const guaranteed = {
    qos: 'Guaranteed',
    containers: [aContainer({ size: { cpuRequest: 200, cpuLimit: 200, memoryRequest: GIB, memoryLimit: GIB } })],
  } as const;
  test('Guaranteed pods move request and limit together, or not at all', () => {
    expect(
      reasonsFor(resize({ changes: [{ container: 'app', to: { cpuRequest: 100 } }] }), withPod(guaranteed)),
    ).toEqual(['QosClassFixed']);
    const both = resize({ changes: [{ container: 'app', to: { cpuRequest: 100, cpuLimit: 100 } }] });
    expect(reasonsFor(both, withPod(guaranteed))).toEqual([]);
  });

  test('a Burstable pod may not become Guaranteed', () => {
    const to = { cpuRequest: 400, memoryRequest: 256 * MIB };
    expect(reasonsFor(resize({ changes: [{ container: 'app', to }] }))).toEqual(['QosClassFixed']);
  });

  test('sizes of containers do not make the class where a run-once init container does, which has no record', () => {
    // Main containers alone would be Guaranteed; an init container without requests makes the pod Burstable for good.
    const likeGuaranteed = { ...guaranteed, qos: 'Burstable' } as const;
    const both = resize({ changes: [{ container: 'app', to: { cpuRequest: 100, cpuLimit: 100 } }] });
    const one = resize({ changes: [{ container: 'app', to: { cpuRequest: 100 } }] });
    expect([...reasonsFor(both, withPod(likeGuaranteed)), ...reasonsFor(one, withPod(likeGuaranteed))]).toEqual([]);
  });

  test('a limit may be added where the class stays', () => {
    const containers = [aContainer({ size: { cpuRequest: 200 } })];
    const add = resize({ changes: [{ container: 'app', to: { cpuLimit: 500 } }] });
    expect(reasonsFor(add, withPod({ containers }))).toEqual([]);
  });

  test.each([
    ['cpu', { cpuRequest: 401 }],
    ['memory', { memoryRequest: 257 * MIB }],
  ])('a %s request above its limit', (_, to) => {
    expect(reasonsFor(resize({ changes: [{ container: 'app', to }] }))).toEqual(['RequestAboveLimit']);
    expect(reasonsFor(retemplate({ changes: [{ container: 'app', to }] }))).toEqual(['RequestAboveLimit']);
  });
});

describe('memory is not taken from whoever uses it', () => {
  const use = (now: number | undefined, peak: number | undefined) => ({
    memoryOf: () => ({ now: now && now * MIB, peak: peak && peak * MIB }),
  });
  test.each<[string, number, SizeSceneChanges, readonly string[]]>([
    ['well above', 200, use(100, 150), []],
    ['exactly use and margin', 165, use(100, 150), []],
    ['just below', 164, use(100, 150), ['MemoryInUse']],
    ['below what is used now', 140, use(150, undefined), ['MemoryInUse']],
    ['nothing is known', 200, { memoryOf: () => undefined }, ['MemoryUseUnknown']],
    ['nothing is known of it', 200, use(undefined, undefined), ['MemoryUseUnknown']],
    ['an increase needs no figures', 300, { memoryOf: () => undefined }, []],
  ])('%s', (_, limit, changes, expected) => {
    expect(reasonsFor(memory(limit * MIB), changes)).toEqual(expected);
  });

  test('rightsizing bug 23: the request falls freely, and the CPU limit is nobody else’s business', () => {
    const to = { cpuRequest: 50, memoryRequest: 16 * MIB };
    expect(reasonsFor(resize({ changes: [{ container: 'app', to }] }), { memoryOf: () => undefined })).toEqual([]);
  });

  test('the sidecar does not hold the container', () => {
    const containers = [aContainer(), aContainer({ name: 'log' })];
    const memoryOf: SizeSceneChanges['memoryOf'] = (_, container) =>
      container === 'log' ? { now: 250 * MIB, peak: 255 * MIB } : { now: 10 * MIB, peak: 12 * MIB };
    expect(reasonsFor(memory(150 * MIB), { ...withPod({ containers }), memoryOf })).toEqual([]);
  });

  test('a decrease that was asked for and is not in force yet counts from what is in force', () => {
    const container = aContainer({ size: { ...smallSize, memoryLimit: 140 * MIB } });
    const status = aContainerStatus(container, { actual: smallSize });
    const asked = withPod({ containers: [container], statuses: [status] });
    expect(reasonsFor(memory(150 * MIB), { ...asked, ...use(145, 150) })).toEqual(['MemoryInUse']);
  });

  test('up to the higher of what is asked for and what is in force nothing is lowered', () => {
    const at = (spec: number, inForce: number, limit: number) => {
      const container = aContainer({ size: { ...smallSize, memoryLimit: spec * MIB } });
      const status = aContainerStatus(container, { actual: { ...smallSize, memoryLimit: inForce * MIB } });
      const scene = withPod({ containers: [container], statuses: [status] });
      return reasonsFor(memory(limit * MIB), { ...scene, memoryOf: () => undefined });
    };
    expect(at(140, 256, 256)).toEqual([]);
    expect(at(140, 256, 255)).toEqual(['MemoryUseUnknown']);
    // What was asked for and is not in force yet may be used by the time that it is.
    expect(at(256, 140, 200)).toEqual(['MemoryUseUnknown']);
  });

  test('the margin is rounded up, and told', () => {
    const to = (memoryLimit: number) =>
      resize({ changes: [{ container: 'app', to: { memoryRequest: 100, memoryLimit } }] });
    const memoryOf = () => ({ now: 128, peak: undefined });
    const [block] = inspectSizeAll(to(140), sizeScene({ memoryOf }));
    expect(block?.message).toBe(
      'Container app uses or recently used 128 of memory; its limit is not lowered to 140 (needed with margin: 141)',
    );
    expect(reasonsFor(to(141), { memoryOf })).toEqual([]);
  });

  test('taking back what was not granted lowers nothing', () => {
    const decision = { ...memory(150 * MIB), isWithdrawal: true };
    expect(reasonsFor(decision, use(145, 150))).toEqual([]);
  });
});

test('rightsizing bug 12, 14: a resize without restart asks no disruption budget, also of a single replica', () => {
  const pdbs = [aPdb({ disruptionsAllowed: 0 })];
  const single = aSizedWorkload({ replicas: 1 });
  expect(reasonsFor(resize(), { records: { pdbs, workloads: [single], pods: pods.slice(0, 1) } })).toEqual([]);
});

const amount = (max: number) => fc.integer({ min: 1, max });
const optional = (max: number) => fc.option(amount(max), { nil: undefined });
const anySize = fc
  .record({
    cpuRequest: optional(500),
    cpuLimit: optional(500),
    memoryRequest: optional(500),
    memoryLimit: optional(500),
  })
  .map((size): ContainerSize => {
    const entries = Object.entries(size).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, key.startsWith('memory') ? value * MIB : value]],
    );
    return Object.fromEntries(entries);
  });

test('for any pod and any change, what is approved keeps the QoS class and is a valid container', () => {
  let approved = 0;
  fc.assert(
    fc.property(fc.array(anySize, { minLength: 1, maxLength: 3 }), anySize, anySize, (sizes, to, more) => {
      const containers = sizes.map((size, index) => aContainer({ name: `c${index}`, size }));
      const qos = qosClassOf(sizes);
      const changes = [
        { container: 'c0', to },
        { container: 'c1', to: more },
      ];
      if (reasonsFor(resize({ changes }), withPod({ containers, qos })).length > 0) return;
      approved++;
      const after = applyChanges(containers, changes).map(({ size }) => size);
      expect(qosClassOf(after)).toBe(qos);
      for (const { cpuRequest = 0, cpuLimit = Infinity, memoryRequest = 0, memoryLimit = Infinity } of after) {
        expect(cpuRequest).toBeLessThanOrEqual(cpuLimit);
        expect(memoryRequest).toBeLessThanOrEqual(memoryLimit);
      }
    }),
    { numRuns: 1000 },
  );
  expect(approved).toBeGreaterThan(20);
});

// Feature: k8s-workload-rightsizing, Property 5: For any workload where the recommended memory is less than current memory limits,
// the system should not apply the change in-place if it could cause pod eviction or OOM conditions.
test('Property 5: for any use, peak and new limit, a memory limit is lowered in place only above both, with the margin', () => {
  let lowered = 0;
  fc.assert(
    fc.property(
      optional(400),
      optional(400),
      fc.integer({ min: 128, max: 256 }),
      fc.nat(50),
      (now, peak, limit, margin) => {
        const memoryOf = () => ({ now: now && now * MIB, peak: peak && peak * MIB });
        const reasons = reasonsFor(memory(limit * MIB), { memoryOf, settings: { memoryMargin: margin } });
        if (limit === 256) return;
        const isSafe = (now ?? peak) !== undefined && limit >= Math.max(now ?? 0, peak ?? 0) * (1 + margin / 100);
        if (isSafe) lowered++;
        expect(reasons.length === 0).toBe(isSafe);
      },
    ),
    { numRuns: 500 },
  );
  expect(lowered).toBeGreaterThan(20);
});

// Feature: k8s-workload-rightsizing, Property 21: For any cluster with in-place resize enabled and a policy allowing it, the system
// should prefer in-place updates for both CPU and memory requests over pod recreation.
test('Property 21: for any requests, a pod that can be resized in place is, without leave to recreate and without a new template', () => {
  fc.assert(
    fc.property(amount(400), amount(255), (cpuRequest, mebibytes) => {
      const to = { cpuRequest, memoryRequest: mebibytes * MIB };
      const reasons = reasonsFor(resize({ changes: [{ container: 'app', to }] }), { policy: { allowRecreate: false } });
      expect(reasons).toEqual(cpuRequest === 200 && mebibytes === 128 ? ['AlreadyThatSize'] : []);
      expect(
        reasonsFor(retemplate({ changes: [{ container: 'app', to }] }), { policy: { allowRecreate: false } }),
      ).not.toEqual([]);
    }),
    { numRuns: 200 },
  );
});
