/** The served types by URL, fixed ones and those custom resource definitions add while the server runs. */
import type { ResourceType } from '../../api/resources.ts';
import type { ServedType } from './served-type.ts';

/** One URL, one type; a type that is taken away is found by nobody from the next call on. */
export interface TypeRegistry {
  /** By group, version and plural; undefined when not served. */
  find(group: string, version: string, plural: string): ServedType | undefined;
  /** As `find`, for what a client names. */
  resolve(type: ResourceType): ServedType | undefined;
  all(): readonly ServedType[];
  /** Serves `type` from now on, replacing what was served under the same URL. */
  add(type: ServedType): void;
  remove(type: ServedType): void;
}

/** @param types served from the start. */
export function createTypeRegistry(types: readonly ServedType[]): TypeRegistry {
  const byUrl = new Map<string, ServedType>();
  const resolved = new WeakMap<ResourceType, ServedType>();
  const urlOf = ({ group, version, plural }: Pick<ResourceType, 'group' | 'version' | 'plural'>): string =>
    `${group}/${version}/${plural}`;
  for (const type of types) byUrl.set(urlOf(type), type);
  return {
    find: (group, version, plural) => byUrl.get(urlOf({ group, version, plural })),
    resolve(type) {
      const known = resolved.get(type);
      if (known !== undefined && byUrl.get(urlOf(type)) === known) return known;
      const found = byUrl.get(urlOf(type));
      if (found !== undefined) resolved.set(type, found);
      return found;
    },
    all: () => [...byUrl.values()],
    add: (type) => void byUrl.set(urlOf(type), type),
    remove: (type) => void byUrl.delete(urlOf(type)),
  };
}
