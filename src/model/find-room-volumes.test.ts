/** Where a pod finds room that its volumes can be reached from. */
import { describe, expect, test } from 'vitest';
import type { NodeRecord } from './records.ts';
import { aNode, aVolumeClaim, inZone } from './testing/records.ts';
import { inZoneOf, roomIn } from './testing/room.ts';

describe('hazard H12: volumes', () => {
  const claims = ['data'];
  const bound = aVolumeClaim('data', { requiredNodeTerms: [inZone('a')] });

  test('a node in the zone of the volume', () => {
    expect(roomIn({ nodes: [inZoneOf('a')], volumeClaims: [bound] }, { claims })).toMatchObject({ kind: 'node' });
  });

  test('none in that zone', () => {
    expect(roomIn({ nodes: [inZoneOf('b')], volumeClaims: [bound] }, { claims })).toMatchObject({
      kind: 'none',
      isVolume: true,
    });
  });

  test('a claim that is not bound goes where the pod goes', () => {
    const volumeClaims = [aVolumeClaim('data', { bound: false })];
    expect(roomIn({ volumeClaims }, { claims })).toMatchObject({ kind: 'node' });
  });

  test('an autoscaler may make a node in the zone of the volume, but never one that has the disk of another', () => {
    const at = (key: string) =>
      aVolumeClaim('data', {
        requiredNodeTerms: [{ expressions: [{ key, operator: 'In', values: ['a'] }], fields: [] }],
      });
    const roomFor = (key: string, nodes: readonly NodeRecord[] = []) =>
      roomIn({ nodes, volumeClaims: [at(key)], provisionable: true }, { claims });
    expect(roomFor('zone')).toEqual({ kind: 'provisionable' });
    expect(roomFor('kubernetes.io/hostname')).toEqual({
      kind: 'none',
      detail: 'there is no on-demand node',
      isVolume: true,
    });
    expect(roomFor('kubernetes.io/hostname', [inZoneOf('a')])).toMatchObject({
      kind: 'none',
      detail: expect.stringContaining('outside the reach of the pod’s volume'),
    });
    const host = aNode('o', 'on-demand');
    const itself = { ...host, labels: { ...host.labels, 'kubernetes.io/hostname': 'a' } };
    expect(roomFor('kubernetes.io/hostname', [itself])).toEqual({ kind: 'node', node: 'o' });
  });

  test('a claim that is not known proves nothing, not even with an autoscaler', () => {
    expect(roomIn({ provisionable: true }, { claims })).toMatchObject({ kind: 'none', isVolume: true });
  });

  test('where a volume that is not known can be reached is not known either, also with an autoscaler', () => {
    const volumeClaims = [aVolumeClaim('data', { requiredNodeTerms: [] })];
    expect(roomIn({ volumeClaims, provisionable: true }, { claims: ['data'] })).toEqual({
      kind: 'none',
      detail: 'where a volume of the pod can be reached is not known',
      isVolume: true,
    });
  });
});
