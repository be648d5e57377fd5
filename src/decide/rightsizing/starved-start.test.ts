import { expect, test } from 'vitest';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import type { PodRecord } from '../../model/records.ts';
import type { ContainerSpecRecord, ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { starvedStart } from './starved-start.ts';

const template: readonly ContainerSpecRecord[] = [aContainer(), aContainer({ name: 'proxy' })];
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100, cpuLimit: 100, memoryRequest: MIB } }];
const inForce = applyChanges(template, less);
const PATIENCE = 600_000;

interface Given {
  readonly pod?: Partial<PodRecord>;
  readonly app?: Partial<ContainerStatusRecord>;
  readonly has?: typeof template;
}

function aPod(name: string, { pod = {}, app = {}, has = inForce }: Given = {}): SizedPod {
  const statuses = has.map((each) => aContainerStatus(each, each.name === 'app' ? app : {}));
  const times = { createdAt: NOON, readyChangedAt: NOON + 1_000 };
  const record = aSizedPod(aReplicaSet(aDeployment()), name, { containers: has, statuses }, { ...times, ...pod });
  return { pod: record, sizing: record.sizing };
}

const old = aPod('old');
const starting = (changes: Given = {}): SizedPod =>
  aPod('new', { ...changes, pod: { ready: false, ...changes.pod }, app: { ready: false, ...changes.app } });
const seen = (pods: readonly SizedPod[], sizes = inForce, now = NOON + 1_000 + PATIENCE) =>
  starvedStart(template, sizes, pods, now);

test('a new pod that does not get ready in its time has too little CPU, and of nothing else', () => {
  expect(seen([old, starting()], inForce, NOON + 999 + PATIENCE)).toBeUndefined();
  expect(seen([old, starting()])).toEqual({
    changes: [{ container: 'app', to: { cpuRequest: 100, cpuLimit: 100 } }],
    harm: {
      parts: [{ container: 'app', resource: 'cpu' }],
      cause: 'container app of pod new does not get ready with a lower CPU limit than its template says',
    },
  });
});

test('a request that is more than that of the template stays', () => {
  const sizes = applyChanges(template, [{ container: 'app', to: { cpuRequest: 300, cpuLimit: 300 } }]);
  expect(seen([old, starting({ has: sizes })], sizes)?.changes).toEqual([{ container: 'app', to: { cpuLimit: 300 } }]);
});

const killed = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON + PATIENCE };
test.each<[string, readonly SizedPod[], typeof template?]>([
  ['all are ready', [old, aPod('new')]],
  ['none is ready', [starting()]],
  ['it has been ready before', [old, starting({ pod: { readyChangedAt: NOON - 1, createdAt: NOON - 60_002 } })]],
  ['it is killed for want of memory', [old, starting({ app: { lastTermination: killed } })]],
  ['another container of it is not ready', [old, starting({ app: { ready: true } })]],
  ['it has another size', [old, starting({ has: template })]],
  [
    'the limit is that of the template',
    [old, starting()],
    applyChanges(inForce, [{ container: 'app', to: { cpuLimit: 400 } }]),
  ],
  ['others took long as well', [aPod('old', { pod: { readyChangedAt: NOON + 300_000 } }), starting()]],
])('nothing is seen where %s', (_, pods, sizes = inForce) => {
  expect(seen(pods, sizes)).toBeUndefined();
});
