import { expect, test } from 'vitest';
import { createDeferred } from './deferred.ts';
import { createOneAtATime } from './one-at-a-time.ts';

test('work about one thing comes one after the other, also after one that fails; work about others does not wait', async () => {
  const alone = createOneAtATime();
  const begun: string[] = [];
  const first = createDeferred<string>();
  const work = (name: string, result: Promise<string>) => (): Promise<string> => {
    begun.push(name);
    return result;
  };
  const all = [
    alone('web', work('web 1', first.promise)),
    alone('web', work('web 2', Promise.resolve('two'))),
    alone('web', work('web 3', Promise.resolve('three'))),
    alone('api', work('api 1', Promise.resolve('one'))),
  ];
  expect(await all[3]).toBe('one');
  expect(begun).toEqual(['web 1', 'api 1']);
  first.reject(new Error('cannot'));
  await expect(all[0]).rejects.toThrow('cannot');
  expect(await Promise.all(all.slice(1))).toEqual(['two', 'three', 'one']);
  expect(begun).toEqual(['web 1', 'api 1', 'web 2', 'web 3']);
  // Nothing is left to wait for.
  void alone('web', work('web 4', Promise.resolve('four')));
  expect(begun.at(-1)).toBe('web 4');
});
