import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTextInterner } from '../lib/text-interner.ts';
import { type JournalEntry, journalKinds } from './journal.ts';
import { KeptEntry } from './kept-entry.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const through = (entry: JournalEntry): JournalEntry => new KeptEntry(entry, NOON, createTextInterner(10)).plain(NOON);
const resized = (pod: string, request: number): JournalEntry => ({
  kind: 'done',
  reason: 'CPUApplied',
  message: `Pod ${pod} was resized: request 300m -> ${request}m`,
  pod,
  numbers: { requestBefore: 300, requestAfter: request, rules: `StepLimit: share 400m -> ${request}m` },
  engine: 'allocation',
  firstAt: NOON + request,
  lastAt: NOON + request,
  count: 1,
});

test('a deed has its pod, its figures and its times for itself; the sentence is one for all', () => {
  const seen = new Set<string>();
  const patterns = {
    intern(text: string) {
      seen.add(text);
      return text;
    },
  };
  const entries = [resized('web-5d59d67564-x7k2p', 345), resized('cart-7c9f8d-abcde', 1287)];
  expect(entries.map((entry) => new KeptEntry(entry, NOON, patterns).plain(NOON))).toStrictEqual(entries);
  expect(seen.size).toBe(1);
});

test('a figure that is no number is told as text', () => {
  expect(through({ ...resized('web', 1), numbers: { limit: Number.POSITIVE_INFINITY } }).numbers).toEqual({
    limit: 'Infinity',
  });
});

test('for any entry, it reads as it was', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('', 'a', '1', '"', '\\', '\u0001', '\0', '$&', 'web-1', '300m'));
  const sentence = fc.array(text, { maxLength: 5 }).map((parts) => parts.join(''));
  const figure = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0),
  );
  const at = fc.oneof(fc.integer({ min: 0, max: 2 * NOON }), fc.constantFrom(NOON + 0.5, NOON - 1, 0));
  const entry = fc.record(
    {
      kind: fc.constantFrom(...journalKinds),
      reason: text,
      message: sentence,
      pod: text,
      numbers: fc.dictionary(fc.string(), fc.oneof(figure, sentence, fc.boolean())),
      engine: fc.constantFrom('placement' as const, 'allocation' as const),
      firstAt: at,
      lastAt: at,
      count: fc.nat(),
    },
    { requiredKeys: ['kind', 'reason', 'message', 'firstAt', 'lastAt', 'count'] },
  );
  fc.assert(
    fc.property(entry, (each) => {
      expect(through(each)).toEqual(each);
    }),
  );
});
