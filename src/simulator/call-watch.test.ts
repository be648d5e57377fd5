import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createTestServer } from '../cluster/apiserver/testing/test-server.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { watchCalls } from './call-watch.ts';

test('a loop of calls that waits for their answers alone ends the run, and is told', async () => {
  const { server, api } = createTestServer();
  const clock = createVirtualClock(0);
  watchCalls(server.faults, clock, 300);
  let calls = 0;
  const stubborn = async (): Promise<void> => {
    for (;;) {
      await api.list(resources.pods);
      calls++;
    }
  };
  void stubborn();
  await expect(clock.advance(1000)).rejects.toThrow(
    /^Simulated time stands still at .*: the API is called without end, last by \S+ to list pods: stubborn/,
  );
  expect(calls).toBeLessThan(300);
});

test('as many calls are fine where time moves on between them', async () => {
  const { server, api } = createTestServer();
  const clock = createVirtualClock(0);
  watchCalls(server.faults, clock, 300);
  let calls = 0;
  const look = (): void => {
    void api.list(resources.pods).then(() => calls++);
    if (calls < 999) clock.setTimer(1, look);
  };
  look();
  await clock.advance(1000);
  expect(calls).toBe(1000);
});
