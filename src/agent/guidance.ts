/** What the operator said about a pod, read leniently: a field that is not understood counts as not said. */
import type { AllocationGuidance } from '../api/pod-allocation.ts';
import { type Bound, type Layer, layers } from '../decide/allocation/bounds.ts';
import { type ClampReason, clampReasons } from '../decide/allocation/clamp.ts';
import type { PodHistory } from '../decide/allocation/eligibility.ts';
import type { NodeQuota } from '../decide/allocation/integrations/resource-quota.ts';
import type { NodePod, PodHints } from '../decide/allocation/node-input.ts';

/** In the words of the planner. */
export interface Guidance extends Pick<NodePod, 'advice' | 'original' | 'hints'> {
  readonly history: PodHistory;
  /** Of the pod's namespace. */
  readonly quota: NodeQuota | undefined;
}

/** Undefined where the operator has not said anything yet: then only what the agent sees itself counts. */
export function readGuidance(said: AllocationGuidance | undefined): Guidance | undefined {
  if (said === undefined) return undefined;
  const { advice, originalRequest, originalLimit, quotaRequestRoom, quotaLimitRoom, quotaNodeShare } = said;
  const { namespaceManaged, hasForeignWriter, isVpaOwned, restartedOnResize, hasStaticCpuManager } = said;
  const hasQuota = quotaRequestRoom !== undefined || quotaLimitRoom !== undefined;
  return {
    advice: amount(advice),
    original:
      amount(originalRequest) === undefined
        ? undefined
        : { request: originalRequest ?? 0, limit: amount(originalLimit) },
    hints: said.isUnknown === true ? 'unknown' : hintsOf(said),
    history: {
      ...(namespaceManaged !== undefined && { namespaceManaged }),
      ...(hasForeignWriter !== undefined && { hasForeignWriter }),
      ...(isVpaOwned !== undefined && { isVpaOwned }),
      ...(restartedOnResize !== undefined && { restartedOnResize }),
      ...(hasStaticCpuManager !== undefined && { hasStaticCpuManager }),
    },
    quota: hasQuota
      ? {
          room: { cpuRequest: amount(quotaRequestRoom), cpuLimit: amount(quotaLimitRoom) },
          nodeShare: amount(quotaNodeShare) ?? 0,
        }
      : undefined,
  };
}

/** What the operator may not be able to say yet has the value that changes nothing. */
function hintsOf(said: AllocationGuidance): PodHints {
  const { bounds = [], isRequestFrozen = false } = said;
  const limitMin = amount(said.limitMin);
  const step = amount(said.step);
  return {
    bounds: bounds.flatMap(({ layer, reason, min, max }): Bound[] => {
      if (!isLayer(layer) || !isReason(reason)) return [];
      const [least, most] = [amount(min), amount(max)];
      return [{ layer, reason, ...(least !== undefined && { min: least }), ...(most !== undefined && { max: most }) }];
    }),
    spread: factor(said.spread),
    affinity: factor(said.affinity),
    isRequestFrozen,
    bandFactor: factor(said.bandFactor),
    ...(limitMin !== undefined && { limitMin }),
    ...(step !== undefined && { step }),
  };
}

const amount = (value: number | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
const factor = (value: number | undefined): number => {
  const known = amount(value);
  return known === undefined || known === 0 ? 1 : known;
};
const isLayer = (text: string): text is Layer => layers.some((layer) => layer === text);
const isReason = (text: string): text is ClampReason => clampReasons.some((reason) => reason === text);
