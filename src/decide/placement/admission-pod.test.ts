import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { aTemplate } from '../../model/testing/records.ts';
import { readAdmissionPod } from './admission-pod.ts';

const read = (pod: Pod) => readAdmissionPod(pod, aTemplate(), undefined);
const containers = [{ name: 'app', image: 'app:1' }];

describe('readAdmissionPod', () => {
  test('a bare pod has nothing the patch could add to', () => {
    expect(read({ spec: { containers } })).toEqual({
      name: undefined,
      owner: undefined,
      template: aTemplate(),
      nodeName: undefined,
      isMirror: false,
      stamp: undefined,
      hasDeletionCost: false,
      has: {
        annotations: false,
        nodeSelector: false,
        affinity: false,
        nodeAffinity: false,
        preferences: false,
        tolerations: false,
      },
      requiredTerms: undefined,
    });
  });

  test('what exists is seen, also when it is empty', () => {
    const { has } = read({
      metadata: { annotations: {} },
      spec: { containers, nodeSelector: {}, affinity: { nodeAffinity: {} }, tolerations: [] },
    });
    expect(has).toEqual({
      annotations: true,
      nodeSelector: true,
      affinity: true,
      nodeAffinity: true,
      preferences: false,
      tolerations: true,
    });
  });

  test('case 18: nulls where objects belong count as absent', () => {
    const pod: Pod = JSON.parse(
      '{"metadata":{"annotations":null},"spec":{"nodeSelector":null,"affinity":{"nodeAffinity":null},"tolerations":null}}',
    );
    expect(read(pod).has).toEqual({
      annotations: false,
      nodeSelector: false,
      affinity: true,
      nodeAffinity: false,
      preferences: false,
      tolerations: false,
    });
    const empty: Pod = JSON.parse('{"spec":{"affinity":null}}');
    expect(read(empty).has.affinity).toBe(false);
  });

  test('empty names are no names', () => {
    expect(read({ metadata: { name: '' }, spec: { containers, nodeName: '' } })).toMatchObject({
      name: undefined,
      nodeName: undefined,
    });
    expect(read({ metadata: { name: 'db-0' }, spec: { containers, nodeName: 'n' } })).toMatchObject({
      name: 'db-0',
      nodeName: 'n',
    });
  });

  test('a stamp is kept by the ledger of claims, so one of a megabyte is none', () => {
    const stampOf = (admissionId: string) =>
      read({
        metadata: {
          annotations: {
            'spotalis.io/slot': '1',
            'spotalis.io/capacity': 'spot',
            'spotalis.io/admission-id': admissionId,
          },
        },
      }).stamp;
    expect(stampOf('8d5bff7c-4f9c-4f5e-9b5c-0a7f3c3a1c11')).toMatchObject({ slot: 1, capacity: 'spot' });
    expect(stampOf('x'.repeat(129))).toBeUndefined();
  });

  test('a static pod’s mirror is recognised', () => {
    expect(read({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash' } } }).isMirror).toBe(true);
  });

  test('the user’s deletion cost is seen', () => {
    expect(
      read({ metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '5' } } }).hasDeletionCost,
    ).toBe(true);
  });

  test.each([
    ['complete', { 'spotalis.io/slot': '3', 'spotalis.io/capacity': 'spot', 'spotalis.io/admission-id': 'u' }, true],
    ['without id', { 'spotalis.io/slot': '3', 'spotalis.io/capacity': 'spot' }, false],
    ['of slot 0', { 'spotalis.io/slot': '0', 'spotalis.io/capacity': 'spot', 'spotalis.io/admission-id': 'u' }, false],
    ['of no side', { 'spotalis.io/slot': '3', 'spotalis.io/capacity': 'x', 'spotalis.io/admission-id': 'u' }, false],
  ])('a stamp %s', (_, annotations, isStamp) => {
    expect(read({ metadata: { annotations } }).stamp !== undefined).toBe(isStamp);
  });

  test('required terms are kept as written', () => {
    const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    expect(read({ spec: { containers, affinity: { nodeAffinity: required } } }).requiredTerms).toBe(nodeSelectorTerms);
  });
});
