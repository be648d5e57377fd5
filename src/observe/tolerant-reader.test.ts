import { expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { createTolerantReader } from './tolerant-reader.ts';

interface Numbered extends KubeObject {
  readonly amount: string;
}

test('an object that cannot be read is told once while that lasts, and anew when it was readable meanwhile', () => {
  const messages: string[] = [];
  const read = createTolerantReader('is left out', (message) => messages.push(message))(
    'Quota',
    ({ amount }: Numbered) => {
      if (!/^\d+$/.test(amount)) throw new Error(`${amount} is no number`);
      return Number(amount);
    },
  );
  const told = (name: string, amount: string): number => {
    read({ metadata: { name, namespace: 'shop' }, amount });
    return messages.length;
  };
  expect(read({ metadata: { name: 'a', namespace: 'shop' }, amount: 'much' })).toBeUndefined();
  expect(messages).toEqual(['Quota shop/a is left out, it cannot be read: much is no number']);
  expect(told('a', 'much')).toBe(1);
  expect(told('a', 'more')).toBe(2);
  expect(told('b', 'more')).toBe(3);
  expect(told('a', '4')).toBe(3);
  expect(told('a', 'more')).toBe(4);
  expect(told('b', 'more')).toBe(4);
});

test('whatever is thrown, and however odd the object, there is one sentence', () => {
  const messages: string[] = [];
  const read = createTolerantReader('was skipped', (message) => messages.push(message));
  const refuse = (): never => {
    throw new TypeError('no');
  };
  read('Pod', refuse)({});
  read('Pod', refuse)({ metadata: { name: 'a' } });
  expect(messages).toEqual([
    'Pod (unnamed) was skipped, it cannot be read: it has not the form of its kind (no); ask the API server for it again',
    'Pod a was skipped, it cannot be read: it has not the form of its kind (no); ask the API server for it again',
  ]);
});
