import { expect, test } from 'vitest';
import { aSizeLog, replicaSet, resize, sizeScene } from '../../guard/size/testing/size-scene.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aQuota, aSizedPod, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { everyEnd } from '../testing/resize-in-flight.ts';
import { type AllocationActuatorOptions, createAllocationActuator } from './actuator.ts';

test('every end of a resize but that of its pod is counted', async () => {
  const metrics = createMetrics();
  const ends = everyEnd();
  const actuator = createAllocationActuator({
    view: createSizingSnapshot({}),
    clock: createVirtualClock(NOON),
    metrics,
    history: aSizeLog(),
    inFlight: { review: () => ends.splice(0) },
    events: { onPod: () => {} },
  } as unknown as AllocationActuatorOptions);
  await actuator.review(new AbortController().signal);
  const text = await metrics.render();
  const counts = [...text.matchAll(/^mbcas_controller_resize_total\{status="([^"]+)"\} ([1-9]\d*)$/gm)];
  expect(Object.fromEntries(counts.map(([, status, count]) => [status, Number(count)]))).toEqual({
    done: 2,
    superseded: 1,
    lost: 1,
    withdrawn: 1,
  });
});

test('what a quota would refuse for a pod that does not say enough is not sent, and learned like a refusal', async () => {
  const containers = [aContainer({ size: { cpuRequest: 200, memoryRequest: MIB } })];
  const scene = sizeScene({
    records: {
      pods: [aSizedPod(replicaSet, 'web-1', { containers }, { uid: 'web-1' })],
      quotas: [aQuota({ hard: { cpuLimit: 4000 }, used: {} })],
    },
  });
  const history = aSizeLog();
  const told: object[] = [];
  const actuator = createAllocationActuator({
    view: scene.view,
    settings: () => ({ size: scene.settings }),
    leadership: () => scene.leadership,
    clock: createVirtualClock(NOON),
    metrics: createMetrics(),
    history,
    resizes: () => [],
    evictions: () => [],
    servesResize: () => true,
    resize: () => expect.unreachable('it would be refused'),
    events: { onPod: (_pod: unknown, event: object) => void told.push(event) },
  } as unknown as AllocationActuatorOptions);
  const decision = resize({ engine: 'allocation' });
  expect(actuator.objection(decision)).toMatchObject({ reason: 'QuotaWantsAmounts' });
  expect(history.failed('web-1')).toMatchObject({ count: 1 });
  expect(told).toMatchObject([{ reason: 'CPURefused', lasts: true, about: 'QuotaWantsAmounts' }]);
  const attempt = await actuator.send(decision, new AbortController().signal);
  expect(attempt).toMatchObject({ kind: 'blocked', block: { reason: 'ChangeBackoff' } });
});

test('what its node did not grant is taken back later where that was not possible at once', async () => {
  const clock = createVirtualClock(NOON);
  const containers = [aContainer({ size: { ...smallSize, cpuRequest: 300 } })];
  const pod = aSizedPod(
    replicaSet,
    'web-1',
    { containers, statuses: [aContainerStatus(aContainer())] },
    { uid: 'web-1' },
  );
  const scene = sizeScene({ records: { pods: [pod] } });
  const decision = resize({ engine: 'allocation' });
  const withdrawal = { ...decision, changes: [{ container: 'app', to: { cpuRequest: 200 } }], isWithdrawal: true };
  const ends = everyEnd().flatMap((end) => (end.kind === 'taken-back' ? { ...end, decision, withdrawal } : []));
  let leader = false;
  const sent: object[] = [];
  const actuator = createAllocationActuator({
    view: scene.view,
    settings: () => ({ size: scene.settings }),
    leadership: () => ({ ...scene.leadership, leader }),
    clock,
    metrics: createMetrics(),
    history: aSizeLog(),
    inFlight: { review: () => ends.splice(0), isResizing: () => false, begin: () => {}, settle: () => undefined },
    resizes: () => [],
    evictions: () => [],
    servesResize: () => true,
    resize: async (approved: { readonly decision: { readonly changes: object } }) => {
      sent.push(approved.decision.changes);
      return { result: 'accepted', generation: 3 };
    },
    onEnd: () => {},
    events: { onPod: () => {} },
    journal: { record: () => {} },
  } as unknown as AllocationActuatorOptions);
  const review = () => actuator.review(new AbortController().signal);
  await review();
  leader = true;
  await clock.advance(14_999);
  await review();
  expect(sent).toEqual([]);
  await clock.advance(1);
  await review();
  expect(sent).toEqual([withdrawal.changes]);
});
