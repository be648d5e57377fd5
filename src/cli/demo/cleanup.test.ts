import { expect, test } from 'vitest';
import { createCleanup } from './cleanup.ts';

test('steps run once, in reverse order, whatever one of them does', async () => {
  const done: string[] = [];
  const cleanup = createCleanup();
  cleanup.defer(() => done.push('first'));
  cleanup.defer(async () => {
    done.push('second');
    throw new Error('second failed');
  });
  cleanup.defer(() => done.push('third'));
  await expect(cleanup.run()).rejects.toThrow('second failed');
  await cleanup.run();
  expect(done).toEqual(['third', 'second', 'first']);
});
