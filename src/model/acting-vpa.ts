/**
 * Which Vertical Pod Autoscaler writes the sizes of a workload: beside it nobody else may, as two writers undo each
 * other for ever.
 */
import { isTarget, type ScaledObject } from './scale-target.ts';
import type { VpaRecord } from './sizing-records.ts';

/**
 * @param vpas those of the workload's namespace.
 * @returns the first that acts on it; undefined where none does. Compared by group, kind and name, as a targetRef has
 * no uid. One in mode `Off` only recommends; `Initial` acts, at admission.
 */
export function actingVpa(vpas: readonly VpaRecord[], workload: ScaledObject): VpaRecord | undefined {
  return vpas.find(({ target, updateMode }) => updateMode !== 'Off' && isTarget(target, workload));
}
