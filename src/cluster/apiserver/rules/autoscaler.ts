/** The rules of HorizontalPodAutoscalers and their older view. Source: kubernetes pkg/apis/autoscaling/{v2,v1} defaults, conversion and validation. */
import { type FieldError, invalidField, requiredField } from '../field-errors.ts';
import {
  cloneJson,
  ensureObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  setDefault,
  stringAt,
  valueAt,
} from '../json.ts';
import type { ApiObject, ServedType, TypeRules } from '../served-type.ts';

const DEFAULT_UTILIZATION = 80;
const UP_POLICIES = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
];
const DOWN_POLICIES = [{ type: 'Percent', value: 100, periodSeconds: 15 }];

function cpuMetric(averageUtilization: number): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function defaultBehavior(behavior: JsonObject): void {
  const up = ensureObject(behavior, 'scaleUp');
  setDefault(up, 'stabilizationWindowSeconds', 0);
  setDefault(up, 'selectPolicy', 'Max');
  setDefault(up, 'policies', cloneJson(UP_POLICIES));
  // The window down is the controller's to choose, unless it is given.
  const down = ensureObject(behavior, 'scaleDown');
  setDefault(down, 'selectPolicy', 'Max');
  setDefault(down, 'policies', cloneJson(DOWN_POLICIES));
}

function validate(autoscaler: ApiObject): FieldError[] {
  const spec = objectAt(autoscaler, 'spec');
  const target = objectAt(spec, 'scaleTargetRef');
  const [least, most] = [numberAt(spec, 'minReplicas') ?? 1, numberAt(spec, 'maxReplicas') ?? 0];
  const apiVersion = stringAt(target, 'apiVersion') ?? '';
  return [
    ...(least < 1 ? [invalidField('spec.minReplicas', least, 'must be greater than or equal to 1')] : []),
    ...(most < 0 ? [invalidField('spec.maxReplicas', most, 'must be greater than or equal to 1')] : []),
    ...(most < least ? [invalidField('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`')] : []),
    ...['kind', 'name'].flatMap((field) =>
      stringAt(target, field) ? [] : [requiredField(`spec.scaleTargetRef.${field}`)],
    ),
    ...(apiVersion === '' || apiVersion === 'v1'
      ? apiVersion === 'v1' && stringAt(target, 'kind') === 'ReplicationController'
        ? []
        : [invalidField('spec.scaleTargetRef.apiVersion', apiVersion, 'apiVersion must specify API group')]
      : []),
    ...(most === 0 ? [requiredField('spec.maxReplicas')] : []),
  ];
}

export const autoscalerRules: TypeRules = {
  applyDefaults(autoscaler) {
    const spec = ensureObject(autoscaler, 'spec');
    setDefault(spec, 'minReplicas', 1);
    if (objectsAt(spec, 'metrics').length === 0) spec['metrics'] = [cpuMetric(DEFAULT_UTILIZATION)];
    const behavior = objectAt(spec, 'behavior');
    if (behavior !== undefined) defaultBehavior(behavior);
  },
  prepareCreate(autoscaler) {
    autoscaler['status'] = { desiredReplicas: 0, currentMetrics: null };
  },
  validateCreate: validate,
  validateUpdate: validate,
  validateStatusUpdate: () => [],
};

export const autoscalerV1Rules: TypeRules = {
  ...autoscalerRules,
  applyDefaults: (autoscaler) => setDefault(ensureObject(autoscaler, 'spec'), 'minReplicas', 1),
  prepareCreate(autoscaler) {
    autoscaler['status'] = { currentReplicas: 0, desiredReplicas: 0 };
  },
};

/** `autoscaling/v1`: one CPU target in a field of its own. The real server keeps other metrics in annotations; here a write through this view drops them. */
export const autoscalerV1View: NonNullable<ServedType['view']> = {
  fromStored(stored) {
    const { metrics, behavior: _behavior, ...spec } = cloneJson(objectAt(stored, 'spec') ?? {});
    const cpu = (Array.isArray(metrics) ? metrics : []).find(
      (metric) =>
        stringAt(metric, 'resource', 'name') === 'cpu' &&
        stringAt(metric, 'resource', 'target', 'type') === 'Utilization',
    );
    const target = valueAt(cpu, 'resource', 'target', 'averageUtilization');
    const status = objectAt(stored, 'status');
    return {
      ...stored,
      apiVersion: 'autoscaling/v1',
      spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
      status: {
        currentReplicas: numberAt(status, 'currentReplicas') ?? 0,
        desiredReplicas: numberAt(status, 'desiredReplicas') ?? 0,
      },
    };
  },
  toStored(shown) {
    const { targetCPUUtilizationPercentage: target, ...spec } = cloneJson(objectAt(shown, 'spec') ?? {});
    const status = objectAt(shown, 'status');
    return {
      ...shown,
      apiVersion: 'autoscaling/v2',
      spec: {
        ...spec,
        metrics: [cpuMetric(typeof target === 'number' ? target : DEFAULT_UTILIZATION)],
      },
      status: { desiredReplicas: 0, currentMetrics: null, ...status },
    };
  },
};
