import { describe, expect, test } from 'vitest';
import { resizeReasons } from '../../lib/reason-resize.ts';
import { reasonTable } from '../../lib/reason-table.ts';
import type { PodSizing } from '../../model/sizing-records.ts';
import { GIB, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus } from '../../model/testing/sizing-records.ts';
import { inspectSize, inspectSizeAll } from './inspect-size.ts';
import { sizeRules } from './size-rules.ts';
import { evictToResize, resize, retemplate, type SizeSceneChanges, sizeScene, withPod } from './testing/size-scene.ts';

describe('the ordinary case', () => {
  test('a resize is approved, with the decision in the approval', () => {
    const decision = resize();
    const verdict = inspectSize(decision, sizeScene());
    expect(verdict.kind === 'approved' && verdict.approved.decision).toBe(decision);
  });

  test('a change of a template is approved', () => {
    expect(inspectSizeAll(retemplate(), sizeScene())).toEqual([]);
  });

  test('a pod whose node is not known is not resized', () => {
    const reasons = inspectSizeAll(resize(), sizeScene({ records: { nodes: [] } })).map(({ reason }) => reason);
    expect(reasons).toEqual(['ResizeUnsupported']);
  });
});

describe('what is not there any more', () => {
  test.each([
    ['another pod of the name', resize({ pod: { namespace: 'shop', name: 'web-1', uid: 'older' } })],
    ['no such pod', resize({ pod: { namespace: 'shop', name: 'web-9', uid: 'web-9' } })],
    ['no such workload', retemplate({ workloadUid: 'older' })],
    ['the pod is of another workload by now', resize({ workloadUid: 'older' })],
    ['no such workload of the pod to evict', { ...evictToResize, workloadUid: 'older' }],
  ])('%s', (_, decision) => {
    expect(inspectSizeAll(decision, sizeScene()).map(({ reason }) => reason)).toEqual(['PreconditionFailed']);
  });

  test('a change to what is there already, or of a container that is not, is no change', () => {
    const same = resize({
      changes: [
        { container: 'app', to: { cpuRequest: 200 } },
        { container: 'gone', to: { cpuRequest: 500 } },
      ],
    });
    expect(inspectSizeAll(same, sizeScene()).map(({ reason }) => reason)).toEqual(['AlreadyThatSize']);
  });
});

describe('the operator', () => {
  const cases: [string, SizeSceneChanges, string, number | undefined][] = [
    ['engine off', { settings: { enabled: false } }, 'EngineDisabled', undefined],
    ['read-only', { settings: { readOnly: true } }, 'ReadOnly', undefined],
    ['dry run', { settings: { dryRun: true } }, 'DryRunActive', undefined],
    ['not leader', { leadership: { leader: false, sinceMillis: 0 } }, 'NotLeader', undefined],
    ['stale', { records: { freshness: { synced: true, stale: ['quotas'] } } }, 'CachesStale', undefined],
    ['not synced', { records: { freshness: { synced: false, stale: [] } } }, 'CachesStale', undefined],
    ['leader a moment ago', { leadership: { leader: true, sinceMillis: NOON - 20_000 } }, 'LeaderWarmup', 40_000],
  ];
  test.each(cases)('%s', (_, changes, reason, retryAfterMillis) => {
    const verdict = inspectSize(resize(), sizeScene(changes));
    expect(verdict.kind === 'blocked' && verdict.block).toMatchObject({ reason, retryAfterMillis });
  });
});

test.each([resize(), retemplate(), evictToResize])('in a namespace that may not be read: no $kind', (decision) => {
  const context = sizeScene();
  const without = (unread: string) => {
    const freshness = (namespace?: string) => ({ synced: true, stale: namespace === unread ? ['pods'] : [] });
    return { ...context, view: { ...context.view, freshness } };
  };
  const reasonsIn = (unread: string) => inspectSizeAll(decision, without(unread)).map(({ reason }) => reason);
  expect(reasonsIn('shop')).toEqual(['CachesStale', ...reasonsIn('mail')]);
});

test('a new leader takes back at once what its predecessor left pending', () => {
  const context = sizeScene({ leadership: { leader: true, sinceMillis: NOON } });
  expect(inspectSize(resize({ isWithdrawal: true }), context).kind).toBe('approved');
  expect(inspectSize(resize(), context).kind).toBe('blocked');
});

test('what the node has granted meanwhile is not taken back: it would be a change of its own, and nobody has judged it', () => {
  const asked = [aContainer({ size: { cpuRequest: 300, memoryLimit: 2 * GIB } })];
  const back = resize({ isWithdrawal: true, changes: [{ container: 'app', to: { memoryLimit: GIB } }] });
  const reasonsWith = (sizing: Partial<PodSizing>) =>
    inspectSizeAll(back, sizeScene(withPod({ containers: asked, ...sizing }))).map(({ reason }) => reason);
  expect(reasonsWith({ observedGeneration: 2 })).toEqual(['PreconditionFailed']);
  const pending = { reason: 'Deferred', message: 'no room', since: NOON } as const;
  const waits: Partial<PodSizing>[] = [
    { observedGeneration: 2, resize: { pending, inProgress: undefined } },
    { observedGeneration: 2, resize: { pending: undefined, inProgress: { error: 'no', since: NOON } } },
    { observedGeneration: 1 },
    {
      observedGeneration: 2,
      statuses: [aContainerStatus(aContainer({ size: { cpuRequest: 300, memoryLimit: GIB } }))],
    },
  ];
  for (const sizing of waits) expect(reasonsWith(sizing)).toEqual([]);
});

test('what was given to a pod that belongs to nobody by now is still taken back', () => {
  const pending = { reason: 'Deferred', message: 'no room', since: NOON } as const;
  const pods = withPod({ resize: { pending, inProgress: undefined } });
  expect(inspectSizeAll(resize({ workloadUid: 'older', isWithdrawal: true }), sizeScene(pods))).toEqual([]);
});

test('every rule has a name of its own and says why', () => {
  expect(new Set(sizeRules.map(({ name }) => name)).size).toBe(sizeRules.length);
  for (const { why } of sizeRules) expect(why.length).toBeGreaterThan(20);
});

test('no other table of reasons shadows the reasons of resizing', () => {
  for (const [name, definition] of Object.entries(resizeReasons))
    expect(Object.entries(reasonTable).find(([each]) => each === name)?.[1]).toBe(definition);
});
