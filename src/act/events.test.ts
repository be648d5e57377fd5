import { describe, expect, test } from 'vitest';
import type { EventNotice } from '../kube/event-object.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { WorkloadRecord } from '../model/records.ts';
import { createProjections } from '../observe/project.ts';
import { createEvents } from './events.ts';

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

function setUp(action: 'Place' | 'Allocate' = 'Place') {
  const notices: EventNotice[] = [];
  const clock = createVirtualClock(0);
  return { clock, notices, events: createEvents({ record: (notice) => notices.push(notice) }, clock, action) };
}

const blocked = { reason: 'OutsideWindow', message: 'opens at 02:00', lasts: true } as const;

describe('an event', () => {
  test('is about the workload, and says what was meant', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, { reason: 'EvictedForRebalance', message: 'Evicted pod web-1' });
    expect(notices).toEqual([
      {
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
      },
    ]);
  });

  test('of a warning also says what to do', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, { reason: 'InvalidConfiguration', message: 'key: "x" is not valid' });
    expect(notices[0]).toMatchObject({
      type: 'Warning',
      note: 'key: "x" is not valid. Correct the value; the workload is left alone until then.',
    });
  });

  test('leaves out the end of a long message, and not what to do', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, { reason: 'InvalidConfiguration', message: 'x'.repeat(2_000) });
    expect(notices[0]?.note).toMatch(/^x+…\. Correct the value; the workload is left alone until then\.$/);
    expect(Buffer.byteLength(notices[0]?.note ?? '')).toBeLessThanOrEqual(1_024);
  });

  test('on a pod names it, and the resizes of one are one series', () => {
    const { notices, events } = setUp('Allocate');
    const pod = { namespace: 'shop', name: 'web-1', uid: 'u' };
    events.onPod(pod, { reason: 'CPUApplied', message: 'to 300m', isSeries: true });
    events.onPod(pod, { reason: 'CPURefused', message: 'no room' });
    expect(notices).toMatchObject([
      { regarding: { apiVersion: 'v1', kind: 'Pod', ...pod }, action: 'Allocate', dedupeKey: 'CPUApplied' },
      { type: 'Warning', note: expect.stringMatching(/^no room\. \w/) },
    ]);
    expect(notices[1]).not.toHaveProperty('dedupeKey');
  });
});

describe('a state that lasts', () => {
  test('is told once an hour, whatever its message says meanwhile', async () => {
    const { clock, notices, events } = setUp();
    events.onWorkload(web, blocked);
    await clock.advance(HOUR - 1);
    events.onWorkload(web, { ...blocked, message: 'opens at 03:00' });
    expect(notices).toHaveLength(1);
    await clock.advance(1);
    events.onWorkload(web, { ...blocked, message: 'opens at 04:00' });
    expect(notices.map(({ note }) => note)).toEqual(['opens at 02:00', 'opens at 04:00']);
  });

  test('reasons, causes and workloads are told apart', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, blocked);
    events.onWorkload(web, { ...blocked, reason: 'BlockedByPdb' });
    events.onWorkload(workloadNamed('other'), { ...blocked, reason: 'BlockedByPdb' });
    events.onWorkload(web, { ...blocked, about: 'a' });
    events.onWorkload(web, { ...blocked, about: 'b' });
    expect(notices).toHaveLength(5);
  });

  test('of a workload that is gone is forgotten', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, blocked);
    events.forget(web.uid);
    events.onWorkload(web, blocked);
    expect(notices).toHaveLength(2);
  });
});
