/** The binding subresource: a scheduler's assignment of a pod to a node. Source: kubernetes pkg/registry/core/pod/storage/storage.go. */
import { resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { cloneJson, ensureObject, objectsAt, stringAt, stringMapAt } from './json.ts';
import { toTime } from './names.ts';
import type { SubresourceAction } from './operations.ts';
import type { Reader } from './reader.ts';
import { bindingTarget } from './rules/pod.ts';
import type { ApiObject } from './served-type.ts';
import { badRequest, conflict, successStatus } from './status-error.ts';
import type { TypeRegistry } from './type-registry.ts';
import type { Writer } from './writer.ts';

/** Labels a pod takes over from the node it is bound to (admission plug-in PodTopologyLabels). */
const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

export interface BindingOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly registry: TypeRegistry;
}

/** Answers 201; 409 for a pod that is bound, gated or ending. Any node name will do, as on the real server. */
export function createBinding({ reader, writer, clock, registry }: BindingOptions): SubresourceAction {
  return async ({ type, namespace, name }, body, context) => {
    if ((stringAt(body, 'metadata', 'name') ?? '') !== name)
      throw badRequest('name in URL does not match name in Binding object');
    const nodeName = bindingTarget(body);
    const kind = stringAt(body, 'target', 'kind');
    if (kind !== undefined && kind !== '' && kind !== 'Node')
      throw badRequest('Binding is invalid: target.kind: Unsupported value: only Node is supported');
    const refuse = (why: string): Error => conflict({ group: '', plural: 'pods/binding' }, name, why);
    const uid = stringAt(body, 'metadata', 'uid');
    const nodes = registry.resolve(resources.nodes);
    const nodeLabels =
      nodes === undefined ? {} : stringMapAt(reader.find(nodes, undefined, nodeName), 'metadata', 'labels');

    const bound = (pod: ApiObject): ApiObject => {
      if (uid !== undefined && uid !== '' && uid !== pod.metadata.uid)
        throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`);
      if (pod.metadata.deletionTimestamp !== undefined)
        throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
      const assigned = stringAt(pod, 'spec', 'nodeName');
      if (assigned) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(assigned)}`);
      if (objectsAt(pod, 'spec', 'schedulingGates').length > 0)
        throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
      const next = cloneJson<ApiObject>(pod);
      ensureObject(next, 'spec')['nodeName'] = nodeName;
      const status = ensureObject(next, 'status');
      delete status['nominatedNodeName'];
      const conditions = objectsAt(status, 'conditions').filter((condition) => condition['type'] !== 'PodScheduled');
      conditions.push({
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: toTime(clock.now()),
      });
      status['conditions'] = conditions;
      const annotations = stringMapAt(body, 'metadata', 'annotations');
      if (Object.keys(annotations).length > 0)
        next.metadata.annotations = { ...next.metadata.annotations, ...annotations };
      for (const key of TOPOLOGY_LABELS) {
        const value = nodeLabels[key];
        if (value !== undefined) next.metadata.labels = { ...next.metadata.labels, [key]: value };
      }
      return next;
    };
    if (context.dryRun) bound(reader.get(type, namespace, name));
    else writer.amend(type, namespace, name, bound);
    return { ...successStatus(), code: 201 };
  };
}
