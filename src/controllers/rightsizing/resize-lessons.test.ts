import { expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import { aSizeLog } from '../../guard/size/testing/size-scene.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { NOON } from '../../model/testing/records.ts';
import { decisionFor } from '../testing/resize-in-flight.ts';
import { createResizeLessons } from './resize-lessons.ts';

const HOUR = 3_600_000;
const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;
const decision = decisionFor({ cpuRequest: 300 }, { workload, workloadUid: 'uid-web' });

function scene() {
  const clock = createVirtualClock(NOON);
  const history = aSizeLog();
  const told: string[] = [];
  const journal = { record: (key: string, { message }: { message: string }) => void told.push(`${key}: ${message}`) };
  const options = { view: createSizingSnapshot({}), history, journal, clock };
  const lessons = createResizeLessons(options as unknown as Parameters<typeof createResizeLessons>[0]);
  const takenBack = (reason: 'ResizeDeferred' | 'ResizeInfeasible', action: 'retry' | 'recreate') =>
    lessons.noteEnd({
      kind: 'taken-back',
      decision,
      tookMillis: 1,
      answer: answer(reason, action, 'the node said no'),
      nodeName: 'n1',
      withdrawal: undefined,
    });
  return { clock, history, told, lessons, takenBack };
}

test('what a node cannot grant needs new pods for an hour, or until they are on their way', async () => {
  const { clock, told, lessons, takenBack } = scene();
  takenBack('ResizeInfeasible', 'recreate');
  const cause = lessons.needsNewPods('uid-web');
  expect([cause, told]).toEqual([expect.stringContaining('the node said no'), [`Deployment/shop/web: ${cause}`]]);
  await clock.advance(HOUR);
  expect(lessons.needsNewPods('uid-web')).toBeUndefined();
  takenBack('ResizeInfeasible', 'recreate');
  lessons.noteNewTemplate('uid-web');
  expect(lessons.needsNewPods('uid-web')).toBeUndefined();
});

test('a pod lacks room for an hour after its node deferred a resize to the end, or until one is done', async () => {
  const { clock, lessons, takenBack } = scene();
  takenBack('ResizeDeferred', 'retry');
  expect([lessons.lacksRoom('web-1'), lessons.needsNewPods('uid-web')]).toEqual([true, undefined]);
  lessons.noteEnd({ kind: 'done', decision, tookMillis: 1, restarted: false });
  expect(lessons.lacksRoom('web-1')).toBe(false);
  takenBack('ResizeDeferred', 'retry');
  await clock.advance(HOUR);
  expect(lessons.lacksRoom('web-1')).toBe(false);
});

test.each([
  ['for good', 'give-up', 3],
  ['for now', 'retry', undefined],
] as const)(
  'what the API server refuses %s is waited with; three times for good, and the workload is let be',
  (_, action, count) => {
    const { history, lessons } = scene();
    for (let time = 0; time < 3; time++) lessons.noteRefusal(decision, answer('ResizeAdmissionDenied', action, 'no'));
    expect([history.failed('web-1') !== undefined, history.ineffective('uid-web')?.count]).toEqual([true, count]);
  },
);

test.each([
  ['more memory needs new pods', { memoryRequest: 1 }, true],
  ['CPU has what it was to have', { cpuRequest: 300 }, false],
] as const)('where a pod ran out of memory again after a resize, %s', (_, to, isInVain) => {
  const { history, lessons } = scene();
  const not = answer('ResizeInCrashLoop', 'recreate', 'app was ended for want of memory again');
  const resized = decisionFor(to, { workload, workloadUid: 'uid-web' });
  lessons.noteEnd({ kind: 'not-healed', decision: resized, tookMillis: 1, answer: not });
  const isKnown = lessons.needsNewPods('uid-web') !== undefined;
  expect([isKnown, lessons.keepsDying('uid-web'), history.failed('web-1') !== undefined]).toEqual([
    isInVain,
    isInVain,
    isInVain,
  ]);
});

test('that memory limits are not lowered in place is known as long as that new pods are needed for it', async () => {
  const { clock, lessons } = scene();
  lessons.noteRefusal(decision, answer('ResizeNotOnNode', 'recreate', 'no'));
  expect(lessons.keepsMemoryLimits('uid-web')).toBe(false);
  lessons.noteRefusal(decision, answer('ResizeMemoryDecreaseRefused', 'recreate', 'no'));
  expect(lessons.keepsMemoryLimits('uid-web')).toBe(true);
  await clock.advance(HOUR);
  expect(lessons.keepsMemoryLimits('uid-web')).toBe(false);
});
