/** Valid input with one place of it spoiled, for readers that take what others write. */
import fc from 'fast-check';
import { isRecord } from '../is-record.ts';

type Place = readonly (string | number)[];

/** What a file, a server or a person may put where something else belongs. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, '', ' ', -1, 0.5, 1e21, 2 ** 53, 1e308, '1e400', '-5m', '9999-12-31T23:59:59Z', '__proto__'),
  fc.constant('x'.repeat(5_000)),
);

/** Any one place of `value` replaced by something odd, or left out. */
export function spoiled(value: unknown): fc.Arbitrary<unknown> {
  return fc
    .tuple(fc.constantFrom(...placesOf(value)), fc.option(odd, { nil: undefined }))
    .map(([place, other]) => replaceAt(value, place, other));
}

function placesOf(value: unknown, place: Place = []): Place[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : [];
  return [place, ...inner.flatMap(([key, each]) => placesOf(each, [...place, key]))];
}

function replaceAt(value: unknown, [key, ...rest]: Place, other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value)) return value.map((each, index) => (index === key ? replaceAt(each, rest, other) : each));
  if (!isRecord(value)) return value;
  return { ...value, [key]: replaceAt(value[key], rest, other) };
}
