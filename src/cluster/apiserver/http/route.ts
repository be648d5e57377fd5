/** What a URL path means to the API server. */

export type Route =
  | {
      readonly kind: 'resource';
      readonly group: string;
      readonly version: string;
      readonly namespace: string | undefined;
      readonly plural: string;
      /** Empty for the collection. */
      readonly name: string;
      readonly subresource: string;
    }
  | { readonly kind: 'discovery'; readonly group: string; readonly version: string }
  /** `/api` or `/apis`. */
  | { readonly kind: 'discovery-root'; readonly legacy: boolean }
  /** Anything else: health, version, OpenAPI. */
  | { readonly kind: 'other'; readonly path: string };

/** Parses a path without query. Undecodable parts make it a path of its own, which nothing serves. */
export function parseRoute(path: string): Route {
  const other: Route = { kind: 'other', path };
  let parts: string[];
  try {
    parts = path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return other;
  }
  const [root] = parts;
  if (root !== 'api' && root !== 'apis') return other;
  const legacy = root === 'api';
  if (parts.length === 1) return { kind: 'discovery-root', legacy };
  const group = legacy ? '' : (parts[1] ?? '');
  const version = (legacy ? parts[1] : parts[2]) ?? '';
  const rest = parts.slice(legacy ? 2 : 3);
  if (rest.length === 0) return { kind: 'discovery', group, version };

  // The deprecated prefix form of watches.
  const watching = rest[0] === 'watch' ? rest.slice(1) : rest;
  if (watching !== rest) return other;
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = rest;
  if (first === 'namespaces' && third !== '' && !(rest.length === 3 && ['status', 'finalize'].includes(third))) {
    return {
      kind: 'resource',
      group,
      version,
      namespace: second,
      plural: third,
      name: fourth,
      subresource: rest.slice(5).length === 0 ? fifth : rest.slice(4).join('/'),
    };
  }
  return {
    kind: 'resource',
    group,
    version,
    namespace: undefined,
    plural: first,
    name: second,
    subresource: rest.slice(2).join('/'),
  };
}
