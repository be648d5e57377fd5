/** The rules of nodes, namespaces, volumes claims, secrets, budgets and leases. */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../field-errors.ts';
import {
  cloneJson,
  ensureObject,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  setDefault,
  stringAt,
  valueAt,
} from '../json.ts';
import { immutableField } from '../object-meta.ts';
import type { TypeRules } from '../served-type.ts';
import { canonicalQuantities } from './pod-defaults.ts';
import { validateSelector } from './workload.ts';

const NOT_READY_TAINT = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

function defaultNode(node: JsonObject): void {
  const status = objectAt(node, 'status');
  if (status === undefined) return;
  canonicalQuantities(objectAt(status, 'capacity'));
  canonicalQuantities(objectAt(status, 'allocatable'));
  const capacity = objectAt(status, 'capacity');
  if (capacity !== undefined && status['allocatable'] === undefined) status['allocatable'] = cloneJson(capacity);
}

export const nodeRules: TypeRules = {
  applyDefaults(node) {
    ensureObject(node, 'spec');
    defaultNode(node);
  },
  prepareCreate(node) {
    // Admission plug-in TaintNodesByCondition: a new node takes no pods before it has reported itself ready.
    const spec = ensureObject(node, 'spec');
    const taints = objectsAt(spec, 'taints');
    if (!taints.some((taint) => taint['key'] === NOT_READY_TAINT.key && taint['effect'] === NOT_READY_TAINT.effect)) {
      spec['taints'] = [...taints, { ...NOT_READY_TAINT }];
    }
  },
  validateUpdate: (node, old) => {
    const before = stringAt(old, 'spec', 'providerID');
    const after = stringAt(node, 'spec', 'providerID');
    return before && before !== after
      ? [
          {
            reason: 'FieldValueForbidden',
            field: 'spec.providerID',
            message: 'Forbidden: node updates may not change providerID except from "" to valid',
          },
        ]
      : [];
  },
  validateStatusUpdate: () => [],
  selectableFields: { 'spec.unschedulable': (node) => String(valueAt(node, 'spec', 'unschedulable') === true) },
};

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** A namespace is labelled with its own name, so that selectors can name it (KEP-2161). */
export const namespaceRules: TypeRules = {
  applyDefaults(namespace) {
    const metadata = ensureObject(namespace, 'metadata');
    const name = stringAt(metadata, 'name');
    if (name === undefined || stringAt(metadata, 'labels', NAME_LABEL) === name) return;
    metadata['labels'] = { ...objectAt(metadata, 'labels'), [NAME_LABEL]: name };
  },
  prepareCreate(namespace) {
    namespace['status'] = { phase: 'Active' };
    ensureObject(namespace, 'spec')['finalizers'] = ['kubernetes'];
  },
  prepareUpdate(namespace, old) {
    // Only the finalize subresource may release a namespace.
    const finalizers = valueAt(old, 'spec', 'finalizers');
    if (finalizers !== undefined) ensureObject(namespace, 'spec')['finalizers'] = cloneJson(finalizers);
  },
  validateStatusUpdate: () => [],
  subresourceUpdates: {
    finalize: {
      prepare(namespace, old) {
        const finalizers = valueAt(namespace, 'spec', 'finalizers') ?? [];
        namespace.metadata = cloneJson(old.metadata);
        namespace['spec'] = { ...cloneJson(objectAt(old, 'spec') ?? {}), finalizers };
      },
      validate: () => [],
    },
  },
  selectableFields: { 'status.phase': (namespace) => stringAt(namespace, 'status', 'phase') ?? '' },
};

/** `stringData` is written into `data` and never read back. */
export const secretRules: TypeRules = {
  applyDefaults(secret) {
    setDefault(secret, 'type', 'Opaque');
    const plain = objectAt(secret, 'stringData');
    if (plain === undefined) return;
    const data = ensureObject(secret, 'data');
    for (const [key, value] of Object.entries(plain))
      if (typeof value === 'string') data[key] = Buffer.from(value).toString('base64');
    delete secret['stringData'];
  },
  validateCreate: (secret) => validateSecretData(secret),
  validateUpdate: (secret, old) => [
    ...validateSecretData(secret),
    ...immutableField('type', old['type'], secret['type']),
    ...(old['immutable'] === true ? immutableField('data', old['data'], secret['data']) : []),
  ],
  selectableFields: { type: (secret) => stringAt(secret, 'type') ?? '' },
};

function validateSecretData(secret: JsonObject): FieldError[] {
  return Object.keys(objectAt(secret, 'data') ?? {}).flatMap((key) =>
    /^[-._a-zA-Z0-9]+$/.test(key)
      ? []
      : [
          invalidField(
            `data[${key}]`,
            key,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
          ),
        ],
  );
}

export const configMapRules: TypeRules = {
  validateUpdate: (map, old) =>
    old['immutable'] === true
      ? [
          ...immutableField('data', old['data'], map['data']),
          ...immutableField('binaryData', old['binaryData'], map['binaryData']),
        ]
      : [],
};

/** Binding is the volume binder's; a claim starts as Pending. */
export const persistentVolumeClaimRules: TypeRules = {
  applyDefaults(claim) {
    const spec = ensureObject(claim, 'spec');
    setDefault(spec, 'volumeMode', 'Filesystem');
    canonicalQuantities(objectAt(spec, 'resources', 'requests'));
  },
  prepareCreate(claim) {
    claim['status'] = { phase: 'Pending' };
  },
  validateStatusUpdate: () => [],
};

