/** What the pod that is made in the place of another will ask for, before it is steered. */
import { originalsKeys } from '../api/annotations-sizing.ts';
import { bornTemplate } from './born-template.ts';
import type { NodeSelectorTerm, PodRecord, PodTemplate, WorkloadRecord } from './records.ts';
import { withParts, withRequests } from './shared-template.ts';
import type { Sides } from './sides.ts';

export interface Replacement {
  readonly template: PodTemplate;
  /** Required node affinity that must hold as well; undefined: there is none. */
  readonly besideTerms: readonly NodeSelectorTerm[] | undefined;
}

/**
 * Its template, and what others add to each pod when it is made, which shows in the pod alone: node selector,
 * tolerations and overhead of a RuntimeClass, the node selector of a namespace, defaults of a LimitRange, and whatever
 * webhooks put in (sidecars, affinity, spread). A replacement of the same revision is given the same. Not so what
 * Stowage wrote: the side, and sizes since the pod was made.
 */
export function replacementOf(
  workload: WorkloadRecord,
  { template: own, sizing }: PodRecord,
  sides: Sides,
): Replacement {
  const template = bornTemplate(workload);
  const beside = sides.besidesSide(own);
  const written = sides.tolerationsOf('spot');
  const tolerations = own.tolerations.filter(
    ({ key, effect }) => !written.some((toleration) => toleration.key === key && toleration.effect === effect),
  );
  const isResized = Object.values(originalsKeys).some((key) => sizing?.marks[key] !== undefined);
  return {
    template: withParts(template, {
      nodeSelector: { ...template.nodeSelector, ...beside.nodeSelector },
      tolerations: [...template.tolerations, ...tolerations],
      requests: isResized ? template.requests : mostOf(template.requests, own.requests),
      extraRequests: mostExtra(template.extraRequests, own.extraRequests),
      claimsDevices: template.claimsDevices ?? own.claimsDevices,
      hasPodPlacementRules: template.hasPodPlacementRules || own.hasPodPlacementRules,
      podAffinity: own.podAffinity ?? template.podAffinity,
      spread: own.spread ?? template.spread,
    }),
    besideTerms: beside.requiredNodeTerms,
  };
}

/** Millicores and bytes more than now; below 0: less. */
export type Growth = Readonly<Record<'cpuMillis' | 'memoryBytes', number>>;

/**
 * The template of a replacement that is given another size: from what the pod has now, which admission may have made
 * other than the template.
 */
export function grown(pod: PodRecord, template: PodTemplate, growth: Growth): PodTemplate {
  const { cpuMillis, memoryBytes } = pod.template.requests;
  const requests = { cpuMillis: cpuMillis + growth.cpuMillis, memoryBytes: memoryBytes + growth.memoryBytes };
  return withRequests(template, { ...template.requests, ...requests });
}

function mostOf(one: PodTemplate['requests'], other: PodTemplate['requests']): PodTemplate['requests'] {
  return {
    cpuMillis: Math.max(one.cpuMillis, other.cpuMillis),
    memoryBytes: Math.max(one.memoryBytes, other.memoryBytes),
  };
}

type Extra = PodTemplate['extraRequests'];

function mostExtra(one: Extra, other: Extra): Extra {
  if (one === undefined || other === undefined) return one ?? other;
  const names = Object.keys({ ...one, ...other });
  return Object.fromEntries(names.map((name) => [name, Math.max(one[name] ?? 0, other[name] ?? 0)]));
}
