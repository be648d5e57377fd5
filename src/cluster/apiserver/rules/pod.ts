/** The rules of pods. */
import { ensureObject, isObject, objectAt, objectsAt, setDefault, stringAt, valueAt } from '../json.ts';
import type { ApiObject, TypeRules } from '../served-type.ts';
import { badRequest } from '../status-error.ts';
import { mergeLabelKeys } from './label-keys.ts';
import { applyLimitDefaults, checkLimits } from './limit-ranger.ts';
import { addDefaultTolerations, defaultPod } from './pod-defaults.ts';
import { qosClassOf } from './pod-qos.ts';
import { ephemeralContainersUpdate, resizeUpdate } from './pod-resize.ts';
import { validatePodUpdate } from './pod-update.ts';
import { validatePodSpec } from './pod-validation.ts';
import { resolvePriority } from './priority-class.ts';
import { checkQuotas } from './resource-quota.ts';

export const podRules: TypeRules = {
  applyDefaults: defaultPod,
  prepareCreate(pod, context) {
    const spec = ensureObject(pod, 'spec');
    addDefaultTolerations(spec);
    applyLimitDefaults(pod, context);
    resolvePriority(pod, context);
  },
  prepareAdmitted(pod) {
    mergeLabelKeys(pod);
    pod['status'] = { phase: 'Pending', qosClass: qosClassOf(ensureObject(pod, 'spec')) };
  },
  prepareUpdate: (pod) => addDefaultTolerations(ensureObject(pod, 'spec')),
  prepareStatusUpdate(pod, old) {
    // Who may own the pod is not the kubelet's to say, and the class is fixed at creation.
    const { ownerReferences } = old.metadata;
    if (ownerReferences === undefined) delete pod.metadata.ownerReferences;
    else pod.metadata.ownerReferences = ownerReferences;
    const status = ensureObject(pod, 'status');
    const qosClass = stringAt(old, 'status', 'qosClass');
    if (qosClass !== undefined) setDefault(status, 'qosClass', qosClass);
    const podIp = stringAt(status, 'podIP');
    if (podIp !== undefined && !Array.isArray(status['podIPs'])) status['podIPs'] = [{ ip: podIp }];
  },
  admitCreate(pod, context) {
    checkLimits(pod, context);
    checkQuotas(pod, undefined, context);
  },
  validateCreate: (pod) => validatePodSpec(objectAt(pod, 'spec'), 'spec'),
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: () => [],
  subresourceUpdates: { resize: resizeUpdate, ephemeralcontainers: ephemeralContainersUpdate },
  selectableFields: {
    'spec.nodeName': (pod) => stringAt(pod, 'spec', 'nodeName') ?? '',
    'spec.restartPolicy': (pod) => stringAt(pod, 'spec', 'restartPolicy') ?? '',
    'spec.schedulerName': (pod) => stringAt(pod, 'spec', 'schedulerName') ?? '',
    'spec.serviceAccountName': (pod) => stringAt(pod, 'spec', 'serviceAccountName') ?? '',
    'spec.hostNetwork': (pod) => String(valueAt(pod, 'spec', 'hostNetwork') === true),
    'status.phase': (pod) => stringAt(pod, 'status', 'phase') ?? '',
    'status.podIP': (pod) => stringAt(pod, 'status', 'podIP') ?? '',
    'status.nominatedNodeName': (pod) => stringAt(pod, 'status', 'nominatedNodeName') ?? '',
  },
};

/** Whether the pod counts as ready, by its Ready condition. */
export function isPodReady(pod: ApiObject): boolean {
  return objectsAt(pod, 'status', 'conditions').some(
    (condition) => condition['type'] === 'Ready' && condition['status'] === 'True',
  );
}

/** A binding's target node; throws 400 when the body names none. */
export function bindingTarget(body: unknown): string {
  const name = isObject(body) ? stringAt(body, 'target', 'name') : undefined;
  if (name === undefined || name === '') throw badRequest('Binding is invalid: target.name: Required value');
  return name;
}
