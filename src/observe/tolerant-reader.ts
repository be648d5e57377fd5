/** Reads objects one by one: what cannot be read costs one message and stops nothing else. */
import type { KubeObject } from '../api/core.ts';
import { describeError } from '../lib/errors.ts';
import { describeObject } from './describe-object.ts';

/** The tolerant form of a projection: undefined for an object it cannot read, after saying so. */
export type TolerantReader = <T extends KubeObject, R>(
  kind: string,
  project: (object: T) => R,
) => (object: T) => R | undefined;

/** Objects that cannot be read, remembered so that each is told once as long as that is so. */
const MAX_TOLD = 1_000;

/**
 * @param consequence what becomes of such an object, after its name: `was skipped`.
 * @param onOdd receives one sentence for people: once, and anew where the object was readable meanwhile, or is odd in
 * another way.
 */
export function createTolerantReader(consequence: string, onOdd: (message: string) => void): TolerantReader {
  const told = new Map<string, string>();
  return (kind, project) => (object) => {
    const nameOf = (): string => `${kind} ${describeObject(object)}`;
    try {
      const record = project(object);
      if (told.size > 0) told.delete(nameOf());
      return record;
    } catch (error) {
      const name = nameOf();
      const message = `${name} ${consequence}, it cannot be read: ${whyOdd(error)}`;
      if (told.get(name) === message) return undefined;
      if (told.size >= MAX_TOLD) told.clear();
      told.set(name, message);
      onOdd(message);
      return undefined;
    }
  };
}

/** An API server gives no such object, but a file may: a list without an entry, a text in place of an object. */
function whyOdd(error: unknown): string {
  const why = describeError(error);
  const isProgramming = error instanceof TypeError || error instanceof RangeError;
  return isProgramming ? `it has not the form of its kind (${why}); ask the API server for it again` : why;
}
