import { expect, test } from 'vitest';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { PodRecord } from '../../model/records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { before, closed, lessCpu, pod } from '../testing/in-place-look.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import type { ApplyContext } from './apply.ts';
import { canaryVerdict } from './canary-verdict.ts';

const MINUTE = 60_000;
const moreMemory: readonly SizeChange[] = [{ container: 'app', to: { memoryRequest: 256 * MIB } }];
/** Both changes are advised, and nothing else. */
const advice = [
  {
    container: 'app',
    current: before[0]?.size ?? {},
    cpu: { isDue: true, request: 100, notes: [] },
    memory: { isDue: true, request: 256 * MIB, notes: [] },
  },
] as unknown as readonly SizedAdvice[];
const killed = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 5000 };

interface Given {
  readonly changes?: readonly SizeChange[];
  /** Of the first pod; null: it is gone. */
  readonly has?: readonly SizeChange[] | null;
  readonly status?: Parameters<typeof pod>[2];
  readonly record?: Partial<PodRecord>;
  /** It was not ready when it was given less. */
  readonly wasUnready?: boolean;
  /** Since when the first pod has it; null: there is none. */
  readonly sinceMillis?: number | null;
  readonly isResizing?: boolean;
  readonly advised?: Partial<ApplyContext['advised']>;
  readonly updateStrategy?: object;
}

function verdictOn(given: Given) {
  const { changes = lessCpu, sinceMillis = 3 * MINUTE, isResizing = false, updateStrategy = {} } = given;
  const has = given.has === undefined ? changes : given.has;
  const canary = sinceMillis === null ? undefined : { uid: 'first', name: 'first', at: NOON - sinceMillis };
  const first = (size: readonly SizeChange[]): SizedPod => {
    const { pod: record, sizing } = pod('first', size, given.status);
    return { pod: { ...record, ...given.record }, sizing };
  };
  const context = {
    advised: { workload: aSizedWorkload({ containers: before }), inForce: before, advice, ...given.advised },
    policy: validPolicy({ spec: { updateStrategy } }),
    live: [pod('other', []), ...(has === null ? [] : [first(has)])],
  } as unknown as ApplyContext;
  const unready = new Set(given.wasUnready === true ? ['first'] : []);
  const change = anOngoingChange(changes, before, { phase: 'canary', canary, unready });
  const question = { isResizing: () => isResizing, canaryMillis: 3 * MINUTE, now: NOON };
  const verdict = canaryVerdict(context, change, question);
  return verdict.kind === 'held' ? verdict.objection.reason : verdict.kind;
}

const rollingOut = { workload: aSizedWorkload({ containers: before, isRollingOut: true }) };

test.each<[string, Given, string]>([
  ['with less goes on once it was watched for as long as it should be', {}, 'proven'],
  ['with less is watched until then', { sinceMillis: 3 * MINUTE - 1 }, 'undecided'],
  ['with less proves nothing while it is not ready', { record: { ready: false } }, 'undecided'],
  ['with less that was not ready before need not be', { record: { ready: false }, wasUnready: true }, 'proven'],
  [
    'with less that was restarted for it is watched from when it is ready',
    { sinceMillis: 5 * MINUTE, record: { readyChangedAt: NOON - 3 * MINUTE + 1 } },
    'undecided',
  ],
  [
    'with less has been ready for long enough',
    { sinceMillis: 5 * MINUTE, record: { readyChangedAt: NOON - 3 * MINUTE } },
    'proven',
  ],
  ['whose node has a clock that is ahead is believed', { record: { readyChangedAt: NOON + 1 } }, 'proven'],
  ['with less proves nothing while usage is not read', { advised: { unread: 'no answer' } }, 'undecided'],
  ['with more goes on at once', { changes: moreMemory, sinceMillis: 0 }, 'proven'],
  ['with more needs no usage', { changes: moreMemory, advised: { unread: 'no answer' } }, 'proven'],
  ['that is gone never had it', { has: null }, 'not had'],
  ['that was never named never had it', { sinceMillis: null }, 'not had'],
  ['that was not granted it never had it', { has: [] }, 'not had'],
  ['that is being resized may get it', { has: [], isResizing: true }, 'undecided'],
  ['whose node has not done it yet may get it', { status: { actual: before[0]?.size } }, 'undecided'],
  ['with less waits for the window to open', { updateStrategy: closed }, 'OutsideUpdateWindow'],
  ['with more waits for no window', { changes: moreMemory, updateStrategy: closed }, 'proven'],
  ['of an old template says nothing of those that come', { advised: rollingOut }, 'TemplateRollout'],
  ['with more says nothing of them either', { changes: moreMemory, advised: rollingOut }, 'TemplateRollout'],
  [
    'with more, that was killed for want of it, says all that is needed',
    { changes: moreMemory, advised: rollingOut, status: { lastTermination: killed, restartCount: 1 } },
    'proven',
  ],
  ['with what is not advised any more goes no further', { advised: { advice: [] } }, 'outdated'],
])('a first pod %s', (_name, given, expected) => {
  expect(verdictOn(given)).toBe(expected);
});
