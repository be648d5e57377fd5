/** Fields that a kind does not have, misspelt ones above all: the API server drops them, and nobody hears of it. */
import { isRecord } from '../../lib/is-record.ts';
import type { CrdSchema } from './crd-schema.ts';

/** A field that does nothing. */
export interface UnknownField {
  /** `spec.selector.namespaces.alow` */
  readonly path: string;
  /** What there is beside it that is written almost alike. */
  readonly meant: string | undefined;
}

/** In the order in which they stand. @param path of `value`, for the result */
export function unknownFields(value: unknown, schema: CrdSchema, path: string): UnknownField[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isRecord(items) ? value.flatMap((item, index) => unknownFields(item, items, `${path}[${index}]`)) : [];
  }
  const { properties, additionalProperties } = schema;
  if (!isRecord(value) || schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
  return Object.entries(value).flatMap(([name, member]): UnknownField[] => {
    const known = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (isRecord(known)) return unknownFields(member, known, `${path}.${name}`);
    if (!isRecord(properties) || known === true) return [];
    return [{ path: `${path}.${name}`, meant: closest(name, Object.keys(properties)) }];
  });
}

/** Letters that may differ: one in short words, two in others. */
const MAX_DISTANCE = 2;

function closest(name: string, candidates: readonly string[]): string | undefined {
  const limit = Math.min(MAX_DISTANCE, Math.floor(name.length / 3));
  const near = candidates.map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }));
  const [best] = near.filter(({ distance }) => distance <= limit).sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** Letters to put in, leave out or replace (Levenshtein), upper and lower case alike. */
function distanceOf(left: string, right: string): number {
  const [from, to] = [left.toLowerCase(), right.toLowerCase()];
  let before = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [row, letter] of from.split('').entries()) {
    const now = [row + 1];
    for (const [column, other] of to.split('').entries()) {
      const replaced = (before[column] ?? 0) + (letter === other ? 0 : 1);
      now.push(Math.min(replaced, (before[column + 1] ?? 0) + 1, (now[column] ?? 0) + 1));
    }
    before = now;
  }
  return before[to.length] ?? 0;
}
