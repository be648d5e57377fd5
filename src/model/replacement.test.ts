import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from './node-profiles.ts';
import type { NodeSelectorTerm, PodRecord, PodTemplate, Toleration } from './records.ts';
import { replacementOf } from './replacement.ts';
import { createSides } from './sides.ts';
import { aDeployment, aPod, aReplicaSet, aSpreadRule, aTemplate, CAPACITY_TYPE, inZone } from './testing/records.ts';
import { aPodSizing } from './testing/sizing-records.ts';

const sides = createSides(nodeClassProfile(['karpenter']));
const written = aTemplate({ nodeSelector: { disk: 'ssd' } });
const workload = aDeployment({ template: written });
const replacing = (template: PodTemplate, changes: Partial<PodRecord> = {}, of = sides) =>
  replacementOf(workload, aPod(aReplicaSet(workload), 'p', { template, ...changes }), of);
const tolerating = (key: string): Toleration => ({ key, operator: 'Exists', value: '', effect: 'NoSchedule' });

describe('the replacement of a pod', () => {
  test('is made of the template where nothing was added to the pod but a side', () => {
    const own = aTemplate({ nodeSelector: { disk: 'ssd', [CAPACITY_TYPE]: 'spot' } });
    const { template, besideTerms } = replacing(own, { admissionId: 'r1', capacity: 'spot' });
    expect([template.nodeSelector, template.tolerations, besideTerms]).toEqual([{ disk: 'ssd' }, [], undefined]);
    expect(template).toMatchObject({ labels: written.labels, requests: written.requests, extraRequests: undefined });
  });

  test('keeps to a side that the template pins', () => {
    const pinned = aDeployment({ template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } }) });
    const pod = aPod(aReplicaSet(pinned), 'p', { template: pinned.template });
    expect(sides.pinnedSide(replacementOf(pinned, pod, sides).template)).toBe('on-demand');
  });

  test('asks for nodes and tolerates taints as the RuntimeClass and the namespace of the pod say', () => {
    const nodeSelector = { disk: 'ssd', runtime: 'sandboxed', team: 'a', [CAPACITY_TYPE]: 'spot' };
    const { template } = replacing(aTemplate({ nodeSelector, tolerations: [tolerating('sandboxed')] }));
    expect(template.nodeSelector).toEqual({ disk: 'ssd', runtime: 'sandboxed', team: 'a' });
    expect(template.tolerations).toEqual([tolerating('sandboxed')]);
  });

  test('does not count on the toleration of spot that Stowage added, but on one of the template', () => {
    const aks = createSides(nodeClassProfile(['aks']));
    const others = [{ ...tolerating('kubernetes.azure.com/scalesetpriority'), effect: 'NoExecute' } as const];
    const tolerations = [...aks.tolerationsOf('spot'), ...others];
    expect(replacing(aTemplate({ tolerations }), {}, aks).template.tolerations).toEqual(others);
    const tolerant = aDeployment({ template: aTemplate({ tolerations }) });
    const pod = aPod(aReplicaSet(tolerant), 'p', { template: tolerant.template });
    expect(replacementOf(tolerant, pod, aks).template.tolerations).toEqual(expect.arrayContaining(tolerations));
  });

  test('keeps to affinity that was added, without what it says of sides', () => {
    const spot = { key: CAPACITY_TYPE, operator: 'In' as const, values: ['spot'] };
    const pinned = ({ expressions, fields }: NodeSelectorTerm) => ({ expressions: [...expressions, spot], fields });
    const own = aTemplate({ requiredNodeTerms: [inZone('a'), inZone('b')].map(pinned) });
    expect(replacing(own).besideTerms).toEqual([inZone('a'), inZone('b')]);
    const onlyPinned = aTemplate({ requiredNodeTerms: [pinned({ expressions: [], fields: [] })] });
    expect(replacing(onlyPinned).besideTerms).toBeUndefined();
  });

  test('requests what the pod does where that is more: overhead and sidecars are in no template', () => {
    const requests = { cpuMillis: 350, memoryBytes: 1 };
    const { template } = replacing(aTemplate({ requests, extraRequests: { gpu: 1, 'ephemeral-storage': 5 } }));
    expect(template.requests).toEqual({ cpuMillis: 350, memoryBytes: written.requests.memoryBytes });
    expect(template.extraRequests).toEqual({ gpu: 1, 'ephemeral-storage': 5 });
    const wanting = aDeployment({ template: aTemplate({ extraRequests: { gpu: 2, fpga: 1 } }) });
    const pod = aPod(aReplicaSet(wanting), 'p', { template: aTemplate({ extraRequests: { gpu: 1, net: 3 } }) });
    expect(replacementOf(wanting, pod, sides).template.extraRequests).toEqual({ gpu: 2, fpga: 1, net: 3 });
  });

  test('claims devices as its pod does, whoever had it do so', () => {
    const claiming = aTemplate({ claimsDevices: true });
    expect(replacing(claiming).template.claimsDevices).toBe(true);
    const workloadOfThem = aDeployment({ template: claiming });
    const pod = aPod(aReplicaSet(workloadOfThem), 'p');
    expect(replacementOf(workloadOfThem, pod, sides).template.claimsDevices).toBe(true);
    expect(replacing(aTemplate()).template.claimsDevices).toBeUndefined();
  });

  test('has not the size that Stowage gave the pod since', () => {
    const template = aTemplate({ requests: { cpuMillis: 4_000, memoryBytes: 1 } });
    const sizing = aPodSizing({ marks: { 'optipod.io/original-resources': '{}' } });
    expect(replacing(template, { sizing }).template.requests).toEqual(written.requests);
  });

  test('is kept apart and spread by the rules that the pod has, which may be more than its template’s', () => {
    const apart = { kind: 'apart', topologyKey: 'zone', selector: {}, isOwn: true, isElsewhere: false } as const;
    const rules = { podAffinity: [apart], spread: [aSpreadRule()], hasPodPlacementRules: true };
    expect(replacing(aTemplate(rules)).template).toMatchObject(rules);
    const ruled = aDeployment({ template: aTemplate(rules) });
    expect(replacementOf(ruled, aPod(aReplicaSet(ruled), 'p'), sides).template).toMatchObject(rules);
  });
});
