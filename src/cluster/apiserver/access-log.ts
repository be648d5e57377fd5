/** Who did which verb on what: recorded always, so that the least RBAC that works can be read off a run. */
export interface Access {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty for cluster-scoped access and lists over all namespaces. */
  readonly namespace: string;
}

/** Refused calls are in it, too: what was missing can be read off as well. */
export interface AccessLog {
  record(access: Access): void;
  /** Every distinct access with how often it was seen, in order of first appearance. */
  entries(): readonly (Access & { readonly count: number })[];
  clear(): void;
}

/** Distinct accesses kept; a cluster with more users and namespaces than this only counts the known ones. */
const MAX_ENTRIES = 10_000;

export function createAccessLog(): AccessLog {
  const seen = new Map<string, { access: Access; count: number }>();
  return {
    record(access) {
      const key = `${access.user}|${access.verb}|${access.group}|${access.resource}|${access.subresource}|${access.namespace}`;
      const known = seen.get(key);
      if (known !== undefined) known.count++;
      else if (seen.size < MAX_ENTRIES) seen.set(key, { access, count: 1 });
    },
    entries: () => [...seen.values()].map(({ access, count }) => ({ ...access, count })),
    clear: () => seen.clear(),
  };
}
