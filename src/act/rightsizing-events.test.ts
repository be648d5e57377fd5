import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventNotice } from '../kube/event-object.ts';
import { rightsizingReasons } from '../lib/reason-rightsizing.ts';
import { isReasonName, renderReason } from '../lib/reasons.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { policyRecord } from '../model/testing/policies.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createEvents } from './events.ts';

function setUp() {
  const notices: EventNotice[] = [];
  const clock = createVirtualClock(0);
  const events = createEvents({ record: (notice) => notices.push(notice) }, clock, 'Rightsize');
  return { notices, clock, events };
}
const web = aSizedWorkload();
const lasting = { reason: 'SSAConflict', message: 'conflicts', lasts: true } as const;

describe('events of rightsizing', () => {
  test('are on the workload, and on the policy in the group it lives in', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, { reason: 'UpdateSuccess', message: 'done' });
    events.onPolicy(policyRecord({ group: 'optipod.optipod.io' }), { reason: 'ValidationFailed', message: 'bad' });
    expect(notices[0]).toMatchObject({ type: 'Normal', note: 'done', regarding: { kind: 'Deployment', name: 'web' } });
    expect(notices[1]?.regarding).toMatchObject({
      apiVersion: 'optipod.optipod.io/v1alpha1',
      kind: 'OptimizationPolicy',
    });
    expect(notices[1]?.note).toMatch(/^bad\. Suggestion: /);
  });

  test('of a message that is too long for an event the end is left out, and not what can be done', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, { reason: 'UpdateFailed', message: 'é'.repeat(2_000), suggestion: 'do this' });
    const { note = '' } = notices[0] ?? {};
    expect(note).toMatch(/^é+…\. Suggestion: do this$/);
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
  });

  test('a state that lasts is told once an hour, each cause on its own', async () => {
    const { notices, clock, events } = setUp();
    for (const about of ['', '', 'other']) events.onWorkload(web, { ...lasting, about });
    expect(notices).toHaveLength(2);
    await clock.advance(3_599_999);
    events.onWorkload(web, lasting);
    expect(notices).toHaveLength(2);
    await clock.advance(1);
    events.onWorkload(web, lasting);
    expect(notices).toHaveLength(3);
  });

  test('a workload that is gone is forgotten', () => {
    const { notices, events } = setUp();
    events.onWorkload(web, lasting);
    events.forget(web.uid);
    events.onWorkload(web, lasting);
    expect(notices).toHaveLength(2);
  });

  test('optipod defect B14: every event OptiPod names has a row', () => {
    const shipped = [
      'UpdateSuccess',
      'RecommendationGenerated',
      'WorkloadSkipped',
      'SSAOwnershipTaken',
      'UpdateFailed',
      'MetricsCollectionFailed',
      'RBACError',
      'InPlaceResizeUnavailable',
      'SSAConflict',
      'ValidationFailed',
      'DiscoveryFailed',
      'ProcessingFailed',
    ] as const;
    const types = shipped.map((name) => rightsizingReasons[name].eventType);
    expect(types.slice(0, 4)).toEqual(['Normal', 'Normal', 'Normal', 'Normal']);
    expect(new Set(types.slice(4))).toEqual(new Set(['Warning']));
  });

  // Feature: k8s-workload-rightsizing, Property 26: a failure creates an event with a clear reason and a suggestion.
  test('Property 26: for any failure of any workload, the event has its names, the cause and a suggestion', () => {
    const failures = [
      'UpdateFailed',
      'MetricsCollectionFailed',
      'RBACError',
      'InPlaceResizeUnavailable',
      'SSAConflict',
      'ProcessingFailed',
      'ChangeReverted',
    ] as const;
    const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$/);
    fc.assert(
      fc.property(
        fc.constantFrom(...failures),
        name,
        name,
        fc.stringMatching(/^[a-z0-9 ]{1,60}$/),
        (reason, namespace, workload, cause) => {
          const { notices, events } = setUp();
          const subject = aSizedWorkload({ namespace, name: workload });
          events.onWorkload(subject, { reason, message: renderReason(reason, { ...subject, cause }) });
          const [notice] = notices;
          expect(notice).toMatchObject({ type: 'Warning', reason, regarding: { namespace, name: workload } });
          expect(isReasonName(notice?.reason ?? '')).toBe(true);
          for (const part of [`${namespace}/${workload}`, cause, 'Suggestion: ']) expect(notice?.note).toContain(part);
        },
      ),
      { numRuns: 200 },
    );
  });
});
