/** Quality of service class of a pod. Source: kubernetes pkg/apis/core/v1/helper/qos/qos.go. */

import { tryParseQuantity } from '../../../lib/quantity.ts';
import { type JsonObject, objectAt, objectsAt } from '../json.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COUNTED = ['cpu', 'memory'] as const;

function amountOf(resources: JsonObject | undefined, name: string): bigint {
  const value = resources?.[name];
  const quantity = typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value)) : undefined;
  return quantity?.nanos ?? 0n;
}

/** The class by cpu and memory of all containers, or by the pod-level resources where given. */
export function qosClassOf(spec: JsonObject | undefined): QosClass {
  const podLevel = objectAt(spec, 'resources');
  const parts =
    podLevel === undefined
      ? [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map((container) =>
          objectAt(container, 'resources'),
        )
      : [podLevel];
  let any = false;
  let guaranteed = true;
  for (const part of parts) {
    for (const name of COUNTED) {
      const request = amountOf(objectAt(part, 'requests'), name);
      const limit = amountOf(objectAt(part, 'limits'), name);
      if (request > 0n || limit > 0n) any = true;
      if (limit === 0n || request !== limit) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
