/**
 * Keeps Burstable pods Burstable: where all requests would come to equal their limits, one of them stays a hair below.
 * The QoS class of a running pod cannot change, so without it nothing at all could be applied, to the pods that lack
 * the most.
 */
import { applyChanges, qosClassOf } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { ResourceAdvice } from './advice.ts';
import type { ResourceName } from './amount-text.ts';
import { dueChanges } from './due-changes.ts';
import type { SizedAdvice } from './recommend-workload.ts';

/** The smallest amounts that Kubernetes tells apart for CPU, and that anybody would write for memory. */
const HAIR: Readonly<Record<ResourceName, number>> = { cpu: 1, memory: 1024 * 1024 };

/**
 * Looks at what is due only: advice that is held back changes no class. Of the first container that can spare it, CPU
 * before memory.
 */
export function keepBurstable(
  advice: readonly SizedAdvice[],
  containers: readonly ContainerSpecRecord[],
): readonly SizedAdvice[] {
  const classOf = (all: readonly ContainerSpecRecord[]): string => qosClassOf(all.map(({ size }) => size));
  const after = applyChanges(containers, dueChanges(advice));
  if (classOf(containers) !== 'Burstable' || classOf(after) !== 'Guaranteed') return advice;
  for (const resource of ['cpu', 'memory'] as const) {
    const found = advice.find((each) => each[resource].isDue && (each[resource].request ?? 0) > HAIR[resource]);
    if (found === undefined) continue;
    return advice.map((each) => (each === found ? { ...each, [resource]: below(each[resource], resource) } : each));
  }
  return advice;
}

function below(advice: ResourceAdvice, resource: ResourceName): ResourceAdvice {
  const request = (advice.request ?? 0) - HAIR[resource];
  const text = 'a hair below its limit, so that the pods stay Burstable';
  return { ...advice, request, notes: [...advice.notes, { stage: 'limit', value: request, text }] };
}
