import { describe, expect, test } from 'vitest';
import type { QuotaRecord } from '../../model/sizing-records.ts';
import type { Admission, AdmissionFacts } from './admit.ts';
import type { AllocationPod } from './allocation-pod.ts';
import type { DesiredCpu } from './read-allocation.ts';
import { admit, desired, facts, pending, pod, range } from './testing/admitting.ts';
import { resized, T0, testNode, testPod, testRules } from './testing/pods.ts';

const reasonOf = (admission: Admission): string => (admission.kind === 'held' ? admission.reason : admission.kind);

const quota = (room: number): QuotaRecord => ({
  namespace: 'shop',
  name: 'q',
  hard: { cpuRequest: 1000 + room },
  used: { cpuRequest: 1000 },
  scopes: undefined,
});

describe('what is written', () => {
  test('a raise: the request of the container, nothing else', () => {
    const admission = admit(desired(600));
    expect(admission).toMatchObject({
      kind: 'resize',
      decision: {
        kind: 'resize',
        engine: 'allocation',
        pod: { namespace: 'shop', name: 'a', uid: 'uid-a' },
        changes: [{ container: 'main', to: { cpuRequest: 600 } }],
        why: { numbers: { requestBefore: 400, requestAfter: 600 } },
      },
    });
  });

  test('memory is never named', () => {
    const text = JSON.stringify(admit(desired(600, { limit: 700, limitPolicy: 'Apply' })));
    expect(text).not.toMatch(/memory/i);
  });

  test('a ceiling', () => {
    expect(admit(desired(300, { limit: 330, limitPolicy: 'Apply' }))).toMatchObject({
      decision: { changes: [{ container: 'main', to: { cpuRequest: 300, cpuLimit: 330 } }] },
    });
  });

  test('an urgent decrease is funding', () => {
    expect(admit(desired(300, { urgent: true }))).toMatchObject({ decision: { isFunding: true } });
    expect(admit(desired(600, { urgent: true }))).not.toMatchObject({ decision: { isFunding: true } });
  });

  test('allocation bug 4: what is there already is not written again, for ever (k/k#129357)', () => {
    expect(admit(desired(400)).kind).toBe('settled');
  });

  test('P17: what was written is settled', () => {
    const wanted = desired(300, { limit: 340, limitPolicy: 'Apply' });
    expect(admit(wanted).kind).toBe('resize');
    expect(admit(wanted, {}, resized(pod, { request: 300, limit: 340 })).kind).toBe('settled');
  });
});

describe('what is far away is reached step by step', () => {
  const large = { node: { ...facts(pod).node, allocatable: 64_000, charged: 1000 } };
  const limits = { rules: { ...testRules, apply: 'limits' as const } };
  const guaranteed = testPod(
    'a',
    { request: 100, limit: 100, marks: { 'mbcas.io/skip-guaranteed': 'false' } },
    { qos: 'Guaranteed' },
  );
  test.each<[string, DesiredCpu, Partial<AdmissionFacts>, AllocationPod, object]>([
    ['tenfold', desired(1500), large, testPod('a', { request: 100 }), { cpuRequest: 1000 }],
    ['small pods: to a core', desired(1500), large, testPod('a', { request: 5 }), { cpuRequest: 1000 }],
    ['twenty cores', desired(50_000), large, testPod('a', { request: 10_000 }), { cpuRequest: 30_000 }],
    ['twenty cores down', desired(1000), large, testPod('a', { request: 45_000 }), { cpuRequest: 25_000 }],
    [
      'Guaranteed: both',
      desired(2000, { limit: 2000, limitPolicy: 'Apply' }),
      large,
      guaranteed,
      { cpuRequest: 1000, cpuLimit: 1000 },
    ],
    [
      'as MBCAS: a small request beside a large limit, too',
      desired(3600, { limit: 4000, limitPolicy: 'Apply' }),
      { ...large, ...limits },
      testPod('a', { request: 100, limit: 3000 }),
      { cpuRequest: 1000, cpuLimit: 4000 },
    ],
    [
      'an agent that sets no limits, of an operator that does: the limit it names is none',
      desired(300, { limit: 64_000 }),
      { ...large, ...limits },
      testPod('a', { request: 100 }),
      { cpuRequest: 300 },
    ],
  ])('%s', (_name, wanted, change, subject, to) => {
    expect(admit(wanted, change, subject)).toMatchObject({ kind: 'resize', decision: { changes: [{ to }] } });
  });

  test('and that is told', () => {
    const clamps = [{ reason: 'StepLimit', what: 'max', before: 1500, after: 1000 }];
    expect(admit(desired(1500), large, testPod('a', { request: 100 }))).toMatchObject({ clamps });
  });
});

