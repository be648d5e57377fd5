import { describe, expect, test } from 'vitest';
import { judgeChange } from '../../decide/rightsizing/judge-change.ts';
import type { Beginning } from '../../decide/rightsizing/side-by-side.ts';
import { freshState, withReplicaSizes } from '../../model/replica-sizes.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aStatefulSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import type { ReplicaAdvice } from './advise-replicas.ts';
import { putInForce } from './replica-change.ts';

const spec = aContainer({ memoryRestart: 'RestartContainer', size: { cpuRequest: 500, memoryRequest: 64 * MIB } });
const podWith = (restartCount: number): SizedPod => {
  const statuses = [aContainerStatus(spec, { restartCount })];
  const record = aSizedPod(aStatefulSet({ name: 'db' }), 'db-0', { containers: [spec], statuses }, { uid: 'db-0' });
  return { pod: record, sizing: record.sizing };
};
const replica = { replica: '0', pod: podWith(0) } as unknown as ReplicaAdvice;
const lessCpu: Beginning = { raises: [], decreases: [{ container: 'app', to: { cpuRequest: 100 } }] };
const moreMemory: Beginning = { raises: [{ container: 'app', to: { memoryRequest: 128 * MIB } }], decreases: [] };
const give = (beginnings: readonly Beginning[]) => {
  let state = freshState([spec], []);
  let watch: ReturnType<typeof putInForce>['given']['watch'];
  for (const beginning of beginnings) {
    const inForce = withReplicaSizes([spec], state);
    const put = putInForce(replica, inForce, state, beginning, watch, NOON);
    [state, watch] = [put.state, put.given.watch];
  }
  return watch;
};

describe('less CPU of a replica is not blamed for the restart by more memory', () => {
  test.each<[string, readonly Beginning[]]>([
    ['beside it', [{ ...moreMemory, decreases: lessCpu.decreases }]],
    ['after it', [lessCpu, moreMemory]],
  ])('%s', (_, beginnings) => {
    const watch = give(beginnings);
    const harmAt = (restarts: number) => watch && judgeChange(watch, [podWith(restarts)], NOON + 120_000);
    expect(watch?.changes).toEqual(lessCpu.decreases);
    expect(harmAt(1)).toBeUndefined();
    expect(harmAt(2)?.parts).toEqual([{ container: 'app', resource: 'cpu' }]);
  });
});
