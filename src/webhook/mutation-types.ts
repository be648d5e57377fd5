/** What was changed in a pod, in the words of Spotalis' metric and records. */
import type { JsonPatchOperation } from '../api/kube-api.ts';

const types = [
  ['nodeSelector', '/spec/nodeSelector'],
  ['affinity', '/spec/affinity'],
  ['tolerations', '/spec/tolerations'],
  ['annotations', '/metadata/annotations'],
] as const;

type MutationType = (typeof types)[number][0];

/** Each once, however many operations it took. */
export function mutationTypesOf(patch: readonly Pick<JsonPatchOperation, 'path'>[]): MutationType[] {
  return types.flatMap(([type, prefix]) => (patch.some(({ path }) => path.startsWith(prefix)) ? [type] : []));
}
