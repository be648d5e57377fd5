/** Events of people and their tools: objects that are made, changed and deleted through the API. */
import { isNotFound, unless } from '../../api/kube-error.ts';
import { policyType } from '../../api/optimization-policy.ts';
import { resources } from '../../api/resources.ts';
import { deletePod, holdPod, recreate } from '../people.ts';
import { recreateNamespace, removeDefinitions } from '../upheavals.ts';
import type { EventPlayers } from './event-players.ts';
import { nameIn, namespaceIn } from './scene.ts';

type ObjectEvents = EventPlayers<
  | 'annotate'
  | 'apply'
  | 'change-policy'
  | 'delete'
  | 'delete-pods'
  | 'delete-policy'
  | 'hold-pods'
  | 'patch'
  | 'recreate'
  | 'recreate-namespace'
  | 'remove-definitions'
  | 'rollout'
  | 'scale'
>;

export const objectEvents: ObjectEvents = {
  async rollout(event, { clock, patchWorkload }) {
    const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date(clock.now()).toISOString() };
    await patchWorkload(event.workload, { spec: { template: { metadata: { annotations } } } });
  },
  async scale(event, { patchWorkload }) {
    await patchWorkload(event.workload, { spec: { replicas: event.replicas } });
  },
  async annotate(event, { cluster, patchWorkload }) {
    const body = { metadata: { annotations: event.annotations } };
    if (event.target.includes('/')) await patchWorkload(event.target, body);
    else await cluster.api.patch(resources.namespaces, event.target, { type: 'merge', body });
  },
  async 'delete-pods'(event, { cluster, somePods }) {
    for (const pod of somePods(event.workload, event.count)) await deletePod(pod, cluster.api);
  },
  async 'hold-pods'(event, { people, somePods }) {
    await Promise.all(somePods(event.workload, event.count).map((pod) => holdPod(pod, event.for, people)));
  },
  async recreate({ workload }, { people, workloadTypeOf }) {
    const place = { namespace: namespaceIn(workload), name: nameIn(workload) };
    await recreate(workloadTypeOf(workload), place, people);
  },
  async apply(event, { cluster }) {
    const [problem] = (await cluster.apply([event.object])).problems;
    if (problem !== undefined) throw new Error(problem);
  },
  async delete({ kind, object }, { cluster, typeOf }) {
    const call = { namespace: namespaceIn(object) };
    await unless(isNotFound, cluster.api.delete(typeOf(kind), nameIn(object), call));
  },
  async patch(event, { patchObject, typeOf }) {
    await patchObject(typeOf(event.kind), event.object, event.body);
  },
  async 'change-policy'({ policy, spec }, { changePolicy, patchObject }) {
    const changed = await unless(isNotFound, patchObject(policyType('optipod.io'), policy, { spec }));
    if (changed !== undefined) changePolicy(policy, spec);
  },
  async 'delete-policy'({ policy }, { cluster, removePolicy }) {
    const where = { namespace: namespaceIn(policy) };
    // Somebody may have deleted it before.
    await unless(isNotFound, cluster.api.delete(policyType('optipod.io'), nameIn(policy), where));
    removePolicy(policy);
  },
  async 'recreate-namespace'(event, { conditions, upheavalOptions }) {
    await conditions.unrest.during(() => recreateNamespace(event.namespace, upheavalOptions));
  },
  async 'remove-definitions'(event, { conditions, upheavalOptions }) {
    await conditions.unrest.during(() => removeDefinitions(event.for, upheavalOptions));
  },
};
