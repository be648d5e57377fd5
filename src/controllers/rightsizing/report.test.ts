import { describe, expect, test } from 'vitest';
import { createEvents } from '../../act/events.ts';
import { createJournal } from '../../act/journal.ts';
import { answer } from '../../act/resize-answers.ts';
import type { EventNotice } from '../../kube/event-object.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createSkipReporter } from './report.ts';

const web = aSizedWorkload();

function setUp() {
  const notices: EventNotice[] = [];
  const clock = createVirtualClock(0);
  const journal = createJournal({ clock });
  const events = createEvents({ record: (notice) => notices.push(notice) }, clock, 'Rightsize');
  return { notices, journal, report: createSkipReporter({ events, journal }) };
}

describe('why a workload is not changed', () => {
  test('a conflict of field managers is the event OptiPod names for it', () => {
    const { notices, journal, report } = setUp();
    const { reason, message, advice } = answer('TemplateConflict', 'give-up', 'conflict with "argocd-controller"');
    report(web, { status: 'Skipped', reason, message }, advice);
    expect(notices).toMatchObject([
      { type: 'Warning', reason: 'SSAConflict', note: expect.stringMatching(/argocd-controller.*Suggestion: Take/) },
    ]);
    expect(journal.entries(workloadKey(web))).toMatchObject([{ kind: 'blocked', reason: 'TemplateConflict' }]);
  });

  test('what is no event of its own is told as WorkloadSkipped, with the reason', () => {
    const { notices, report } = setUp();
    const { reason, message, advice } = answer('ResizeQuotaDenied', 'wait', 'exceeded quota: team');
    report(web, { status: 'Skipped', reason, message }, advice);
    report(web, { status: 'Skipped', reason, message }, advice);
    expect(notices).toMatchObject([
      { reason: 'WorkloadSkipped', note: expect.stringMatching(/ResizeQuotaDenied: .*exceeded quota: team.*Raise/) },
    ]);
  });

  test('the normal pace of work is in the journal alone', () => {
    const { notices, journal, report } = setUp();
    report(web, { status: 'Skipped', reason: 'OptedOut', message: 'paused' }, undefined);
    expect(notices).toEqual([]);
    expect(journal.entries(workloadKey(web))).toHaveLength(1);
  });
});
