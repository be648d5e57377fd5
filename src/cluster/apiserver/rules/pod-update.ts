/**
 * What an update of a pod may change, and what a resize may. Source: ValidatePodUpdate and ValidatePodResize of
 * kubernetes pkg/apis/core/validation/validation.go.
 */
import { type FieldError, forbiddenField, invalidField } from '../field-errors.ts';
import {
  cloneJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
} from '../json.ts';
import type { ApiObject } from '../served-type.ts';
import { qosClassOf } from './pod-qos.ts';

const UPDATABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Paths below which two values differ, for a message a person can act on. */
function differences(before: Json | undefined, after: Json | undefined, path: string): string[] {
  if (equalJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      differences(before[key], after[key], path === '' ? key : `${path}.${key}`),
    );
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => differences(item, after[index], `${path}[${index}]`));
  }
  return [`${path}: ${JSON.stringify(before ?? null)} -> ${JSON.stringify(after ?? null)}`];
}

function validateTolerationChange(before: JsonObject, after: JsonObject): FieldError[] {
  const now = objectsAt(after, 'tolerations');
  for (const old of objectsAt(before, 'tolerations')) {
    // Changing only the seconds of a toleration counts as an addition.
    const { tolerationSeconds: _ignored, ...same } = old;
    const kept = now.some((toleration) => {
      const { tolerationSeconds: _other, ...rest } = toleration;
      return equalJson(rest, same);
    });
    if (!kept)
      return [
        forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
      ];
  }
  return [];
}

/**
 * Errors of an update through the pod itself: everything that may change is set back to what it was, and nothing else
 * may differ. A pod still gated by the scheduler may have its node selector and affinity changed, too (KEP-3838).
 */
export function validatePodUpdate(pod: ApiObject, old: ApiObject): FieldError[] {
  const before = objectAt(old, 'spec') ?? {};
  const after = cloneJson(objectAt(pod, 'spec') ?? {});
  const errors: FieldError[] = [];
  for (const list of ['containers', 'initContainers']) {
    const containers = objectsAt(after, list);
    if (containers.length !== objectsAt(before, list).length) {
      return [forbiddenField(`spec.${list}`, `pod updates may not add or remove containers`)];
    }
    containers.forEach((container, index) => {
      const image = objectsAt(before, list)[index]?.['image'];
      if (image !== undefined) container['image'] = image;
    });
  }
  const deadline = numberAt(after, 'activeDeadlineSeconds');
  const oldDeadline = numberAt(before, 'activeDeadlineSeconds');
  if (deadline !== undefined && oldDeadline !== undefined && deadline > oldDeadline) {
    errors.push(invalidField('spec.activeDeadlineSeconds', deadline, 'must be less than or equal to previous value'));
  }
  if (deadline === undefined && oldDeadline !== undefined) {
    errors.push(
      invalidField('spec.activeDeadlineSeconds', null, 'must not update from a positive integer to nil value'),
    );
  }
  errors.push(...validateTolerationChange(before, after));
  const gates = objectsAt(before, 'schedulingGates');
  if (objectsAt(after, 'schedulingGates').some((gate) => !gates.some((known) => known['name'] === gate['name']))) {
    errors.push(forbiddenField('spec.schedulingGates', 'only deletion is allowed, but found new scheduling gate'));
  }
  const updatable = [
    'activeDeadlineSeconds',
    'tolerations',
    'schedulingGates',
    ...(gates.length > 0 ? ['nodeSelector', 'affinity'] : []),
  ];
  for (const field of updatable) {
    if (before[field] === undefined) delete after[field];
    else after[field] = before[field];
  }
  if (!equalJson(after, before)) {
    const diff = differences(before, after, '')
      .map((line) => `  ${line}`)
      .join('\n');
    errors.push(forbiddenField('spec', `pod updates may not change fields other than ${UPDATABLE}\n${diff}\n`));
  }
  return errors;
}

const RESIZABLE = ['cpu', 'memory'];

