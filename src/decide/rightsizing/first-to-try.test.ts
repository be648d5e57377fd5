import { expect, test } from 'vitest';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { firstToTry } from './first-to-try.ts';

const raises = [{ container: 'app', to: { memoryRequest: 1024 * MIB } }];
const podOf = (name: string, { size = {}, status = {}, pod = {} } = {}): SizedPod => {
  const containers = [aContainer({ size: { ...smallSize, ...size } })];
  const statuses = [aContainerStatus(aContainer(), status)];
  const record = aSizedPod(aReplicaSet(aDeployment()), name, { containers, statuses }, pod);
  return { pod: record, sizing: record.sizing };
};
const killed = (millisAgo: number) => ({
  lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - millisAgo },
});
const alive = ['a', 'b', 'c'].map((name) => podOf(name));
const firstOf = (...pods: readonly SizedPod[]) =>
  firstToTry([...alive, ...pods], raises, NOON).map(({ pod }) => pod.name);

test('three are tried, and before all others who has the raise already', () => {
  const given = podOf('given', { size: raises[0]?.to ?? {}, pod: { ready: false } });
  expect(firstOf(podOf('d'), given)).toEqual(['given', 'a', 'b']);
});

test('who is killed for want of memory is tried, however many are better off: for it alone a quota keeps nothing back', () => {
  const pod = { ready: false };
  expect(firstOf(podOf('killed', { pod, status: killed(0) }))).toEqual(['a', 'b', 'c', 'killed']);
  expect(firstOf(podOf('killed', { status: killed(0), pod: { createdAt: NOON } }))).toEqual(['killed', 'a', 'b']);
  expect(firstOf(podOf('later', { pod, status: killed(0) }), podOf('one', { pod, status: killed(0) }))).toEqual([
    'a',
    'b',
    'c',
    'later',
  ]);
});

test('not so who was killed long ago, nor who cannot be resized before it runs again', () => {
  const pod = { ready: false };
  expect(firstOf(podOf('recovered', { pod, status: killed(3_600_000) }))).toEqual(['a', 'b', 'c']);
  expect(firstOf(podOf('waiting', { pod, status: { ...killed(0), running: false } }))).toEqual(['a', 'b', 'c']);
});
