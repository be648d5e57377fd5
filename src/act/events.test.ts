import { describe, expect, test } from 'vitest';
import type { EventNotice } from '../kube/event-object.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { WorkloadRecord } from '../model/records.ts';
import { createProjections } from '../observe/project.ts';
import { buildNotice, createWorkloadEvents } from './events.ts';

function workloadNamed(name: string): WorkloadRecord {
  const record = createProjections((message) => {
    throw new Error(message);
  }).deployment({
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7' },
    spec: { selector: {}, template: {} },
  });
  if (record === undefined) throw new Error('not read');
  return record;
}

const web = workloadNamed('web');
const HOUR = 3_600_000;

function setUp() {
  const notices: EventNotice[] = [];
  const clock = createVirtualClock(0);
  return { clock, notices, events: createWorkloadEvents({ record: (notice) => notices.push(notice) }, clock) };
}

describe('buildNotice', () => {
  test('is about the workload, and says what was meant', () => {
    expect(buildNotice(web, 'EvictedForRebalance', 'Evicted pod web-1')).toEqual({
      regarding: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
        uid: 'uid-web',
        resourceVersion: '7',
      },
      type: 'Normal',
      reason: 'EvictedForRebalance',
      action: 'Place',
      note: 'Evicted pod web-1',
    });
  });

  test('a warning also says what to do', () => {
    const { type, note } = buildNotice(web, 'InvalidConfiguration', 'key: "x" is not valid');
    expect(type).toBe('Warning');
    expect(note).toBe('key: "x" is not valid. Correct the value; the workload is left alone until then.');
  });
});

describe('recordHourly', () => {
  test('tells a reason once an hour, whatever its message says meanwhile', async () => {
    const { clock, notices, events } = setUp();
    events.recordHourly(web, 'OutsideWindow', 'opens at 02:00');
    await clock.advance(HOUR - 1);
    events.recordHourly(web, 'OutsideWindow', 'opens at 03:00');
    expect(notices).toHaveLength(1);
    await clock.advance(1);
    events.recordHourly(web, 'OutsideWindow', 'opens at 04:00');
    expect(notices.map(({ note }) => note)).toEqual(['opens at 02:00', 'opens at 04:00']);
  });

  test('reasons, causes and workloads are told apart', () => {
    const { notices, events } = setUp();
    events.recordHourly(web, 'OutsideWindow', 'm');
    events.recordHourly(web, 'BlockedByPdb', 'm');
    events.recordHourly(workloadNamed('other'), 'BlockedByPdb', 'm');
    events.recordHourly(web, 'InvalidConfiguration', 'a', 'a');
    events.recordHourly(web, 'InvalidConfiguration', 'b', 'b');
    expect(notices).toHaveLength(5);
  });

  test('a workload that is gone is forgotten', () => {
    const { notices, events } = setUp();
    events.recordHourly(web, 'OutsideWindow', 'm');
    events.forget(web.uid);
    events.recordHourly(web, 'OutsideWindow', 'm');
    expect(notices).toHaveLength(2);
  });
});
