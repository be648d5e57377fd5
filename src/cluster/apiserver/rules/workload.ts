/**
 * The rules of Deployments, ReplicaSets, StatefulSets and DaemonSets.
 * Source: kubernetes pkg/apis/apps/v1/defaults.go and pkg/apis/apps/validation/validation.go.
 */
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../field-errors.ts';
import {
  cloneJson,
  ensureObject,
  equalJson,
  type JsonObject,
  objectAt,
  objectsAt,
  setDefault,
  stringAt,
  stringMapAt,
  textOf,
  valueAt,
} from '../json.ts';
import { immutableField, validateLabels } from '../object-meta.ts';
import { selectorPredicate } from '../selectors.ts';
import type { ApiObject, TypeRules } from '../served-type.ts';
import { canonicalQuantities, defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

function defaultTemplate(spec: JsonObject): void {
  const template = objectAt(spec, 'template');
  if (template !== undefined) defaultPodSpec(objectAt(template, 'spec'));
}

/** A `metav1.LabelSelector` in stored JSON, typed for {@link selectorPredicate}. */
export function labelSelectorOf(value: JsonObject | undefined): Parameters<typeof selectorPredicate>[0] {
  if (value === undefined) return undefined;
  const matchExpressions = objectsAt(value, 'matchExpressions').map((expression) => ({
    key: stringAt(expression, 'key') ?? '',
    operator: stringAt(expression, 'operator') ?? '',
    values: Array.isArray(expression['values']) ? expression['values'].filter((item) => typeof item === 'string') : [],
  }));
  return { matchLabels: stringMapAt(value, 'matchLabels'), matchExpressions };
}

const SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** Errors inside a label selector at `path`. */
export function validateSelector(selector: JsonObject | undefined, path: string): FieldError[] {
  const errors = validateLabels(selector?.['matchLabels'], `${path}.matchLabels`);
  objectsAt(selector, 'matchExpressions').forEach((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const operator = stringAt(expression, 'operator') ?? '';
    const count = Array.isArray(expression['values']) ? expression['values'].length : 0;
    if (!SELECTOR_OPERATORS.includes(operator))
      errors.push(invalidField(`${at}.operator`, operator, 'not a valid selector operator'));
    if ((operator === 'In' || operator === 'NotIn') && count === 0)
      errors.push(requiredField(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0)
      errors.push(forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  });
  return errors;
}

function validateWorkload(object: ApiObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const errors: FieldError[] = [];
  for (const field of ['replicas', 'minReadySeconds', 'revisionHistoryLimit']) {
    const value = spec?.[field];
    if (typeof value === 'number' && value < 0)
      errors.push(invalidField(`spec.${field}`, value, 'must be greater than or equal to 0'));
  }
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) errors.push(requiredField('spec.selector'));
  else {
    errors.push(...validateSelector(selector, 'spec.selector'));
    if (
      Object.keys(stringMapAt(selector, 'matchLabels')).length === 0 &&
      objectsAt(selector, 'matchExpressions').length === 0
    ) {
      errors.push(
        invalidField('spec.selector', selector, 'empty selector is invalid for '.concat(object.kind.toLowerCase())),
      );
    }
  }
  const template = objectAt(spec, 'template');
  const labels = stringMapAt(template, 'metadata', 'labels');
  if (!selectorPredicate(labelSelectorOf(selector))(labels)) {
    errors.push(
      invalidField(
        'spec.template.metadata.labels',
        valueAt(template, 'metadata', 'labels') ?? null,
        '`selector` does not match template `labels`',
      ),
    );
  }
  errors.push(...validateLabels(valueAt(template, 'metadata', 'labels'), 'spec.template.labels'));
  const claims = objectsAt(spec, 'volumeClaimTemplates').map((claim) => stringAt(claim, 'metadata', 'name') ?? '');
  errors.push(...validatePodSpec(objectAt(template, 'spec'), 'spec.template.spec', claims));
  const restartPolicy = stringAt(template, 'spec', 'restartPolicy');
  if (restartPolicy !== undefined && restartPolicy !== 'Always')
    errors.push(unsupportedField('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  return errors;
}

function validateStrategy(object: ApiObject): FieldError[] {
  const strategy = objectAt(object, 'spec', 'strategy');
  const rolling = objectAt(strategy, 'rollingUpdate');
  if (strategy?.['type'] === 'Recreate') {
    return rolling === undefined
      ? []
      : [forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (strategy?.['type'] !== 'RollingUpdate')
    return [unsupportedField('spec.strategy.type', strategy?.['type'] ?? '', ['Recreate', 'RollingUpdate'])];
  const errors: FieldError[] = [];
  const isZero = (value: unknown): boolean => value === 0 || value === '0%' || value === '0';
  for (const field of ['maxUnavailable', 'maxSurge']) {
    const value = rolling?.[field];
    const at = `spec.strategy.rollingUpdate.${field}`;
    if (typeof value === 'string' && !/^\d+%$/.test(value)) {
      errors.push(
        invalidField(
          at,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      );
    }
    if (typeof value === 'number' && value < 0)
      errors.push(invalidField(at, value, 'must be greater than or equal to 0'));
  }
  if (isZero(rolling?.['maxUnavailable']) && isZero(rolling?.['maxSurge'])) {
    errors.push(
      invalidField(
        'spec.strategy.rollingUpdate.maxUnavailable',
        rolling?.['maxUnavailable'],
        'may not be 0 when `maxSurge` is 0',
      ),
    );
  }
  return errors;
}

const selectorImmutable = (object: ApiObject, old: ApiObject): FieldError[] =>
  immutableField('spec.selector', valueAt(old, 'spec', 'selector'), valueAt(object, 'spec', 'selector'));

export const deploymentRules: TypeRules = {
  applyDefaults(object) {
    const spec = ensureObject(object, 'spec');
    setDefault(spec, 'replicas', 1);
    const strategy = ensureObject(spec, 'strategy');
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy['rollingUpdate'] === null) delete strategy['rollingUpdate'];
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate');
      setDefault(rolling, 'maxUnavailable', '25%');
      setDefault(rolling, 'maxSurge', '25%');
    }
    setDefault(spec, 'revisionHistoryLimit', 10);
    setDefault(spec, 'progressDeadlineSeconds', 600);
    defaultTemplate(spec);
  },
  prepareCreate(object) {
    object['status'] = {};
  },
  validateCreate: (object) => [...validateWorkload(object), ...validateStrategy(object)],
  validateUpdate: (object, old) => [
    ...validateWorkload(object),
    ...validateStrategy(object),
    ...selectorImmutable(object, old),
  ],
  validateStatusUpdate: () => [],
};

export const replicaSetRules: TypeRules = {
  applyDefaults(object) {
    const spec = ensureObject(object, 'spec');
    setDefault(spec, 'replicas', 1);
    defaultTemplate(spec);
  },
  prepareCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validateCreate: validateWorkload,
  validateUpdate: (object, old) => [...validateWorkload(object), ...selectorImmutable(object, old)],
  validateStatusUpdate: () => [],
  selectableFields: { 'status.replicas': (object) => textOf(valueAt(object, 'status', 'replicas') ?? 0) },
};

const STATEFUL_SET_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const statefulSetRules: TypeRules = {
  applyDefaults(object) {
    const spec = ensureObject(object, 'spec');
    setDefault(spec, 'podManagementPolicy', 'OrderedReady');
    const strategy = ensureObject(spec, 'updateStrategy');
    if (!strategy['type']) {
      strategy['type'] = 'RollingUpdate';
      ensureObject(strategy, 'rollingUpdate');
    }
    const rolling = objectAt(strategy, 'rollingUpdate');
    if (strategy['type'] === 'RollingUpdate' && rolling !== undefined) {
      setDefault(rolling, 'partition', 0);
      setDefault(rolling, 'maxUnavailable', 1);
    }
    const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy');
    setDefault(retention, 'whenDeleted', 'Retain');
    setDefault(retention, 'whenScaled', 'Retain');
    setDefault(spec, 'replicas', 1);
    setDefault(spec, 'revisionHistoryLimit', 10);
    setDefault(spec, 'serviceName', '');
    defaultTemplate(spec);
    for (const claim of objectsAt(spec, 'volumeClaimTemplates')) {
      setDefault(claim, 'apiVersion', 'v1');
      setDefault(claim, 'kind', 'PersistentVolumeClaim');
      const claimSpec = ensureObject(claim, 'spec');
      setDefault(claimSpec, 'volumeMode', 'Filesystem');
      canonicalQuantities(objectAt(claimSpec, 'resources', 'requests'));
      setDefault(ensureObject(claim, 'status'), 'phase', 'Pending');
    }
  },
  prepareCreate(object) {
    object['status'] = { replicas: 0, availableReplicas: 0 };
  },
  validateCreate: validateWorkload,
  validateUpdate(object, old) {
    const errors = validateWorkload(object);
    const before = cloneJson(objectAt(old, 'spec') ?? {});
    const after = cloneJson(objectAt(object, 'spec') ?? {});
    for (const field of STATEFUL_SET_MUTABLE) {
      delete before[field];
      delete after[field];
    }
    if (!equalJson(before, after)) {
      errors.push(
        forbiddenField(
          'spec',
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        ),
      );
    }
    return errors;
  },
  validateStatusUpdate: () => [],
};

/** A field of old versions that lives on as an annotation. Source: kubernetes pkg/registry/apps/daemonset/strategy.go. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const templateGeneration = (object: JsonObject): JsonObject =>
  ensureObject(ensureObject(object, 'metadata'), 'annotations');

export const daemonSetRules: TypeRules = {
  applyDefaults(object) {
    setDefault(templateGeneration(object), TEMPLATE_GENERATION, '0');
    const spec = ensureObject(object, 'spec');
    const strategy = ensureObject(spec, 'updateStrategy');
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate');
      setDefault(rolling, 'maxUnavailable', 1);
      setDefault(rolling, 'maxSurge', 0);
    }
    setDefault(spec, 'revisionHistoryLimit', 10);
    defaultTemplate(spec);
  },
  prepareCreate(object) {
    templateGeneration(object)[TEMPLATE_GENERATION] = '1';
    object['status'] = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  },
  prepareUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
    const isSame = equalJson(valueAt(old, 'spec', 'template'), valueAt(object, 'spec', 'template'));
    templateGeneration(object)[TEMPLATE_GENERATION] = String(isSame ? before : before + 1);
  },
  validateCreate: validateWorkload,
  validateUpdate: (object, old) => [...validateWorkload(object), ...selectorImmutable(object, old)],
  validateStatusUpdate: () => [],
};
