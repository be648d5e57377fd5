/** Admission plug-in PodResizeValidator: no resize beyond what the pod's node could ever give. Source: kubernetes plugin/pkg/admission/podresize. */
import { tryParseQuantity } from '../../../lib/quantity.ts';
import { type JsonObject, objectAt, objectsAt, stringAt } from '../json.ts';
import type { ApiObject, RuleContext } from '../served-type.ts';
import { forbidden } from '../status-error.ts';

const PODS = { group: '', plural: 'pods' };
const NANOS_PER_MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;

function nanosOf(amounts: JsonObject | undefined, name: string): bigint {
  const value = amounts?.[name];
  return (
    (typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value))?.nanos : undefined) ?? 0n
  );
}

/** Requests of the pod as the scheduler sums them: containers and sidecars together, or the largest init container. */
function requestOf(spec: JsonObject | undefined, name: string): bigint {
  const podLevel = objectAt(spec, 'resources', 'requests');
  if (podLevel?.[name] !== undefined) return nanosOf(podLevel, name) + nanosOf(objectAt(spec, 'overhead'), name);
  const requests = (container: JsonObject): bigint => nanosOf(objectAt(container, 'resources', 'requests'), name);
  let sidecars = 0n;
  let largest = 0n;
  for (const container of objectsAt(spec, 'initContainers')) {
    const request = requests(container);
    if (container['restartPolicy'] === 'Always') sidecars += request;
    const needed = container['restartPolicy'] === 'Always' ? sidecars : sidecars + request;
    if (needed > largest) largest = needed;
  }
  const running = objectsAt(spec, 'containers').reduce((sum, container) => sum + requests(container), sidecars);
  return (running > largest ? running : largest) + nanosOf(objectAt(spec, 'overhead'), name);
}

/** Throws 403 when the bound pod would ask for more than its node's allocatable amounts. */
export function checkResizeCapacity(pod: ApiObject, context: RuleContext): void {
  const nodeName = stringAt(pod, 'spec', 'nodeName') ?? '';
  if (nodeName === '') return;
  const name = pod.metadata.name ?? '';
  const node = context.find('nodes', '', undefined, nodeName);
  if (node === undefined) throw forbidden(PODS, name, `node ${JSON.stringify(nodeName)} not found`);
  const os = node.metadata.labels?.['kubernetes.io/os'];
  if (os !== undefined && os !== 'linux') {
    throw forbidden(
      PODS,
      name,
      `pod resize is only supported on linux nodes, node ${JSON.stringify(nodeName)} is ${JSON.stringify(os)}`,
      [{ reason: 'UnsupportedPlatform' }],
    );
  }
  const spec = objectAt(pod, 'spec');
  const allocatable = objectAt(node, 'status', 'allocatable');
  const messages: string[] = [];
  const cpu = requestOf(spec, 'cpu');
  const cpuAllocatable = nanosOf(allocatable, 'cpu');
  if (cpu > cpuAllocatable)
    messages.push(`cpu, requested: ${cpu / NANOS_PER_MILLI}, allocatable: ${cpuAllocatable / NANOS_PER_MILLI}`);
  const memory = requestOf(spec, 'memory');
  const memoryAllocatable = nanosOf(allocatable, 'memory');
  if (memory > memoryAllocatable)
    messages.push(`memory, requested: ${memory / NANOS}, allocatable: ${memoryAllocatable / NANOS}`);
  if (messages.length > 0)
    throw forbidden(PODS, name, `node didn't have enough allocatable resources: ${messages.join('; ')}`, [
      { reason: 'NodeCapacity' },
    ]);
}