describe('what is held, and why', () => {
  test.each<[string, DesiredCpu, Partial<AdmissionFacts>, AllocationPod, string]>([
    [
      'mbcas bug 10: the allocation of a predecessor of the same name',
      desired(600, { podUid: 'uid-old' }),
      {},
      pod,
      'PodReplaced',
    ],
    [
      'mbcas bug 7: BestEffort cannot be resized',
      desired(600),
      {},
      testPod('a', { request: 0 }, { qos: 'BestEffort' }),
      'BestEffort',
    ],
    [
      'allocation bug 13: BestEffort is refused before the API does (k/a#9374)',
      desired(600),
      {},
      testPod('a', { request: 400 }, { qos: 'BestEffort' }),
      'BestEffort',
    ],
    [
      'allocation bug 7: a container that restarts on resize (k/k#122760)',
      desired(600),
      { history: { restartedOnResize: true } },
      pod,
      'RestartedOnResize',
    ],
    [
      'allocation bug 17: another writer of its CPU (koordinator#2306)',
      desired(600),
      { history: { hasForeignWriter: true } },
      pod,
      'ForeignWriter',
    ],
    ['a VerticalPodAutoscaler acts on it', desired(600), { history: { isVpaOwned: true } }, pod, 'VpaOwned'],
    ['its agent is silent', desired(600), { isStale: true }, pod, 'Stale'],
    ['more, wished for before its agent was away', desired(600), { isOutdated: true }, pod, 'Stale'],
    ['less, likewise', desired(300, { urgent: true }), { isOutdated: true }, pod, 'Stale'],
    [
      'the node is not Ready',
      desired(600),
      { node: { allocatable: 1800, charged: 0, conditions: [{ type: 'Ready', status: 'False', since: 0 }] } },
      pod,
      'NodeNotReady',
    ],
    [
      'the node is not known',
      desired(600),
      { node: { allocatable: 1800, charged: 0, conditions: undefined } },
      pod,
      'DataUnknown',
    ],
    [
      'limits are not known',
      desired(600),
      { facts: { limitRanges: 'unknown', hpas: [], pdbs: [] } },
      pod,
      'DataUnknown',
    ],
    ['quotas are not known', desired(300), { quotas: undefined }, pod, 'DataUnknown'],
    [
      'allocation bug 21: a LimitRange that the pod breaks as it is (k/k#142171)',
      desired(600),
      { facts: { limitRanges: [range(500, 900)], hpas: [], pdbs: [] } },
      pod,
      'LimitRangeConflict',
    ],
    [
      'allocation bug 8: no second resize while one is on its way (k/k#123441)',
      desired(600),
      {},
      testPod('a', { request: 400 }, { resize: { pending: undefined, inProgress: { error: undefined, since: T0 } } }),
      'ResizeInFlight',
    ],
    [
      'allocation bug 8: nor before the kubelet has seen the last one',
      desired(600),
      {},
      testPod('a', { request: 400 }, { generation: 3, observedGeneration: 2 }),
      'ResizeInFlight',
    ],
    [
      'deferred for ten seconds',
      desired(600),
      {},
      testPod('a', { request: 400 }, pending('Deferred', 10_000)),
      'ResizeInFlight',
    ],
    ['quota', desired(600), { quotas: [quota(199)] }, pod, 'QuotaExceeded'],
    [
      'growth that is not free yet',
      desired(600),
      { node: { ...facts(pod).node, charged: 1601 } },
      pod,
      'CapacityInFlight',
    ],
    [
      'nobody knows what is charged',
      desired(600),
      { node: { ...facts(pod).node, charged: undefined } },
      pod,
      'CapacityInFlight',
    ],
    ['more than the node has is a mistake', desired(4001), {}, pod, 'SafetyCheckFailed'],
    ['two seconds after the last write', desired(600), { lastWriteAt: T0 - 2000 }, pod, 'Spacing'],
    ['as much as was infeasible', desired(600), { infeasible: 600 }, pod, 'Infeasible'],
    ['observing only', desired(600), { rules: { ...testRules, apply: 'observe' } }, pod, 'Observe'],
    [
      'observing only, where decreases that are never made would make room',
      desired(600),
      { rules: { ...testRules, apply: 'observe' }, node: { ...facts(pod).node, charged: 1700 } },
      pod,
      'Observe',
    ],
    [
      'pressure on the node',
      desired(600),
      {
        node: {
          ...facts(pod).node,
          conditions: [...(testNode().conditions ?? []), { type: 'MemoryPressure', status: 'True', since: 0 }],
        },
      },
      pod,
      'NodePressure',
    ],
  ])('%s', (_name, wanted, change, subject, reason) => {
    expect(reasonOf(admit(wanted, change, subject))).toBe(reason);
  });

  test.each<[string, DesiredCpu, Partial<AdmissionFacts>]>([
    [
      'a decrease needs neither quota nor room',
      desired(300),
      { quotas: [quota(0)], node: { ...facts(pod).node, charged: 2500 } },
    ],
    ['quota that is just enough', desired(600), { quotas: [quota(200)] }],
    ['room that is just enough', desired(600), { node: { ...facts(pod).node, charged: 1600 } }],
    ['less than was infeasible', desired(590), { infeasible: 600 }],
    [
      'a dry run: no decrease makes room',
      desired(600),
      { isDryRun: true, node: { ...facts(pod).node, charged: 1700 } },
    ],
    ['urgent: no spacing', desired(600, { urgent: true }), { lastWriteAt: T0 - 100 }],
    ['a write ahead of now: the clock was set back since', desired(600), { lastWriteAt: T0 + 3_600_000 }],
    ['four and a half seconds after the last write: ticks jitter', desired(600), { lastWriteAt: T0 - 4500 }],
  ])('not held: %s', (_name, wanted, change) => {
    expect(admit(wanted, change).kind).toBe('resize');
  });

  test('what is there already is settled, also where it was wished for long ago', () => {
    expect(admit(desired(400), { isOutdated: true }).kind).toBe('settled');
  });

  test('whoever is held is told for how long, where time helps', () => {
    expect(admit(desired(600), { lastWriteAt: T0 - 2000 })).toMatchObject({
      retryAfterMillis: 2500,
      message: 'Written 2 s ago',
    });
    expect(admit(desired(600), { quotas: [quota(0)] })).toMatchObject({
      retryAfterMillis: 60_000,
      message: 'requests.cpu: 0 of room left',
    });
  });

  test('mbcas bug 9: everything that time can mend has a time to try again', () => {
    const times = [desired(600)].flatMap((wanted) => [
      admit(wanted, { quotas: [quota(0)] }),
      admit(wanted, { node: { ...facts(pod).node, charged: 1700 } }),
      admit(wanted, { lastWriteAt: T0 }),
    ]);
    for (const each of times) expect(each.kind === 'held' && each.retryAfterMillis !== undefined).toBe(true);
  });
});
