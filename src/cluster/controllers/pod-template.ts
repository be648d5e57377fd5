/** Making pods from the template of their controller, and telling templates apart. */
import type { Pod, ReplicaSet } from '../../api/core.ts';
import { ascending } from '../../lib/ascending.ts';
import { isSameValue, type OwnerReference } from '../objects.ts';

export type PodTemplate = NonNullable<NonNullable<ReplicaSet['spec']>['template']>;

/** Tells the ReplicaSets of a Deployment apart. Ours are other hashes than Kubernetes': both are names only. */
export const TEMPLATE_HASH_LABEL = 'pod-template-hash';
const SAFE_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** A pod as the controller posts it; the server completes the generated name. */
export function podFromTemplate(
  template: PodTemplate | undefined,
  namespace: string,
  baseName: string,
  owner: OwnerReference,
): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${baseName}-`,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [owner],
    },
    spec: template?.spec ?? { containers: [] },
  };
}

/** Whether two templates make the same pods; the hash label differs by construction. */
export function isSameTemplate(left: PodTemplate | undefined, right: PodTemplate | undefined): boolean {
  return isSameValue(withoutHash(left), withoutHash(right));
}

function withoutHash(template: PodTemplate | undefined): unknown {
  const { [TEMPLATE_HASH_LABEL]: _, ...labels } = template?.metadata?.labels ?? {};
  return { labels, annotations: template?.metadata?.annotations ?? {}, spec: template?.spec };
}

/** A short, name-safe hash of a template (FNV-1a over its canonical JSON); `collisionCount` makes another one of it. */
export function templateHash(template: unknown, collisionCount: number | undefined): string {
  const text = canonicalJson(template) + (collisionCount === undefined ? '' : `#${collisionCount}`);
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return Array.from(String(hash), (digit) => SAFE_ALPHABET[digit.charCodeAt(0) % SAFE_ALPHABET.length]).join('');
}

function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, entry: unknown) =>
      entry !== null && typeof entry === 'object' && !Array.isArray(entry)
        ? Object.fromEntries(Object.entries(entry).sort(([left], [right]) => ascending(left, right)))
        : entry,
    ) ?? ''
  );
}
