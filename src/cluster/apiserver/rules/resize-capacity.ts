/** Admission plug-in PodResizeValidator: no resize beyond what the pod's node could ever give. Source: kubernetes plugin/pkg/admission/podresize. */
import { objectAt, stringAt } from '../json.ts';
import type { ApiObject, RuleContext } from '../served-type.ts';
import { forbidden } from '../status-error.ts';
import { nanosOf, podAmount } from './pod-amounts.ts';

const PODS = { group: '', plural: 'pods' };
const NANOS_PER_MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;

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
  const cpu = podAmount(spec, 'requests', 'cpu');
  const cpuAllocatable = nanosOf(allocatable, 'cpu');
  if (cpu > cpuAllocatable)
    messages.push(`cpu, requested: ${cpu / NANOS_PER_MILLI}, allocatable: ${cpuAllocatable / NANOS_PER_MILLI}`);
  const memory = podAmount(spec, 'requests', 'memory');
  const memoryAllocatable = nanosOf(allocatable, 'memory');
  if (memory > memoryAllocatable)
    messages.push(`memory, requested: ${memory / NANOS}, allocatable: ${memoryAllocatable / NANOS}`);
  if (messages.length > 0)
    throw forbidden(PODS, name, `node didn't have enough allocatable resources: ${messages.join('; ')}`, [
      { reason: 'NodeCapacity' },
    ]);
}
