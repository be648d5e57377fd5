/** What pods and templates had before Stowage sized them, kept in an annotation of the object itself so that it can be put back at any time, by any replica. */

import { sizingKeys } from '../api/annotations-sizing.ts';
import type { SizingEngine } from '../decide/size-decision.ts';
import type { ContainerSize, ContainerSpecRecord } from '../model/sizing-records.ts';
import { type ResourcesBody, resourcesBody } from './size-body.ts';

/** Each engine keeps its own, so that one can hand back while the other goes on. */
export const originalsKeys: Readonly<Record<SizingEngine, string>> = {
  rightsizing: sizingKeys.originalResources,
  allocation: sizingKeys.allocationOriginals,
};

/** Owners of the written fields in managedFields: the names the public systems have. */
export const sizeManagers: Readonly<Record<SizingEngine, string>> = {
  rightsizing: 'optipod',
  allocation: 'mbcas-controller',
};

/** `{"app":{"requests":{"cpu":"200m"}}}`; allocation only touches CPU, and keeps only that. */
export function originalsText(containers: readonly ContainerSpecRecord[], engine: SizingEngine): string {
  const bodies: Record<string, ResourcesBody> = {};
  for (const { name, size } of containers) bodies[name] = resourcesBody(engine === 'allocation' ? cpuOf(size) : size);
  return JSON.stringify(bodies);
}

function cpuOf({ cpuRequest, cpuLimit }: ContainerSize): ContainerSize {
  return { ...(cpuRequest !== undefined && { cpuRequest }), ...(cpuLimit !== undefined && { cpuLimit }) };
}
