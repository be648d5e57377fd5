/**
 * What a pod had before allocation changed it: as its annotation says, else as the agent noted when it first saw the
 * pod.
 */

import { sizingKeys } from '../api/annotations-sizing.ts';
import type { PodAllocationSpec } from '../api/pod-allocation.ts';
import type { CpuSize } from '../decide/allocation/allocation-pod.ts';
import { isRecord, memberOf } from '../lib/is-record.ts';
import { tryParseMillicores } from '../lib/quantity.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import type { Millicores } from '../lib/units.ts';

/**
 * The annotation `mbcas.io/original-resources`, `{"app":{"requests":{"cpu":"200m"}}}`; undefined where it is not
 * readable.
 */
export function annotatedOriginal(marks: Readonly<Record<string, string>>): CpuSize | undefined {
  const text = marks[sizingKeys.allocationOriginals];
  if (text === undefined) return undefined;
  const parsed = tryParseJson(text);
  const containers = isRecord(parsed) ? Object.values(parsed) : [];
  const amounts = (list: string): (Millicores | undefined)[] =>
    containers.map((resources) => tryParseMillicores(memberOf(memberOf(resources, list), 'cpu')));
  const requests = amounts('requests');
  if (requests.every((request) => request === undefined)) return undefined;
  return { request: sum(requests), limit: sumOfAll(amounts('limits')) };
}

/** As in the allocation the agent made when it first saw the pod. */
export function notedOriginal(
  spec: Pick<PodAllocationSpec, 'originalCPURequest' | 'originalCPULimit'> | undefined,
): CpuSize | undefined {
  const request = tryParseMillicores(spec?.originalCPURequest);
  return request === undefined ? undefined : { request, limit: tryParseMillicores(spec?.originalCPULimit) };
}

/** A container without a limit leaves the pod without one. */
function sumOfAll(values: readonly (Millicores | undefined)[]): Millicores | undefined {
  return values.every((value) => value !== undefined) ? sum(values) : undefined;
}

const sum = (values: readonly (Millicores | undefined)[]): Millicores =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);
