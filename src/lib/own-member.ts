/** Looks up what people have named: `constructor` or `toString` must find nothing of what every object inherits. */

/** The member that `record` has itself; undefined where it has none, or there is neither record nor name. */
export function ownMember<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string | undefined,
): Value | undefined {
  return record !== undefined && name !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
