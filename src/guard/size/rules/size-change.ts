/** The change itself is one that Kubernetes takes and that hurts nobody. */
import { formatQuantity, fromBytes } from '../../../lib/quantity.ts';
import { qosClassOf, sizeOfContainer } from '../../../model/pod-size.ts';
import { object } from '../../objection.ts';
import { bornContainers } from '../born-containers.ts';
import { resizeRule, sizeRule } from '../context.ts';

export const qosKept = resizeRule(
  'qos-kept',
  'The QoS class of a pod is fixed: a change that would alter it is refused as a whole.',
  ({ pod: { pod, sizing }, before, after }) => {
    // Run-once init containers count (ComputePodQOS) and have no record. One without limits makes pods Burstable whose
    // containers alone would be Guaranteed, and then no size of those alters the class.
    const alone = qosClassOf(before.map(({ size }) => size));
    if (sizing.qos === 'Burstable' && alone === 'Guaranteed') return undefined;
    const to = qosClassOf(after.map(({ size }) => size));
    return to === sizing.qos ? undefined : object('QosClassFixed', { pod: pod.name, from: sizing.qos, to });
  },
);

/**
 * For templates, too: they would be refused as a whole, with 422. Where their limit is left to a LimitRange each of their
 * pods would be, in the middle of a rollout.
 */
export const limitAboveRequest = sizeRule(
  'limit-above-request',
  'A request above its limit is no valid container.',
  (subject, context) => {
    for (const { name, size } of bornContainers(subject, context)) {
      const { cpuRequest = 0, cpuLimit, memoryRequest = 0, memoryLimit } = size;
      if (cpuLimit !== undefined && cpuRequest > cpuLimit)
        return object('RequestAboveLimit', { resource: 'cpu', container: name });
      if (memoryLimit !== undefined && memoryRequest > memoryLimit)
        return object('RequestAboveLimit', { resource: 'memory', container: name });
    }
    return undefined;
  },
);

/**
 * Property 5. The kubelet refuses to set a limit below present use, but use may rise between its look and the write,
 * and then the kernel ends the container; hence recent peak and a margin. A limit counts as lowered against the spec
 * and against what is in force, whichever is higher.
 */
export const memoryAboveUse = resizeRule(
  'memory-above-use',
  'A memory limit below what is or was used a moment ago ends the container. Requests may fall freely.',
  ({ decision, before, changes, pod: { sizing } }, { settings, memoryOf }) => {
    // What was not granted is in force nowhere: taking it back lowers nothing.
    if (decision.isWithdrawal === true) return undefined;
    for (const { container, to } of changes) {
      const limit = to.memoryLimit;
      const spec = sizeOfContainer(before, container)?.memoryLimit ?? Number.POSITIVE_INFINITY;
      const inForce = sizing.statuses.find(({ name }) => name === container)?.actual?.memoryLimit ?? spec;
      if (limit === undefined || limit >= Math.max(spec, inForce)) continue;
      const { now: use, peak } = memoryOf(decision.pod, container) ?? {};
      // Of a limit that did not exist, only what is used says whether it may be there.
      if (use === undefined && peak === undefined) return object('MemoryUseUnknown', { container });
      const used = Math.max(use ?? 0, peak ?? 0);
      const needed = Math.ceil(used * (1 + settings.memoryMargin / 100));
      if (limit < needed)
        return object('MemoryInUse', {
          container,
          used: bytes(used),
          limit: bytes(limit),
          needed: bytes(needed),
        });
    }
    return undefined;
  },
);

function bytes(amount: number): string {
  return formatQuantity(fromBytes(Math.round(amount)));
}
