import { describe, expect, test } from 'vitest';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import { createShareRecorder, type FollowedShares, type ShareRecorder } from './share-recorder.ts';
import { type FakeShares, fakeShares } from './testing/fake-shares.ts';

const MINUTE = 60_000;
const web: WorkloadRef = { kind: 'Deployment', namespace: 'shop', name: 'web' };

interface World extends FakeShares {
  readonly clock: VirtualClock;
  readonly recorder: ShareRecorder;
}

function world(): World {
  const clock = createVirtualClock(0);
  const shares = fakeShares();
  return { ...shares, clock, recorder: createShareRecorder({ ...shares, clock }) };
}

const stepsOf = (followed: FollowedShares | undefined, pod: string) =>
  followed?.pods
    .get(pod)
    ?.steps()
    .map(({ at, given, used }) => [at, given, used]);

describe('following shares', () => {
  test('begins with the first look, and tells every change since', async () => {
    const { clock, recorder, set, listeners } = world();
    set(web, 'web-1', { applied: '200m', usage: '90m' });
    await clock.advance(MINUTE);
    expect(listeners()).toBe(0);
    expect(recorder.look(web)).toMatchObject({ since: MINUTE, omitted: 0 });
    await clock.advance(MINUTE);
    set(web, 'web-1', { applied: '300m', usage: '250m' });
    set(web, 'web-2', { applied: '100m', usage: '10m' });
    const followed = recorder.look(web);
    expect(followed?.since).toBe(MINUTE);
    expect(stepsOf(followed, 'web-1')).toEqual([
      [MINUTE, 200, 90],
      [2 * MINUTE, 300, 250],
    ]);
    expect(stepsOf(followed, 'web-2')).toEqual([[2 * MINUTE, 100, 10]]);
    expect(listeners()).toBe(1);
  });

  test('what is in force counts; where nobody has said, what the pod requests', () => {
    const { recorder, set } = world();
    set(web, 'web-1', { requested: 150 });
    expect(stepsOf(recorder.look(web), 'web-1')).toEqual([[0, 150, undefined]]);
  });

  test('of other workloads nothing is kept', async () => {
    const { recorder, set } = world();
    const api = { ...web, name: 'api' };
    set(web, 'web-1', { applied: '200m' });
    set(api, 'api-1', { applied: '200m' });
    recorder.look(web);
    set(api, 'api-1', { applied: '300m' });
    set({ ...api, namespace: 'other' }, 'web-1', { applied: '300m' });
    expect([...(recorder.look(web)?.pods.keys() ?? [])]).toEqual(['web-1']);
    expect(stepsOf(recorder.look(web), 'web-1')).toEqual([[0, 200, undefined]]);
    expect(recorder.look({ ...web, name: 'nothing' })).toBeUndefined();
  });

  test('a pod that is gone is told for an hour', async () => {
    const { clock, recorder, set, remove } = world();
    set(web, 'web-1', { applied: '200m' });
    recorder.look(web);
    await clock.advance(MINUTE);
    remove(web, 'web-1');
    await clock.advance(30 * MINUTE);
    expect(recorder.look(web)?.pods.get('web-1')?.endedAt).toBe(MINUTE);
    await clock.advance(31 * MINUTE);
    expect(recorder.look(web)?.pods.size).toBe(0);
  });

  test('an hour after the last look nothing is kept and nothing listened to', async () => {
    const { clock, recorder, set, listeners } = world();
    set(web, 'web-1', { applied: '200m' });
    recorder.look(web);
    await clock.advance(59 * MINUTE);
    set(web, 'web-1', { applied: '300m' });
    expect(listeners()).toBe(1);
    await clock.advance(2 * MINUTE);
    set(web, 'web-1', { applied: '400m' });
    expect(listeners()).toBe(0);
    expect(recorder.look(web)).toMatchObject({ since: 61 * MINUTE });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('no more than eight workloads are followed: the one not looked at for longest goes', async () => {
    const { clock, recorder, set } = world();
    const refs = Array.from({ length: 9 }, (_, index) => ({ ...web, name: `web${index}` }));
    for (const ref of refs) set(ref, `${ref.name}-1`, { applied: '200m' });
    for (const ref of refs.slice(0, 8)) recorder.look(ref);
    await clock.advance(MINUTE);
    for (const index of [0, 8]) recorder.look(refs[index] ?? web);
    expect(recorder.look(refs[0] ?? web)?.since).toBe(0);
    expect(recorder.look(refs[1] ?? web)?.since).toBe(MINUTE);
    expect(recorder.look(refs[3] ?? web)?.since).toBe(0);
  });

  test('nor more than sixteen pods of one; how many are not is told', () => {
    const { recorder, set } = world();
    for (let index = 0; index < 20; index++) set(web, `web-${index}`, { applied: '200m' });
    const followed = recorder.look(web);
    expect([followed?.pods.size, followed?.omitted]).toEqual([16, 4]);
  });

  test('pods of before a rollout make room for those after it', async () => {
    const { clock, recorder, set, remove } = world();
    const pods = Array.from({ length: 10 }, (_, index) => index);
    for (const index of pods) set(web, `old-${index}`, { applied: '200m' });
    recorder.look(web);
    for (const index of pods) {
      await clock.advance(MINUTE);
      remove(web, `old-${index}`);
      set(web, `new-${index}`, { applied: '200m' });
    }
    const followed = recorder.look(web);
    expect(followed?.omitted).toBe(0);
    expect([...(followed?.pods.keys() ?? [])].filter((name) => name.startsWith('old'))).toEqual([
      'old-4',
      'old-5',
      'old-6',
      'old-7',
      'old-8',
      'old-9',
    ]);
  });
});