/** The container as if its CPU and memory had stayed: what still differs may not change by a resize. */
function withoutResizable(container: JsonObject, original: JsonObject): JsonObject {
  const copy = cloneJson(container);
  const resources = isObject(copy['resources']) ? copy['resources'] : {};
  for (const part of ['requests', 'limits']) {
    const amounts = { ...objectAt(resources, part) };
    const originals = objectAt(original, 'resources', part) ?? {};
    for (const name of RESIZABLE) {
      if (originals[name] === undefined) delete amounts[name];
      else amounts[name] = originals[name];
    }
    if (Object.keys(amounts).length === 0 && objectAt(original, 'resources', part) === undefined)
      delete resources[part];
    else resources[part] = amounts;
  }
  copy['resources'] = resources;
  return copy;
}

/** Amounts may be added and changed, never taken away: there would be no telling what the container is to run with. */
function validateContainerResize(container: JsonObject, old: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const part of ['limits', 'requests']) {
    const before = objectAt(old, 'resources', part) ?? {};
    const after = objectAt(container, 'resources', part) ?? {};
    if (RESIZABLE.some((name) => before[name] !== undefined && after[name] === undefined)) {
      errors.push(forbiddenField(`${path}.resources.${part}`, `resource ${part} cannot be removed`));
    }
  }
  return errors;
}

/**
 * Whether a kubelet that can resize runs the pod: it reports the resources of the first container that runs. Where none
 * does, it is taken for granted. Source: isPodResizeRequestSupported in pkg/apis/core/validation.
 */
function supportsResize(pod: ApiObject): boolean {
  const running = objectsAt(pod, 'status', 'containerStatuses').find(
    (status) => objectAt(status, 'state', 'running') !== undefined,
  );
  return running === undefined || objectAt(running, 'resources') !== undefined;
}

/**
 * Errors of an update through the resize subresource (KEP-1287). That the QoS class stays is judged by the class in the
 * pod's status, which never changes.
 */
export function validatePodResize(pod: ApiObject, old: ApiObject): FieldError[] {
  if (old.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined)
    return [forbiddenField('', 'static pods cannot be resized')];
  if (stringAt(old, 'spec', 'os', 'name') === 'windows') return [forbiddenField('', 'windows pods cannot be resized')];
  const errors: FieldError[] = [];
  const before = objectAt(old, 'spec') ?? {};
  const after = objectAt(pod, 'spec') ?? {};
  if (qosClassOf(after) !== (stringAt(old, 'status', 'qosClass') ?? qosClassOf(before))) {
    errors.push(
      invalidField(
        'spec',
        stringAt(pod, 'status', 'qosClass') ?? '',
        'Pod QOS Class may not change as a result of resizing',
      ),
    );
  }
  if (!supportsResize(old)) errors.push(forbiddenField('spec', 'Pod running on node without support for resize'));
  const namesOf = (spec: JsonObject, list: string) =>
    objectsAt(spec, list).map((container) => container['name'] ?? null);
  for (const list of ['containers', 'initContainers']) {
    if (objectsAt(after, list).length !== objectsAt(before, list).length)
      return [...errors, forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)];
    if (!equalJson(namesOf(before, list), namesOf(after, list)))
      return [...errors, forbiddenField('spec', `${list} may not be renamed or reordered on resize`)];
    objectsAt(after, list).forEach((container, index) => {
      const original = objectsAt(before, list)[index] ?? {};
      errors.push(...validateContainerResize(container, original, `spec.${list}[${index}]`));
      const main = list === 'containers';
      if (!equalJson(withoutResizable(container, original), withoutResizable(original, original))) {
        errors.push(
          main
            ? forbiddenField('spec', 'only cpu and memory resources are mutable')
            : forbiddenField(
                `spec.${list}[${index}]`,
                'only cpu and memory resources for init or sidecar containers are mutable',
              ),
        );
      } else if (
        !main &&
        !equalJson(container, original) &&
        container['restartPolicy'] !== 'Always' &&
        objectsAt(container, 'resizePolicy').some((policy) => policy['restartPolicy'] === 'RestartContainer')
      ) {
        errors.push(
          forbiddenField(
            `spec.${list}[${index}]`,
            'non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
          ),
        );
      }
    });
  }
  const rest = ({ containers: _c, initContainers: _i, resources: _r, ...others }: JsonObject): JsonObject => others;
  if (!equalJson(rest(before), rest(after)))
    errors.push(forbiddenField('spec', 'only cpu and memory resources are mutable'));
  return errors;
}
