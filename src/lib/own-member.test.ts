import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownMember } from './own-member.ts';

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'])(
  '%s is nobody until it is given',
  (name) => {
    expect(ownMember({}, name)).toBeUndefined();
    expect(ownMember(JSON.parse(`{"${name}":1}`), name)).toBe(1);
  },
);

test('without a record or a name there is nothing', () => {
  expect([ownMember(undefined, 'a'), ownMember({ a: 1 }, undefined)]).toEqual([undefined, undefined]);
});

test('for any members and name, it is what a map of them has', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.nat())), fc.string(), (members, name) => {
      const record: Record<string, number> = Object.fromEntries(members);
      const map = new Map(members);
      for (const each of [name, ...map.keys()]) expect(ownMember(record, each)).toBe(map.get(each));
    }),
  );
});
