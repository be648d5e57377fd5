/** Annotations in which both sizing engines keep what they found, on the pods and templates they change. */

export const sizingKeys = {
  /** On pods and on workloads: sizes before the first change of rightsizing, `{"app":{"requests":{"cpu":"200m"}}}`. */
  originalResources: 'optipod.io/original-resources',
  /** On pods: CPU before the first change of allocation, in the same form. */
  allocationOriginals: 'mbcas.io/original-resources',
} as const;

/** Where each engine keeps the sizes of pods it found; its own, so that one can hand back while the other goes on. */
export const originalsKeys: Readonly<Record<'rightsizing' | 'allocation', string>> = {
  rightsizing: sizingKeys.originalResources,
  allocation: sizingKeys.allocationOriginals,
};