export const persistentVolumeRules: TypeRules = {
  applyDefaults(volume) {
    const spec = ensureObject(volume, 'spec');
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    setDefault(spec, 'volumeMode', 'Filesystem');
    canonicalQuantities(objectAt(spec, 'capacity'));
  },
  prepareCreate(volume) {
    volume['status'] = { phase: 'Pending' };
  },
  validateStatusUpdate: () => [],
};

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function validateBudget(budget: JsonObject): FieldError[] {
  const spec = objectAt(budget, 'spec') ?? {};
  const errors: FieldError[] = [];
  const { minAvailable, maxUnavailable } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.push(invalidField('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (typeof value === 'number' && value < 0)
      errors.push(invalidField(`spec.${field}`, value, 'must be greater than or equal to 0'));
    if (typeof value !== 'string') continue;
    if (!/^\d+%$/.test(value)) {
      errors.push(
        invalidField(
          `spec.${field}`,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      );
    } else if (Number(value.slice(0, -1)) > 100)
      errors.push(invalidField(`spec.${field}`, value, 'must not be greater than 100%'));
  }
  const policy = spec['unhealthyPodEvictionPolicy'];
  if (policy !== undefined && (typeof policy !== 'string' || !EVICTION_POLICIES.includes(policy))) {
    errors.push(unsupportedField('spec.unhealthyPodEvictionPolicy', policy, EVICTION_POLICIES));
  }
  return [...errors, ...validateSelector(objectAt(spec, 'selector'), 'spec.selector')];
}

export const podDisruptionBudgetRules: TypeRules = {
  applyDefaults: (budget) => void ensureObject(budget, 'spec'),
  prepareCreate(budget) {
    budget['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validateCreate: validateBudget,
  validateUpdate: (budget) => validateBudget(budget),
  validateStatusUpdate: () => [],
};

function validateLease(lease: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const duration = numberAt(lease, 'spec', 'leaseDurationSeconds');
  if (duration !== undefined && duration <= 0)
    errors.push(invalidField('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  const transitions = numberAt(lease, 'spec', 'leaseTransitions');
  if (transitions !== undefined && transitions < 0)
    errors.push(invalidField('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  return errors;
}

export const leaseRules: TypeRules = {
  applyDefaults: (lease) => void ensureObject(lease, 'spec'),
  validateCreate: validateLease,
  validateUpdate: (lease) => validateLease(lease),
};

export const storageClassRules: TypeRules = {
  applyDefaults(storageClass) {
    setDefault(storageClass, 'reclaimPolicy', 'Delete');
    setDefault(storageClass, 'volumeBindingMode', 'Immediate');
  },
  validateCreate: (storageClass) => (storageClass['provisioner'] ? [] : [requiredField('provisioner')]),
  validateUpdate: (storageClass, old) => [
    ...(storageClass['provisioner'] ? [] : [requiredField('provisioner')]),
    ...['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
      immutableField(field, old[field], storageClass[field]),
    ),
  ],
};

/** For mutating and validating configurations alike, but for reinvocation. */
export const webhookConfigurationRules: TypeRules = {
  applyDefaults(configuration) {
    for (const hook of objectsAt(configuration, 'webhooks')) {
      setDefault(hook, 'failurePolicy', 'Fail');
      setDefault(hook, 'matchPolicy', 'Equivalent');
      setDefault(hook, 'namespaceSelector', {});
      setDefault(hook, 'objectSelector', {});
      setDefault(hook, 'timeoutSeconds', 10);
      if (configuration['kind'] === 'MutatingWebhookConfiguration') setDefault(hook, 'reinvocationPolicy', 'Never');
      for (const rule of objectsAt(hook, 'rules')) setDefault(rule, 'scope', '*');
      const service = objectAt(hook, 'clientConfig', 'service');
      if (service !== undefined) setDefault(service, 'port', 443);
    }
  },
  validateCreate: (configuration) => validateWebhooks(configuration),
  validateUpdate: (configuration) => validateWebhooks(configuration),
};

function validateWebhooks(configuration: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  objectsAt(configuration, 'webhooks').forEach((hook, index) => {
    const at = `webhooks[${index}]`;
    const name = stringAt(hook, 'name') ?? '';
    if (name.split('.').length < 3)
      errors.push(
        invalidField(`${at}.name`, name, 'should be a domain with at least three segments separated by dots'),
      );
    const timeout = numberAt(hook, 'timeoutSeconds') ?? 10;
    if (timeout < 1 || timeout > 30)
      errors.push(invalidField(`${at}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds'));
    const client = objectAt(hook, 'clientConfig');
    if (client === undefined || (client['url'] === undefined) === !isObject(client['service']))
      errors.push(requiredField(`${at}.clientConfig`, 'exactly one of url or service is required'));
    const url = stringAt(client, 'url');
    if (url !== undefined && !url.startsWith('https://'))
      errors.push(invalidField(`${at}.clientConfig.url`, url, "'https' is the only allowed URL scheme"));
    if (!['None', 'NoneOnDryRun'].includes(stringAt(hook, 'sideEffects') ?? ''))
      errors.push(unsupportedField(`${at}.sideEffects`, stringAt(hook, 'sideEffects') ?? '', ['None', 'NoneOnDryRun']));
    if (!Array.isArray(hook['admissionReviewVersions']) || hook['admissionReviewVersions'].length === 0)
      errors.push(requiredField(`${at}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
  });
  return errors;
}
