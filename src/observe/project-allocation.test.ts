import { describe, expect, test } from 'vitest';
import type { PodAllocation } from '../api/pod-allocation.ts';
import { type AllocationRecord, createAllocationProjection } from './project-allocation.ts';

const objectOf = (name: string, changes: Partial<PodAllocation> = {}): PodAllocation => ({
  metadata: { namespace: 'shop', name, uid: `object-${name}`, generation: 2 },
  spec: {
    namespace: 'shop',
    podName: `web-${name}`,
    podUID: name,
    nodeName: 'n1',
    desiredCPURequest: '300m',
    desiredCPULimit: '900m',
    decision: { mode: 'congested', clamps: [{ reason: 'SteadySum', message: 'requests of the node keep the sum' }] },
  },
  status: {
    phase: 'Applied',
    appliedCPURequest: '300m',
    conditions: [
      {
        type: 'Managed',
        status: 'True',
        reason: 'TakesPart',
        message: 'yes',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    guidance: { advice: 120, bounds: [{ layer: 'quota', reason: 'ResourceQuota', max: 500 }] },
  },
  ...changes,
});
const copyOf = <T>(value: T): T => structuredClone(value);
/** With spec and status, which a record puts together when they are asked for. */
const plain = (record: AllocationRecord | undefined) => {
  if (record === undefined) return undefined;
  const { namespace, uid, phase, spec, status } = record;
  return { ...record, namespace, uid, phase, spec, status };
};

describe('the record of a PodAllocation', () => {
  test('says all that the object says of its pod', () => {
    const object = objectOf('a');
    expect(plain(createAllocationProjection()(copyOf(object)))).toEqual({
      namespace: 'shop',
      name: 'a',
      uid: 'object-a',
      generation: 2,
      podName: 'web-a',
      podUID: 'a',
      nodeName: 'n1',
      phase: 'Applied',
      spec: object.spec,
      status: object.status,
    });
  });

  test('has the time of the last sign of life, to the second; what is no time is none', () => {
    const project = createAllocationProjection();
    const renewedAt = (time: string) => {
      const { metadata } = objectOf('a');
      return project(objectOf('a', { metadata: { ...metadata, annotations: { 'mbcas.io/renewed-at': time } } }))
        ?.renewed;
    };
    expect(renewedAt('1970-01-01T00:01:30.900Z')).toBe(90);
    expect(renewedAt('today')).toBeUndefined();
  });

  test('leaves absent what is absent', () => {
    const spec = { namespace: 'shop', podName: 'web', desiredCPURequest: '1', desiredCPULimit: '1' };
    const record = createAllocationProjection()({ metadata: { namespace: 'shop', name: 'web' }, spec });
    const pod = { podName: 'web', podUID: undefined, nodeName: undefined, phase: undefined };
    expect(plain(record)).toStrictEqual({
      namespace: 'shop',
      name: 'web',
      uid: '',
      generation: 0,
      renewed: undefined,
      version: undefined,
      ...pod,
      spec,
      status: {},
    });
  });

  test.each([
    ['812', 812],
    ['not a number', undefined],
  ])('of a state %s knows it as %s', (resourceVersion, version) => {
    const object = objectOf('a');
    const metadata = { ...object.metadata, resourceVersion };
    expect(createAllocationProjection()({ ...object, metadata })?.version).toBe(version);
  });

  test('keeps the uid of a pod by which the object is not named', () => {
    const { spec, ...rest } = objectOf('a');
    if (spec === undefined) throw new Error('it has a spec');
    const record = createAllocationProjection()({ ...rest, spec: { ...spec, podUID: 'other' } });
    expect(record?.podUID).toBe('other');
    expect(record?.spec.podUID).toBe('other');
  });

  test('is none where the object says nothing of a pod', () => {
    const project = createAllocationProjection();
    expect(project({ metadata: { namespace: 'shop', name: 'a' } })).toBeUndefined();
    expect(project({ ...objectOf('a'), metadata: {} })).toBeUndefined();
  });

  test('has the texts of its pod from the record of the pod, and only of the very one', () => {
    const object = objectOf('4f6b-uid');
    const texts = {
      name: ['web', '4f6b-uid'].join('-'),
      uid: ['4f6b', 'uid'].join('-'),
      nodeName: ['n', '1'].join(''),
    };
    expect(plain(createAllocationProjection(() => texts)(copyOf(object)))).toEqual(
      plain(createAllocationProjection()(copyOf(object))),
    );
    const other = createAllocationProjection(() => ({ ...texts, uid: 'successor' }))(copyOf(object));
    expect([other?.name, other?.podUID]).toEqual(['4f6b-uid', '4f6b-uid']);
  });
});
