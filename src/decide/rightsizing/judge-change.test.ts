import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import type { SizeChange } from '../size-decision.ts';
import { isDecrease, judgeChange, loweredResources, mayBegin, watchChange, watchMillis } from './judge-change.ts';

const owner = aReplicaSet(aDeployment());
const container = aContainer();
const pod = (status: Partial<ContainerStatusRecord> = {}, changes: Parameters<typeof aSizedPod>[3] = {}): SizedPod => {
  const record = aSizedPod(
    owner,
    'web-1',
    { statuses: [aContainerStatus(container, status)] },
    { uid: 'web-1', ...changes },
  );
  return { pod: record, sizing: record.sizing };
};
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 64 * MIB } }];
const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const more: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 900 } }];
const killed: Partial<ContainerStatusRecord> = {
  restartCount: 1,
  lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON + 60_000 },
};
const restarted: Partial<ContainerStatusRecord> = {
  restartCount: 1,
  lastTermination: { reason: 'Error', exitCode: 1, finishedAt: NOON + 60_000 },
};
const judge = (changes: readonly SizeChange[], after: SizedPod, before = pod(), later = 120_000) =>
  judgeChange(watchChange(changes, [container], [before], NOON), [after], NOON + later);

describe('what a decrease did', () => {
  test.each<[string, readonly SizeChange[], SizedPod, readonly string[] | undefined]>([
    ['nothing', less, pod(), undefined],
    ['killed for want of memory', less, pod(killed), ['memory']],
    ['a kill says nothing about CPU', lessCpu, pod(killed), undefined],
    ['restarted', less, pod(restarted), ['cpu', 'memory']],
    ['no longer ready', lessCpu, pod({}, { ready: false, readyChangedAt: NOON + 30_000 }), ['cpu']],
    ['not ready for a moment', less, pod({}, { ready: false, readyChangedAt: NOON + 100_000 }), undefined],
    ['an increase is never to blame', more, pod(restarted), undefined],
  ])('%s', (_, changes, after, expected) => {
    expect(judge(changes, after)?.resources).toEqual(expected);
  });

  test('what was so before is not our doing', () => {
    expect(judge(less, pod(restarted), pod(restarted))).toBeUndefined();
    const unready = pod({}, { ready: false, readyChangedAt: NOON - 1 });
    expect(judge(less, unready, unready)).toBeUndefined();
    const again = pod({}, { ready: false, readyChangedAt: NOON + 1 });
    expect(judge(less, again, unready)).toBeUndefined();
  });

  test('a pod born with the new size that is killed tells too', () => {
    const born = { ...pod(killed), pod: { ...pod(killed).pod, uid: 'web-9' } };
    expect(judge(less, born)?.cause).toContain('killed for want of memory');
  });

  test('a pod that was never ready is only starting', () => {
    const starting = { ...pod(), pod: { ...pod().pod, uid: 'web-9', ready: false, readyChangedAt: NOON + 1 } };
    expect(judge(less, starting)).toBeUndefined();
  });

  test('names the container and the pod', () => {
    expect(judge(less, pod(killed))).toMatchObject({ container: 'app', cause: expect.stringContaining('web-1') });
  });
});

describe('which change is a decrease', () => {
  test.each<[string, SizeChange['to'], readonly string[]]>([
    ['a lower request', { cpuRequest: 199 }, ['cpu']],
    ['a lower limit', { memoryLimit: 255 * MIB }, ['memory']],
    ['both', { cpuRequest: 1, memoryRequest: 1 }, ['cpu', 'memory']],
    ['a higher one', { cpuRequest: 201, memoryRequest: 999 * MIB }, []],
  ])('%s', (_, to, expected) => {
    expect(loweredResources({ container: 'app', to }, [container])).toEqual(expected);
    expect(isDecrease({ changes: [{ container: 'app', to }], before: [container] })).toBe(expected.length > 0);
  });

  test('a first request lowers nothing', () => {
    expect(loweredResources({ container: 'app', to: { cpuRequest: 1 } }, [aContainer({ size: {} })])).toEqual([]);
  });

  test('for any change that lowers nothing, nothing is ever put down to it', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(5), fc.boolean(), (extra, restartCount, ready) => {
        const changes = [{ container: 'app', to: { cpuRequest: (smallSize.cpuRequest ?? 0) + extra } }];
        const after = pod({ ...killed, restartCount }, { ready, readyChangedAt: NOON + 1 });
        expect(judge(changes, after)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});

describe('another change while one is looked after', () => {
  const before = [container, aContainer({ name: 'proxy' })];
  const raise = (name: string, to: SizeChange['to']): readonly SizeChange[] => [{ container: name, to }];
  const lessMemory = raise('app', { memoryRequest: 64 * MIB });
  test.each<[string, readonly SizeChange[] | undefined, readonly SizeChange[], boolean]>([
    ['none is', undefined, lessCpu, true],
    ['more CPU after less memory', lessMemory, more, true],
    ['more memory after more CPU', more, raise('app', { memoryRequest: 900 * MIB }), true],
    ['more CPU after less CPU', lessCpu, more, false],
    ['more of both after less memory', lessMemory, raise('app', { cpuRequest: 900, memoryRequest: 900 * MIB }), false],
    ['more CPU for another container', lessCpu, raise('proxy', { cpuRequest: 900 }), true],
    ['less of anything', more, raise('proxy', { memoryRequest: 1 * MIB }), false],
  ])('%s', (_, ongoing, changes, expected) => {
    expect(mayBegin(ongoing && { changes: ongoing }, { changes, before })).toBe(expected);
  });

  test('what lowers nothing is soon forgotten, a decrease when it can no longer be taken back', () => {
    expect(watchMillis({ changes: lessCpu, before }, 1_800_000)).toBe(1_800_000);
    expect(watchMillis({ changes: more, before }, 1_800_000)).toBe(30_000);
    expect(watchMillis({ changes: more, before }, 5_000)).toBe(5_000);
  });
});
