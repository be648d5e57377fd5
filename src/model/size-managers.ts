/** Names under which the engines write sizes: the field managers of what is theirs. */
import type { PodSizing } from './sizing-records.ts';

/**
 * The names the public systems have, so that fields they owned before Stowage came stay owned: `optipod` (OptiPod's SSA
 * requirement S4.1) and `mbcas-controller`. Owners in `metadata.managedFields`, by engine.
 */
export const sizeManagers: Readonly<Record<'rightsizing' | 'allocation', string>> = {
  rightsizing: 'optipod',
  allocation: 'mbcas-controller',
};

/** Whether a field manager is one of ours, so that what it owns was not written by a stranger. */
export function isOwnManager(manager: string): boolean {
  return Object.values(sizeManagers).includes(manager);
}

/** Somebody else who changed the size of the running pod; undefined: nobody did. */
export function otherResizer({ sizeManagers: managers }: Pick<PodSizing, 'sizeManagers'>): string | undefined {
  return managers.find((manager) => !isOwnManager(manager));
}
