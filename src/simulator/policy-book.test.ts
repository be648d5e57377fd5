import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createPolicyBook, mergeTrees, treeAt } from './policy-book.ts';

function bookOf(...modes: string[]) {
  const clock = createVirtualClock(0);
  const policies = modes.map((mode, index) => ({
    name: `p${index}`,
    namespace: 'shop',
    spec: { mode, selector: { workloadSelector: { matchLabels: { size: `p${index}` } } } },
  }));
  const book = createPolicyBook(policies, clock);
  const modesOf = (size: string, namespace = 'shop') => book.of(namespace, { size }).map((spec) => spec['mode']);
  return { clock, book, modesOf };
}

test('a policy speaks of the workloads of its namespace that it selects', () => {
  const { modesOf } = bookOf('Auto', 'Recommend');
  expect(modesOf('p0')).toEqual(['Auto']);
  expect(modesOf('p1')).toEqual(['Recommend']);
  expect(modesOf('p2')).toEqual([]);
  expect(modesOf('p0', 'bank')).toEqual([]);
});

test('what it said counts for a while after a change, and then no more', async () => {
  const { clock, book, modesOf } = bookOf('Auto');
  book.change('shop/p0', { mode: 'Recommend' });
  await clock.advance(119_000);
  expect(modesOf('p0')).toEqual(['Auto', 'Recommend']);
  await clock.advance(1_000);
  expect(modesOf('p0')).toEqual(['Recommend']);
});

test('a change of a policy that is not there changes nothing', () => {
  const { book, modesOf } = bookOf('Auto');
  book.change('shop/other', { mode: 'Disabled' });
  expect(modesOf('p0')).toEqual(['Auto']);
});

test('a merge patch replaces, adds, removes and goes into branches', () => {
  const base = { a: 1, b: { c: 2, d: [3] }, e: 4 };
  expect(mergeTrees(base, { a: 5, b: { d: [6], f: { g: 7 } }, e: null })).toEqual({
    a: 5,
    b: { c: 2, d: [6], f: { g: 7 } },
  });
});

test('a branch that is not there is empty', () => {
  expect(treeAt({ a: { b: { c: 1 } } }, 'a', 'b')).toEqual({ c: 1 });
  expect(treeAt({ a: 1 }, 'a', 'b')).toEqual({});
});
