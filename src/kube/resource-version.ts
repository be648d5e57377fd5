/**
 * Order of resource versions. Kubernetes promises decimal, comparable versions since 1.35 (KEP-5504) and has always
 * sent them.
 */

/**
 * The version as a number, or undefined when it is absent or not a plain decimal that a number holds exactly (as some
 * aggregated APIs send). Undefined means "unordered": no event may be dropped on its account.
 */
export function parseResourceVersion(text: string | undefined): number | undefined {
  if (text === undefined || !/^[0-9]{1,16}$/.test(text)) return undefined;
  const version = Number(text);
  return Number.isSafeInteger(version) ? version : undefined;
}

/** Whether `candidate` is known to be older than `reference`; false when either is unordered. */
export function isOlder(candidate: number | undefined, reference: number | undefined): boolean {
  return candidate !== undefined && reference !== undefined && candidate < reference;
}
