/** What a queue tells its observer, which counts for metrics. */
import { expect, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createWorkQueue, type HandlerResult, type KeyHandler } from './queue.ts';

function setUp() {
  const told: string[] = [];
  const tell =
    (what: string) =>
    (millis?: number): void =>
      void told.push(millis === undefined ? what : `${what} ${millis}`);
  const observer = { added: tell('added'), taken: tell('taken'), handled: tell('handled'), retried: tell('retried') };
  const clock = createVirtualClock(0);
  const random = createSeededRandom(1);
  const queue = createWorkQueue({ clock, random, log: createSilentLogger(), name: 'test', observer });
  const stop = new AbortController();
  let work = Promise.withResolvers<void>();
  /** Ends when told. */
  const handler: KeyHandler = () => {
    work = Promise.withResolvers();
    return work.promise;
  };
  return {
    clock,
    queue,
    stop,
    start: (handle: KeyHandler = handler) => queue.run(1, handle, stop.signal),
    finish: () => work.resolve(),
    fail: () => work.reject(new Error('no')),
    told: () => told.splice(0),
  };
}

test('adds at once, those of a key that waits already not; takes with their wait, ends with their work', async () => {
  const { clock, queue, start, stop, told, finish, fail } = setUp();
  queue.add('a');
  queue.add('b');
  queue.add('a');
  expect(told()).toEqual(['added', 'added']);
  const running = start();
  await clock.advance(30);
  queue.add('b', { priority: 1 });
  expect(told()).toEqual(['taken 0']);
  finish();
  await clock.advance(20);
  expect(told()).toEqual(['handled 30', 'taken 30']);
  fail();
  await clock.advance(0);
  expect(told()).toEqual(['retried', 'handled 20']);
  stop.abort();
  await running;
});

test('a key that is added while it is worked on waits from then on', async () => {
  const { clock, queue, start, stop, told, finish } = setUp();
  const running = start();
  queue.add('a');
  await clock.advance(10);
  queue.add('a');
  queue.add('a');
  expect(told()).toEqual(['added', 'taken 0', 'added']);
  await clock.advance(5);
  finish();
  await clock.advance(0);
  expect(told()).toEqual(['handled 15', 'taken 5']);
  finish();
  stop.abort();
  await running;
});

test('to be looked at again later is no retry; what fails while the queue ends is none either', async () => {
  const { clock, queue, start, stop, told } = setUp();
  const results: HandlerResult[] = [{ requeueAfterMillis: 100 }];
  const running = start(async (_, signal) => {
    const result = results.pop();
    if (result !== undefined) return result;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  });
  queue.add('a');
  await clock.advance(0);
  expect(told()).toEqual(['added', 'taken 0', 'handled 0']);
  await clock.advance(100);
  expect(told()).toEqual(['added', 'taken 0']);
  stop.abort();
  await running;
  expect(told()).toEqual(['handled 0']);
});
