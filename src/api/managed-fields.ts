/** Reads `metadata.managedFields`: which fields of an object a manager owns, as sets of paths (KEP-555). */
import { isRecord, memberOf } from '../lib/is-record.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';

/** Fields from the root of an object with a pod template to its pod spec. */
export const templateSpecFields: readonly string[] = ['f:spec', 'f:template', 'f:spec'];

/** What lies below a path of fields; undefined where nothing of it is owned. */
export function fieldsAt(fields: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(memberOf, fields);
}

/** Of one container of a pod spec, what is owned of its `resources`. */
export interface OwnedResources {
  readonly container: string;
  /** Fields below `resources`, `f:requests` say; empty where it is owned as a whole. */
  readonly fields: unknown;
}

/** @param spec fields of a pod spec. Containers of which nothing of `resources` is owned are left out. */
export function ownedResources(spec: unknown): OwnedResources[] {
  return ['f:containers', 'f:initContainers'].flatMap((list) => {
    const items = memberOf(spec, list);
    return Object.entries(isRecord(items) ? items : {}).flatMap(([key, item]): OwnedResources[] => {
      const [container, fields] = [containerOf(key), memberOf(item, 'f:resources')];
      return container === undefined || fields === undefined ? [] : [{ container, fields }];
    });
  });
}

/** Items of a list are addressed by their key: `k:{"name":"app"}`. */
function containerOf(key: string): string | undefined {
  const name = key.startsWith('k:') ? memberOf(tryParseJson(key.slice(2)), 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}
