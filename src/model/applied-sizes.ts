/**
 * The sizes a workload's pods have in place of those in its template: kept in an annotation of the workload, so that
 * every replica of the operator can give them to new pods, and a new leader knows what is in force.
 */
import { tryParseJson } from '../lib/try-parse-json.ts';
import { isNewerFormat } from './kept-format.ts';
import { type KeptSize, readKeptSizes } from './kept-sizes.ts';
import { type SizeKey, sizeKeys } from './pod-size.ts';
import type { ContainerSize, ContainerSpecRecord } from './sizing-records.ts';

/**
 * The text of the annotation; undefined where nothing differs from the template. Read back, it gives `inForce` again.
 */
export function writeAppliedSizes(
  template: readonly ContainerSpecRecord[],
  inForce: readonly ContainerSpecRecord[],
): string | undefined {
  const entries = template.flatMap(({ name, size }) => {
    const wanted = inForce.find((container) => container.name === name)?.size ?? {};
    const amounts = sizeKeys.flatMap((key) => {
      const to = wanted[key];
      return to === undefined || to === size[key] ? [] : [[key, [size[key] ?? null, to]] as const];
    });
    return amounts.length === 0 ? [] : [[name, Object.fromEntries(amounts)] as const];
  });
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}

/**
 * Reads the annotation: what the template said when a size was applied, and what was applied. What a later version wrote
 * counts as not there: pods are made as the template says.
 */
export function readAppliedSizes(text: string | undefined): readonly KeptSize[] {
  const value = text === undefined ? undefined : tryParseJson(text);
  return isNewerFormat(value) ? [] : readKeptSizes(value);
}

/**
 * The containers with the sizes that were applied, as far as they still have what the template had then: whoever edits
 * the template means what he writes.
 */
export function withAppliedSizes(
  containers: readonly ContainerSpecRecord[],
  applied: readonly KeptSize[],
): readonly ContainerSpecRecord[] {
  if (applied.length === 0) return containers;
  return containers.map((container) => {
    const own = applied.find((each) => each.container === container.name);
    const size = own === undefined ? undefined : appliedTo(container.size, own);
    return size === undefined ? container : { ...container, size };
  });
}

function appliedTo(size: ContainerSize, { amounts }: KeptSize): ContainerSize | undefined {
  const changed: Partial<Record<SizeKey, number>> = {};
  for (const key of sizeKeys) {
    const amount = amounts[key];
    if (amount === undefined) continue;
    const [from, to] = amount;
    if ((size[key] ?? null) !== from) return undefined;
    changed[key] = to;
  }
  const applied = { ...size, ...changed };
  return isValid(applied) ? applied : undefined;
}

/** A request above a limit that somebody has lowered since is no container that any API server takes. */
function isValid({ cpuRequest = 0, cpuLimit, memoryRequest = 0, memoryLimit }: ContainerSize): boolean {
  return cpuRequest <= (cpuLimit ?? cpuRequest) && memoryRequest <= (memoryLimit ?? memoryRequest);
}
