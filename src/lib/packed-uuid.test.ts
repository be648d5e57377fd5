import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packUuid, unpackUuid } from './packed-uuid.ts';

test('a UUID takes a character for each of its bytes', () => {
  const packed = packUuid('00ff7f80-0a0b-4c0d-8e0f-10203040506e');
  expect(packed).toHaveLength(16);
  expect([0, 1, 2, 3].map((at) => packed.charCodeAt(at))).toEqual([0x00, 0xff, 0x7f, 0x80]);
});

test.each([
  '',
  'uid-1',
  '=',
  '=uid',
  '=0123456789abcde',
  '0123456789abcdef',
  '==0123456789abcdef',
  '00FF7F80-0A0B-4C0D-8E0F-10203040506E',
  '00ff7f80-0a0b-4c0d-8e0f-10203040506e\n',
  'ключ от пода № 1',
])('%j, which is none, comes back as it was', (text) => {
  expect(unpackUuid(packUuid(text))).toBe(text);
});

test('for any text and any UUID, what is unpacked is what was packed, and no two are packed alike', () => {
  const text = fc.oneof(fc.uuid(), fc.string({ maxLength: 18 }), fc.string({ minLength: 15, maxLength: 17 }));
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(unpackUuid(packUuid(one))).toBe(one);
      expect(packUuid(one) === packUuid(other)).toBe(one === other);
    }),
  );
});
