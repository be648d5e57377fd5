/** Cover for spot that waits for an on-demand node itself: sending it back disrupts nobody. */
import { expect, test } from 'vitest';
import { aDeployment, NOON } from '../model/testing/records.ts';
import { inspectAll } from './guard.ts';
import { createDisruptionLog } from './history.ts';
import { evict, managed, pod, scene, web, windowOf } from './testing/scene.ts';
import { isWaitingCover } from './waiting-cover.ts';

const waiting = { nodeName: undefined, phase: 'Pending', ready: false, fallback: true } as const;
const away = { from: 'on-demand', to: 'spot', onDemandFloor: 0 } as const;
const cover = pod('s3', 'o', waiting);

test('it is one that goes back to spot and has no node', () => {
  const back = evict({ ...away, isReturn: true });
  expect(isWaitingCover({ decision: back, pod: cover })).toBe(true);
  expect(isWaitingCover({ decision: back, pod: pod('s3', 'o') })).toBe(false);
  expect(isWaitingCover({ decision: evict(away), pod: cover })).toBe(false);
});

test('it goes outside the window, beyond the pace of returns, and as the only replica', () => {
  const history = createDisruptionLog({ initial: 60_000, max: 60_000 });
  history.recordReturn(web.uid, NOON - 60_000);
  const closed = { ...managed, window: windowOf('0 3 * * *', '1h') };
  const records = { workloads: [aDeployment({ replicas: 1 })] };
  const reasons = (policy: typeof managed, changes: object = {}) => {
    const context = scene({ history, policy, records: { ...records, pods: [{ ...cover, ...changes }] } });
    return inspectAll(evict({ ...away, isReturn: true }), context).map(({ reason }) => reason);
  };
  const running = { nodeName: 'o', phase: 'Running', ready: true };
  expect([reasons(managed), reasons(closed)]).toEqual([[], []]);
  expect(reasons(managed, running)).toEqual(['SingleReplica', 'ReturnPaced']);
  expect(reasons(closed, running)).toEqual(['SingleReplica', 'OutsideWindow']);
});
