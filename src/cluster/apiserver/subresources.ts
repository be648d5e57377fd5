/** Subresources that are views of their parent: status and scale. What a write through them may change is decided here. */
import { invalidField } from './field-errors.ts';
import { isObject, type JsonObject, numberAt, stringAt, stringMapAt, textOf, valueAt } from './json.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { badRequest, invalid } from './status-error.ts';

/** `write` checks the shape only; what may change is up to the type's rules. */
export interface SubresourceView {
  /** Group and kind of the body, for errors. */
  readonly kind: string;
  readonly group: string;
  read(parent: ApiObject): JsonObject;
  /** The parent after the view was changed to `view`. */
  write(parent: ApiObject, view: JsonObject): ApiObject;
}

/** The same object under another URL (status, resize, ephemeralcontainers): rules of the writer decide what changes. */
function sameObject(type: ServedType): SubresourceView {
  return {
    kind: type.kind,
    group: type.group,
    read: (parent) => parent,
    write: (parent, view) => ({
      ...view,
      apiVersion: parent.apiVersion,
      kind: parent.kind,
      metadata: isObject(view['metadata']) ? view['metadata'] : {},
    }),
  };
}

/** `a=b,c in (d)`: a label selector as the scale subresource prints it for autoscalers. */
export function printSelector(selector: JsonObject | undefined): string {
  const labels = Object.entries(stringMapAt(selector, 'matchLabels')).map(([key, value]) => `${key}=${value}`);
  const expressions = (Array.isArray(selector?.['matchExpressions']) ? selector['matchExpressions'] : [])
    .filter(isObject)
    .map((expression) => {
      const key = stringAt(expression, 'key') ?? '';
      const values = Array.isArray(expression['values']) ? expression['values'].map(textOf).join(',') : '';
      switch (expression['operator']) {
        case 'In':
          return `${key} in (${values})`;
        case 'NotIn':
          return `${key} notin (${values})`;
        case 'Exists':
          return key;
        default:
          return `!${key}`;
      }
    });
  return [...labels.sort(), ...expressions].join(',');
}

const SCALE: SubresourceView = {
  kind: 'Scale',
  group: 'autoscaling',
  read(parent) {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
    const selector = valueAt(parent, 'spec', 'selector');
    const text = isObject(selector)
      ? printSelector(parent.kind === 'ReplicationController' ? { matchLabels: selector } : selector)
      : '';
    return {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: numberAt(parent, 'spec', 'replicas') ?? 1 },
      status: { replicas: numberAt(parent, 'status', 'replicas') ?? 0, ...(text === '' ? {} : { selector: text }) },
    };
  },
  write(parent, view) {
    const replicas = valueAt(view, 'spec', 'replicas') ?? 0;
    if (typeof replicas !== 'number')
      throw badRequest(
        'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32',
      );
    if (replicas < 0) {
      const error = invalidField('spec.replicas', replicas, 'must be greater than or equal to 0');
      throw invalid({ group: 'autoscaling', kind: 'Scale' }, parent.metadata.name ?? '', [error]);
    }
    const spec = parent['spec'];
    const next = { ...parent, metadata: { ...parent.metadata }, spec: { ...(isObject(spec) ? spec : {}), replicas } };
    const resourceVersion = stringAt(view, 'metadata', 'resourceVersion');
    const uid = stringAt(view, 'metadata', 'uid');
    if (resourceVersion === undefined) delete next.metadata.resourceVersion;
    else next.metadata.resourceVersion = resourceVersion;
    if (uid !== undefined) next.metadata.uid = uid;
    return next;
  },
};

/** The view a subresource offers, or undefined where it is none (eviction, binding, log). */
export function subresourceView(type: ServedType, subresource: string): SubresourceView | undefined {
  if (subresource === 'scale') return SCALE;
  if (['status', 'resize', 'ephemeralcontainers', 'finalize'].includes(subresource)) return sameObject(type);
  return undefined;
}
