import { describe, expect, test } from 'vitest';
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import { writeAppliedSizes } from './applied-sizes.ts';
import { bornSizes, bornTemplate } from './born-template.ts';
import { noLessons } from './learned-floors.ts';
import { freshState, noReplicas, sizesOf, writeReplicaSizes } from './replica-sizes.ts';
import type { ContainerSize } from './sizing-records.ts';
import { aTemplate } from './testing/records.ts';
import { aContainer, aSizedWorkload, MIB } from './testing/sizing-records.ts';

const template = aTemplate({ requests: { cpuMillis: 250, memoryBytes: 200 * MIB } });
const size = { cpuRequest: 200, memoryRequest: 128 * MIB };
const containers = [aContainer({ size }), aContainer({ name: 'side', size })];

/** What the next pod requests where the first container was given this. */
function requestsWith(given: ContainerSize, now = containers) {
  const inForce = [aContainer({ size: { ...size, ...given } }), ...containers.slice(1)];
  const text = writeAppliedSizes(containers, inForce);
  const annotations = text === undefined ? {} : { [rightsizingKeys.appliedSizes]: text };
  return bornTemplate({ template, sized: aSizedWorkload({ containers: now, annotations }) }).requests;
}

describe('the template that pods are made of', () => {
  test('is the template itself where no sizes are given', () => {
    expect(bornTemplate({ template, sized: undefined })).toBe(template);
    expect(bornTemplate({ template, sized: aSizedWorkload({ containers }) })).toBe(template);
  });

  test.each<[string, ContainerSize, number, number]>([
    ['requests more where more is given', { cpuRequest: 900 }, 950, 200],
    ['of each resource for itself', { cpuRequest: 900, memoryRequest: 256 * MIB }, 950, 328],
    ['requests what the template does where less is given', { cpuRequest: 50, memoryRequest: 256 * MIB }, 250, 328],
  ])('%s', (_, given, cpuMillis, memoryMib) => {
    expect(requestsWith(given)).toEqual({ cpuMillis, memoryBytes: memoryMib * MIB });
  });

  test('counts the largest replica where they have sizes of their own, and edits of the template void that, too', () => {
    const sizeOf = (cpuRequest: number) =>
      sizesOf([aContainer({ size: { ...size, cpuRequest } }), ...containers.slice(1)]);
    const state = (cpuRequest: number) => ({
      sizes: sizeOf(cpuRequest),
      changedAt: undefined,
      before: undefined,
      lessons: noLessons,
    });
    const replicas = new Map([
      ['0', state(50)],
      ['1', state(700)],
    ]);
    const annotations = { [rightsizingKeys.replicaSizes]: writeReplicaSizes(containers, replicas) ?? '' };
    const requestsOf = (now: typeof containers) =>
      bornTemplate({ template, sized: aSizedWorkload({ containers: now, annotations }) }).requests;
    expect(requestsOf(containers)).toEqual({ cpuMillis: 750, memoryBytes: 200 * MIB });
    expect(requestsOf(containers.slice(1))).toEqual(template.requests);
  });

  test('whoever edits the template means what he writes: what was given before counts no longer', () => {
    const edited = [aContainer({ size: { ...size, cpuRequest: 300 } }), ...containers.slice(1)];
    expect(requestsWith({ cpuRequest: 900 }, edited)).toEqual(template.requests);
  });

  test('by container: whatever the template, what is applied or one of the replicas to come has more of', () => {
    const of = (cpuRequest: number, memoryRequest: number) => [
      aContainer({ size: { cpuRequest, memoryRequest } }),
      ...containers.slice(1),
    ];
    const annotations = { [rightsizingKeys.appliedSizes]: writeAppliedSizes(containers, of(50, 256 * MIB)) ?? '' };
    const sized = aSizedWorkload({ containers, annotations });
    expect(bornSizes(sized, noReplicas)).toEqual(of(200, 256 * MIB));
    expect(bornSizes(sized, new Map([['1', freshState(of(900, MIB))]]))).toEqual(of(900, 256 * MIB));
  });
});
