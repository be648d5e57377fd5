import { describe, expect, test } from 'vitest';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { createOomKills } from './oom-kills.ts';

const replicaSet = aReplicaSet(aDeployment());
const spec = aContainer({ size: { memoryRequest: 128 * MIB, memoryLimit: 256 * MIB } });

/** A pod whose container was killed at these seconds, and has this limit in force by now, in MiB. */
function aPod(at: number | undefined, limit: number, changes: Partial<ContainerStatusRecord> = {}): SizedPod {
  const finishedAt = at === undefined ? undefined : NOON + at * 1000;
  const status = aContainerStatus(spec, {
    lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt },
    actual: { memoryLimit: limit * MIB },
    ...changes,
  });
  const record = aSizedPod(replicaSet, 'web-1', { containers: [spec], statuses: [status] }, { uid: 'web-1' });
  return { pod: record, sizing: record.sizing };
}

describe('a kill for want of memory', () => {
  const now = NOON + 3_600_000;

  test('is told with what the container had, again and again as the same', () => {
    const kills = createOomKills();
    const told = { container: 'app', key: `web-1/${NOON}`, limit: 256 * MIB, at: NOON };
    expect([kills.of(aPod(0, 256), now), kills.of(aPod(0, 512), now)]).toEqual([[told], [told]]);
  });

  test('was of what its run had, though a larger size is in force by the time it is told', () => {
    const kills = createOomKills();
    const limits = [aPod(0, 256), aPod(10, 512), aPod(10, 512), aPod(40, 512)].map(
      (pod) => kills.of(pod, now)[0]?.limit,
    );
    expect(limits).toEqual([256, 256, 256, 512].map((limit) => limit * MIB));
  });

  test('of a pod that was not asked for since is told as the first', () => {
    const kills = createOomKills();
    kills.of(aPod(0, 256), now);
    kills.forgetBefore(now);
    expect(kills.of(aPod(10, 512), now)[0]?.limit).toBe(256 * MIB);
    kills.forgetBefore(now + 1);
    expect(kills.of(aPod(20, 1024), now + 1)[0]?.limit).toBe(1024 * MIB);
  });

  test.each<[string, SizedPod, unknown]>([
    [
      'of another kind is none',
      aPod(0, 256, { lastTermination: { reason: 'Error', exitCode: 1, finishedAt: NOON } }),
      [],
    ],
    ['of a run-once init container is nobody’s', aPod(0, 256, { name: 'migrate' }), []],
    [
      'of a kubelet that tells no sizes is of those asked for',
      aPod(0, 1, { actual: undefined }),
      [{ limit: 256 * MIB }],
    ],
    [
      'of a kubelet that tells no time is of now, and known by the restart',
      aPod(undefined, 256, { restartCount: 3 }),
      [{ key: 'web-1/restart-3', at: now }],
    ],
    ['of a node whose clock is ahead is of now', aPod(86_400, 256), [{ at: now }]],
    [
      'of a node whose clock is behind is of when it was seen, and known by what the node told',
      aPod(0, 256, {
        lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 7_200_000, seenAt: now - 1000 },
      }),
      [{ key: `web-1/${NOON - 7_200_000}`, at: now - 1000 }],
    ],
  ])('%s', (_, pod, expected) => {
    expect(createOomKills().of(pod, now)).toMatchObject(expected as object[]);
  });
});
