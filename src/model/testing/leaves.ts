/** The single values in a piece of data, and the data with one of them replaced: to ask of each what is asked of one. */

type Path = readonly string[];

/** Where each value is that is neither a mapping nor a list. */
export function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [path];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

/** A copy of `value` with `leaf` at the path. */
export function withLeaf(value: unknown, [key, ...rest]: Path, leaf: unknown): unknown {
  if (key === undefined) return leaf;
  const members = Object.entries(Object(value)).map(([name, member]): [string, unknown] => [
    name,
    name === key ? withLeaf(member, rest, leaf) : member,
  ]);
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

export function leafOf(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => Object.entries(Object(part)).find(([name]) => name === key)?.[1], value);
}
