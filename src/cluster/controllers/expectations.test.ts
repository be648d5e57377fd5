import { expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createExpectations } from './expectations.ts';

test('a key without expectations may be worked on', () => {
  expect(createExpectations(createVirtualClock(0)).isSatisfied('a')).toBe(true);
});

test('creations and deletions must all be seen first', () => {
  const expectations = createExpectations(createVirtualClock(0));
  expectations.expect('a', 2, []);
  expectations.creationObserved('a');
  expect(expectations.isSatisfied('a')).toBe(false);
  expectations.creationObserved('a');
  expect(expectations.isSatisfied('a')).toBe(true);
  expectations.expect('a', 0, ['x', 'y']);
  expectations.deletionObserved('a', 'x');
  expectations.deletionObserved('a', 'x');
  expect(expectations.isSatisfied('a')).toBe(false);
  expectations.deletionObserved('a', 'y');
  expect(expectations.isSatisfied('a')).toBe(true);
});

test('what is not seen within five minutes is taken for lost', async () => {
  const clock = createVirtualClock(0);
  const expectations = createExpectations(clock);
  expectations.expect('a', 1, []);
  await clock.advance(300_000);
  expect(expectations.isSatisfied('a')).toBe(false);
  await clock.advance(1);
  expect(expectations.isSatisfied('a')).toBe(true);
});

test('forgetting a key forgets what was expected of it', () => {
  const expectations = createExpectations(createVirtualClock(0));
  expectations.expect('a', 1, []);
  expectations.forget('a');
  expect(expectations.isSatisfied('a')).toBe(true);
});
