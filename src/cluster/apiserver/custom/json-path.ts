/** The JSONPath subset of printer columns: members, indexes, wildcards and `[?(@.type=="Ready")]`. */
import { isObject, type Json } from '../json.ts';

const STEP = /\.([A-Za-z0-9_-]+)|\[(\d+|\*)\]|\['([^']+)'\]|\[\?\(@\.([A-Za-z0-9_.-]+)\s*==\s*["']([^"']*)["']\)\]/y;

function memberOf(value: Json, key: string): Json | undefined {
  return isObject(value) ? value[key] : undefined;
}

function present(value: Json | undefined): Json[] {
  return value === undefined ? [] : [value];
}

/** The first value at the path; undefined where nothing is there or the path is beyond the subset. */
export function jsonPathValue(root: Json, path: string): Json | undefined {
  const pattern = new RegExp(STEP);
  const text = path.replace(/\\\./g, '.');
  let current: readonly Json[] = [root];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) return undefined;
    const [, member, index, quoted, filterPath, filterValue] = match;
    const key = member ?? quoted;
    current = current.flatMap((value): Json[] => {
      if (key !== undefined) return present(memberOf(value, key));
      if (!Array.isArray(value)) return [];
      if (index !== undefined) return index === '*' ? value : present(value[Number(index)]);
      const steps = (filterPath ?? '').split('.');
      const reached = (item: Json) =>
        steps.reduce<Json | undefined>((at, step) => (at === undefined ? undefined : memberOf(at, step)), item);
      return value.filter((item) => reached(item) === filterValue);
    });
  }
  return current[0];
}
