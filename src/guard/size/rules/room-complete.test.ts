import { describe, expect, test } from 'vitest';
import {
  aContainer,
  aLimitRange,
  aQuota,
  aSizedPod,
  aSizedWorkload,
  MIB,
} from '../../../model/testing/sizing-records.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import { evictToResize, reasonsFor, replicaSet, resize, retemplate, sizeScene } from '../testing/size-scene.ts';

describe('a quota that wants every container to have an amount', () => {
  const unlimited = { cpuRequest: 200, memoryRequest: MIB };
  const quotas = [aQuota({ hard: { cpuLimit: 4000 }, used: {} })];
  const before = [aContainer({ size: unlimited })];
  const pod = aSizedPod(replicaSet, 'web-1', { containers: before, generation: 2 }, { uid: 'web-1' });
  const template = { workloads: [aSizedWorkload({ containers: before })] };

  test('refuses any change of a pod from before it, also one that takes back', () => {
    const records = { quotas, pods: [pod], ...template };
    const less = { changes: [{ container: 'app', to: { cpuRequest: 100 } }] };
    const [block] = inspectSizeAll(resize(less), sizeScene({ records }));
    expect(block).toMatchObject({
      reason: 'QuotaWantsAmounts',
      message:
        'ResourceQuota compute wants limits.cpu of every container, and app has none: the API server would refuse any change',
    });
    for (const decision of [resize({ ...less, isWithdrawal: true }), retemplate(), evictToResize])
      expect(reasonsFor(decision, { records })).toEqual(['QuotaWantsAmounts']);
  });

  test('takes one that gives it', () => {
    const records = { quotas, pods: [pod], ...template };
    const changes = [{ container: 'app', to: { cpuRequest: 100, cpuLimit: 400 } }];
    for (const decision of [resize({ changes }), retemplate({ changes })])
      expect(reasonsFor(decision, { records })).toEqual([]);
  });

  test('is met by new pods, where a LimitRange or the template gives it by now', () => {
    const limitRanges = [aLimitRange({ defaultLimit: { cpu: 500 } })];
    const given = { quotas, limitRanges, pods: [pod], ...template };
    for (const decision of [retemplate(), evictToResize]) expect(reasonsFor(decision, { records: given })).toEqual([]);
    expect(reasonsFor(resize(), { records: given })).toEqual(['QuotaWantsAmounts']);
    expect(reasonsFor(evictToResize, { records: { quotas, pods: [pod] } })).toEqual([]);
  });

  test('is met by resources of the whole pod', () => {
    const pods = [{ ...pod, sizing: { ...pod.sizing, hasPodLevelResources: true } }];
    expect(reasonsFor(retemplate(), { records: { quotas, pods, ...template } })).toEqual([]);
  });

  test('does not keep a rollout of ours from being turned back', () => {
    const decision = retemplate({ isRestore: true, turnsBack: true });
    expect(reasonsFor(decision, { records: { quotas, pods: [pod], ...template } })).toEqual([]);
  });
});
