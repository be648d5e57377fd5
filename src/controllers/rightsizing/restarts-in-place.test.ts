import { describe, expect, test } from 'vitest';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import { createDisruptionLog } from '../../guard/history.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { NOON } from '../../model/testing/records.ts';
import {
  aContainer,
  aContainerStatus,
  aSizedPod,
  aSizedWorkload,
  MIB,
  smallSize,
} from '../../model/testing/sizing-records.ts';
import { createEvictionsInFlight } from '../evictions-in-flight.ts';
import { decisionFor } from '../testing/resize-in-flight.ts';
import { createRestartsInPlace } from './restarts-in-place.ts';

const more = { memoryRequest: 160 * MIB };
const restarting: Partial<ContainerSpecRecord> = { memoryRestart: 'RestartContainer' };

/** A pod of `web` with this container in its spec, and `smallSize` in force. */
function setUp(container: Partial<ContainerSpecRecord>) {
  const clock = createVirtualClock(NOON);
  const sizing = { containers: [aContainer(container)], statuses: [aContainerStatus(aContainer())] };
  const pod = aSizedPod(aSizedWorkload(), 'web-1', sizing, { uid: 'web-1' });
  const inFlight = createEvictionsInFlight(() => 600_000);
  const history = createDisruptionLog({ initial: 60_000, max: 600_000 });
  const view = createSizingSnapshot({ pods: [pod] });
  const restarts = createRestartsInPlace({ view, disruptions: { inFlight, history }, clock });
  return {
    restarts,
    placesAt: (after: number) => inFlight.list(clock.now() + after).length,
    places: () => inFlight.list(clock.now()).map(({ podUid, workloadUid }) => [podUid, workloadUid]),
    lastDisruption: () => history.lastDisruption('uid-web'),
  };
}

const asked = (changes: Partial<ResizeDecision> = {}): ResizeDecision =>
  decisionFor(more, { workloadUid: 'uid-web', ...changes });

describe('a resize', () => {
  test.each<[string, Partial<ContainerSpecRecord>, ResizeDecision, boolean]>([
    ['that restarts its container takes a place', restarting, asked(), true],
    ['that restarts nothing takes none', {}, asked(), false],
    ['of another resource restarts nothing', { cpuRestart: 'RestartContainer' }, asked(), false],
    [
      'to what the spec says already restarts nothing',
      { ...restarting, size: { ...smallSize, ...more } },
      asked(),
      false,
    ],
    ['that is taken back was never granted', restarting, asked({ isWithdrawal: true }), false],
    ['of a bare pod has no workload to count for', restarting, asked({ workloadUid: undefined }), false],
  ])('%s', (_, container, decision, takes) => {
    const { restarts, places } = setUp(container);
    expect(restarts.takesPlace(decision)).toBe(takes);
    restarts.begin(decision);
    expect(places()).toEqual(takes ? [['web-1', 'uid-web']] : []);
  });

  test.each([
    ['that was done counts as the latest disruption of its workload', true, NOON],
    ['that came to nothing does not', false, undefined],
  ])('%s', (_, wasDone, last) => {
    const { restarts, places, lastDisruption } = setUp(restarting);
    restarts.begin(asked());
    restarts.end('web-1', wasDone);
    expect(places()).toEqual([]);
    expect(lastDisruption()).toBe(last);
  });

  test('has its container’s grace period and the time for what is stuck', () => {
    const { restarts, placesAt } = setUp(restarting);
    restarts.begin(asked());
    const graceMillis = 30_000;
    expect(placesAt(600_000 + graceMillis - 1)).toBe(1);
    expect(placesAt(600_000 + graceMillis)).toBe(0);
  });

  test('that took no place ends without a trace', () => {
    const { restarts, lastDisruption } = setUp({});
    restarts.begin(asked());
    restarts.end('web-1', true);
    expect(lastDisruption()).toBeUndefined();
  });
});

describe('a resize of the last leader, in the spec and not in force', () => {
  const inSpec = { size: { ...smallSize, ...more } };

  test('takes its place again where it restarts the container, and gives it back at its end', () => {
    const { restarts, places, lastDisruption } = setUp({ ...restarting, ...inSpec });
    expect(restarts.adopt(asked())).toBe(true);
    expect(places()).toEqual([['web-1', 'uid-web']]);
    restarts.end('web-1', true);
    expect(places()).toEqual([]);
    expect(lastDisruption()).toBe(NOON);
  });

  test.each([
    ['that restarts nothing takes none', inSpec],
    [
      'of which no restarting resource is left to change takes none',
      { ...restarting, size: { ...smallSize, cpuRequest: 300 } },
    ],
  ])('%s', (_, container) => {
    const { restarts, places } = setUp(container);
    expect(restarts.adopt(decisionFor(container.size, { workloadUid: 'uid-web' }))).toBe(false);
    expect(places()).toEqual([]);
  });
});
