import { describe, expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import type { PodRecord } from '../../model/records.ts';
import type { ContainerSize, PodSizing } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';
import { podsToReplace, thatMayGo } from './pods-to-replace.ts';

const HOUR = 3_600_000;
const replicaSet = aReplicaSet(aDeployment());
/** Sized by rightsizing, which so has a say in all of its sizes. */
const ours = { marks: { [sizingKeys.originalResources]: '{}' } };
const sizesOf = (size: ContainerSize) => [aContainer({ size })];

function podOf(
  name: string,
  size: ContainerSize,
  sizing: Partial<PodSizing> = ours,
  changes: Partial<PodRecord> = {},
): SizedPod {
  const record = aSizedPod(replicaSet, name, { containers: sizesOf(size), ...sizing }, { uid: name, ...changes });
  return { pod: record, sizing: record.sizing };
}

/** CPU may be requested up to four cores. */
function contextOf(live: readonly SizedPod[]): ApplyContext {
  const workload = aSizedWorkload({ containers: sizesOf({ cpuRequest: 200 }) });
  const memory = createRightsizingMemory().of(workload.uid);
  return { advised: { workload }, policy: validPolicy(), memory, live } as unknown as ApplyContext;
}

const nobody = (): boolean => false;
const namesOf = (drifted: readonly DriftedPod[]) => drifted.map(({ pod }) => pod.pod.name);

describe('pods to replace', () => {
  test('are those of another size, the ones that serve nobody first, then the newest', () => {
    const context = contextOf([
      podOf('old', { cpuRequest: 200 }, ours, { createdAt: NOON - 3 * HOUR }),
      podOf('as it should be', { cpuRequest: 100 }),
      podOf('new', { cpuRequest: 200 }, ours, { createdAt: NOON - HOUR }),
      podOf('not ready', { cpuRequest: 300 }, ours, { createdAt: NOON - 2 * HOUR, ready: false }),
    ]);
    const drifted = podsToReplace(context, sizesOf({ cpuRequest: 100 }), nobody);
    expect(namesOf(drifted)).toEqual(['not ready', 'new', 'old']);
    expect(drifted[0]?.changes).toEqual([{ container: 'app', to: { cpuRequest: 100 } }]);
  });

  test('that rightsizing never sized differ in what is new only', () => {
    const context = contextOf([podOf('a', { cpuRequest: 200, memoryRequest: 128 * MIB }, {})]);
    const sizes = sizesOf({ cpuRequest: 100, memoryRequest: 64 * MIB });
    expect(podsToReplace(context, sizes, nobody)).toEqual([]);
    const due = [{ container: 'app', to: { memoryRequest: 64 * MIB } }];
    expect(podsToReplace(context, sizes, nobody, due)[0]?.changes).toEqual(due);
  });

  test('do not differ in their CPU where allocation shares that out', () => {
    const context = contextOf([podOf('a', { cpuRequest: 200 }), podOf('b', { cpuRequest: 200 })]);
    const sizes = sizesOf({ cpuRequest: 100 });
    expect(namesOf(podsToReplace(context, sizes, ({ pod }) => pod.name === 'a'))).toEqual(['b']);
  });
});

describe('of them may go', () => {
  const wanted = sizesOf({ cpuRequest: 4100 });

  test('none whose replacement would get more than the policy allows', () => {
    const context = contextOf([podOf('a', { cpuRequest: 200 }), podOf('had more', { cpuRequest: 5000 })]);
    expect(namesOf(thatMayGo(context, podsToReplace(context, wanted, nobody)))).toEqual(['had more']);
  });

  test('all, where what did harm is put back', () => {
    const context = contextOf([podOf('a', { cpuRequest: 200 })]);
    context.memory.watches.resume(() => ({ ongoing: [], takenBack: [{ container: 'app', resource: 'cpu' }] }));
    expect(namesOf(thatMayGo(context, podsToReplace(context, wanted, nobody)))).toEqual(['a']);
  });

  test('those that somebody else sizes last', () => {
    const theirs = podOf('theirs', { cpuRequest: 200 }, { ...ours, sizeManagers: ['vpa-updater'] }, { ready: false });
    const context = contextOf([theirs, podOf('ours', { cpuRequest: 200 })]);
    const drifted = podsToReplace(context, sizesOf({ cpuRequest: 100 }), nobody);
    expect(namesOf(drifted)).toEqual(['theirs', 'ours']);
    expect(namesOf(thatMayGo(context, drifted))).toEqual(['ours', 'theirs']);
  });
});
