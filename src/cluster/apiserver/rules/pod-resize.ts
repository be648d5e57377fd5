/** Resize of pods: only the containers' resources and resize policies come through. Source: dropNonResizeUpdates of kubernetes pkg/registry/core/pod/strategy.go. */
import { cloneJson, ensureObject, objectAt, objectsAt } from '../json.ts';
import type { ApiObject, SubresourceUpdate } from '../served-type.ts';
import { checkLimits } from './limit-ranger.ts';
import { validatePodResize } from './pod-update.ts';
import { validatePodSpec } from './pod-validation.ts';
import { checkResizeCapacity } from './resize-capacity.ts';
import { checkQuotas } from './resource-quota.ts';

function prepareResize(pod: ApiObject, old: ApiObject): void {
  const { managedFields } = pod.metadata;
  pod.metadata = { ...cloneJson(old.metadata), ...(managedFields === undefined ? {} : { managedFields }) };
  const before = objectAt(old, 'spec') ?? {};
  const after = ensureObject(pod, 'spec');
  const lists = ['containers', 'initContainers'];
  // Containers added, removed, renamed or reordered stay as they are, for validation to refuse.
  const sameNames = lists.every((list) => {
    const wanted = objectsAt(after, list);
    const present = objectsAt(before, list);
    return (
      wanted.length === present.length &&
      wanted.every((container, index) => container['name'] === present[index]?.['name'])
    );
  });
  if (!sameNames) return;
  const kept = cloneJson(before);
  for (const list of lists) {
    objectsAt(kept, list).forEach((container, index) => {
      const wanted = objectsAt(after, list)[index];
      for (const field of ['resources', 'resizePolicy']) {
        const value = wanted?.[field];
        if (value === undefined) delete container[field];
        else container[field] = value;
      }
    });
  }
  if (after['resources'] !== undefined) kept['resources'] = after['resources'];
  pod['spec'] = kept;
}

/** Order as on the real server: preparation, validation of the pod, then admission (node, LimitRange, quota). */
export const resizeUpdate: SubresourceUpdate = {
  admit(pod, old, context) {
    checkResizeCapacity(pod, context);
    checkLimits(pod, context);
    checkQuotas(pod, old, context);
  },
  prepare: prepareResize,
  validate: (pod, old) => [...validatePodSpec(objectAt(pod, 'spec'), 'spec'), ...validatePodResize(pod, old)],
};

/** Ephemeral containers may be added, nothing else changed. */
export const ephemeralContainersUpdate: SubresourceUpdate = {
  prepare(pod, old) {
    const added = objectAt(pod, 'spec')?.['ephemeralContainers'];
    pod.metadata = cloneJson(old.metadata);
    pod['spec'] = {
      ...cloneJson(objectAt(old, 'spec') ?? {}),
      ...(added === undefined ? {} : { ephemeralContainers: added }),
    };
  },
  validate(pod, old) {
    const names = objectsAt(pod, 'spec', 'ephemeralContainers').map((container) => container['name']);
    const removed = objectsAt(old, 'spec', 'ephemeralContainers').some(
      (container) => !names.includes(container['name']),
    );
    return removed
      ? [
          {
            reason: 'FieldValueForbidden',
            field: 'spec.ephemeralContainers',
            message: 'Forbidden: existing ephemeral containers may not be removed',
          },
        ]
      : [];
  },
};
