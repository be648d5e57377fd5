/** How messages name an object, however odd it is: `shop/web`, or that it has no name. */
import type { KubeObject } from '../api/core.ts';

/** `namespace/name` for messages, whatever is missing of it. */
export function describeObject(object: KubeObject | null | undefined): string {
  const { namespace, name } = object?.metadata ?? {};
  return [namespace, name].filter((part) => typeof part === 'string' && part !== '').join('/') || '(unnamed)';
}
