/** Validation of pod specs on create, in pods and templates. Source: kubernetes pkg/apis/core/validation/validation.go. */
import { parseQuantity, tryParseQuantity } from '../../../lib/quantity.ts';
import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  unsupportedField,
  unsupportedInOrder,
} from '../field-errors.ts';
import { type JsonObject, objectAt, objectsAt, stringAt, textOf } from '../json.ts';
import { dnsLabelProblem, validateLabels } from '../object-meta.ts';
import { validateInitContainer } from './init-containers.ts';
import { portNameProblems, validateProbes } from './probe-validation.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** Zero is an amount; only negative ones are refused. */
function validateAmounts(list: JsonObject | undefined, path: string): FieldError[] {
  return Object.entries(list ?? {}).flatMap(([name, value]) => {
    const quantity = tryParseQuantity(textOf(value));
    if (quantity === undefined)
      return [
        invalidField(
          `${path}[${name}]`,
          value,
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
      ];
    return quantity.nanos < 0n ? [invalidField(`${path}[${name}]`, value, NOT_NEGATIVE)] : [];
  });
}

/** Errors of a `resources` member: bad or negative amounts, requests above limits. */
export function validateResources(resources: JsonObject | undefined, path: string): FieldError[] {
  const limits = objectAt(resources, 'limits');
  const requests = objectAt(resources, 'requests');
  const errors = [...validateAmounts(limits, `${path}.limits`), ...validateAmounts(requests, `${path}.requests`)];
  if (errors.length > 0 || limits === undefined) return errors;
  for (const [name, value] of Object.entries(requests ?? {})) {
    const limit = limits[name];
    if (limit === undefined) continue;
    if (parseQuantity(textOf(value)).nanos > parseQuantity(textOf(limit)).nanos) {
      errors.push(
        invalidField(`${path}.requests`, value, `must be less than or equal to ${name} limit of ${textOf(limit)}`),
      );
    }
  }
  return errors;
}

function validatePorts(container: JsonObject, path: string): FieldError[] {
  const names = new Set<string>();
  return objectsAt(container, 'ports').flatMap((port, index) => {
    const errors: FieldError[] = [];
    const at = `${path}.ports[${index}]`;
    const number = port['containerPort'];
    if (number === undefined || number === 0) errors.push(requiredField(`${at}.containerPort`));
    else if (typeof number !== 'number' || number < 1 || number > 65_535)
      errors.push(invalidField(`${at}.containerPort`, number, 'must be between 1 and 65535, inclusive'));
    const protocol = stringAt(port, 'protocol') ?? '';
    if (!PROTOCOLS.includes(protocol)) errors.push(unsupportedField(`${at}.protocol`, protocol, PROTOCOLS));
    const name = stringAt(port, 'name') || undefined;
    const problems = name === undefined ? [] : portNameProblems(name);
    if (problems.length > 0) {
      errors.push(...problems.map((problem) => invalidField(`${at}.name`, name, problem)));
      return errors;
    }
    if (name !== undefined && names.has(name)) errors.push(duplicateField(`${at}.name`, name));
    if (name !== undefined) names.add(name);
    return errors;
  });
}

function validateContainer(
  container: JsonObject,
  path: string,
  names: Set<string>,
  volumes: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = stringAt(container, 'name') ?? '';
  if (name === '') errors.push(requiredField(`${path}.name`));
  else {
    const problem = dnsLabelProblem(name);
    if (problem !== undefined) errors.push(invalidField(`${path}.name`, name, problem));
    if (names.has(name)) errors.push(duplicateField(`${path}.name`, name));
    names.add(name);
  }
  const image = stringAt(container, 'image') ?? '';
  if (image === '') errors.push(requiredField(`${path}.image`));
  else if (image.trim() !== image)
    errors.push(invalidField(`${path}.image`, image, 'must not have leading or trailing whitespace'));
  const policy = stringAt(container, 'imagePullPolicy') ?? '';
  if (!PULL_POLICIES.includes(policy)) errors.push(unsupportedField(`${path}.imagePullPolicy`, policy, PULL_POLICIES));
  errors.push(
    ...validatePorts(container, path),
    ...validateResources(objectAt(container, 'resources'), `${path}.resources`),
  );
  objectsAt(container, 'env').forEach((variable, index) => {
    const variableName = stringAt(variable, 'name') ?? '';
    if (variableName === '') errors.push(requiredField(`${path}.env[${index}].name`));
    else if (!/^[ -<>-~]+$/.test(variableName))
      errors.push(
        invalidField(
          `${path}.env[${index}].name`,
          variableName,
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
      );
    if (variable['value'] && variable['valueFrom']) {
      errors.push(
        invalidField(`${path}.env[${index}].valueFrom`, '', 'may not be specified when `value` is not empty'),
      );
    }
  });
  const mounts = new Set<string>();
  objectsAt(container, 'volumeMounts').forEach((mount, index) => {
    const at = `${path}.volumeMounts[${index}]`;
    const volume = stringAt(mount, 'name') ?? '';
    const mountPath = stringAt(mount, 'mountPath') ?? '';
    if (volume === '') errors.push(requiredField(`${at}.name`));
    else if (!volumes.has(volume))
      errors.push({
        reason: 'FieldValueInvalid',
        field: `${at}.name`,
        message: `Not found: ${JSON.stringify(volume)}`,
      });
    if (mountPath === '') errors.push(requiredField(`${at}.mountPath`));
    else if (mounts.has(mountPath)) errors.push(invalidField(`${at}.mountPath`, mountPath, 'must be unique'));
    mounts.add(mountPath);
  });
  const resizePolicies = objectsAt(container, 'resizePolicy');
  resizePolicies.forEach((policyEntry, index) => {
    const at = `${path}.resizePolicy[${index}]`;
    const resource = stringAt(policyEntry, 'resourceName') ?? '';
    const restart = stringAt(policyEntry, 'restartPolicy') ?? '';
    if (resource !== 'cpu' && resource !== 'memory')
      errors.push(unsupportedField(`${path}.resizePolicy`, resource, ['cpu', 'memory']));
    if (restart !== 'NotRequired' && restart !== 'RestartContainer')
      errors.push(unsupportedField(`${at}.restartPolicy`, restart, ['NotRequired', 'RestartContainer']));
  });
  return errors;
}

/** A container that is never restarted is not restarted to be resized. */
function restartingResizes(container: JsonObject, path: string): FieldError[] {
  return objectsAt(container, 'resizePolicy')
    .filter(({ restartPolicy }) => restartPolicy === 'RestartContainer')
    .map(({ restartPolicy }) =>
      invalidField(`${path}.resizePolicy`, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"),
    );
}

/** Errors of a pod spec; `extraVolumes` are those a StatefulSet's claim templates will add. */
export function validatePodSpec(
  spec: JsonObject | undefined,
  path: string,
  extraVolumes: readonly string[] = [],
): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = new Set<string>(extraVolumes);
  objectsAt(spec, 'volumes').forEach((volume, index) => {
    const name = stringAt(volume, 'name') ?? '';
    const problem = name === '' ? undefined : dnsLabelProblem(name);
    if (name === '') errors.push(requiredField(`${path}.volumes[${index}].name`));
    else if (problem !== undefined) errors.push(invalidField(`${path}.volumes[${index}].name`, name, problem));
    else if (volumes.has(name) && !extraVolumes.includes(name))
      errors.push(duplicateField(`${path}.volumes[${index}].name`, name));
    volumes.add(name);
  });
  const names = new Set<string>();
  const containers = objectsAt(spec, 'containers');
  if (containers.length === 0) errors.push(requiredField(`${path}.containers`));
  for (const list of ['containers', 'initContainers']) {
    objectsAt(spec, list).forEach((container, index) => {
      const at = `${path}.${list}[${index}]`;
      errors.push(...validateContainer(container, at, names, volumes));
      if (stringAt(spec, 'restartPolicy') === 'Never' && container['restartPolicy'] !== 'Always')
        errors.push(...restartingResizes(container, at));
      errors.push(
        ...(list === 'initContainers' ? validateInitContainer(container, at) : validateProbes(container, at)),
      );
    });
  }
  const restartPolicy = stringAt(spec, 'restartPolicy') ?? '';
  if (!RESTART_POLICIES.includes(restartPolicy))
    errors.push(unsupportedInOrder(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  const dnsPolicy = stringAt(spec, 'dnsPolicy') ?? '';
  if (!DNS_POLICIES.includes(dnsPolicy)) errors.push(unsupportedInOrder(`${path}.dnsPolicy`, dnsPolicy, DNS_POLICIES));
  const grace = spec?.['terminationGracePeriodSeconds'];
  if (typeof grace === 'number' && grace < 0)
    errors.push(invalidField(`${path}.terminationGracePeriodSeconds`, grace, NOT_NEGATIVE));
  errors.push(...validateLabels(spec?.['nodeSelector'], `${path}.nodeSelector`));
  errors.push(...validateTolerations(spec, path), ...validateNodeAffinity(spec, path));
  const podResources = objectAt(spec, 'resources');
  if (podResources !== undefined) errors.push(...validateResources(podResources, `${path}.resources`));
  return errors;
}

function validateTolerations(spec: JsonObject | undefined, path: string): FieldError[] {
  return objectsAt(spec, 'tolerations').flatMap((toleration, index) => {
    const at = `${path}.tolerations[${index}]`;
    const operator = stringAt(toleration, 'operator') ?? '';
    const errors: FieldError[] = [];
    if (!toleration['key'] && operator !== 'Exists') {
      errors.push(
        invalidField(
          `${at}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (!['', 'Equal', 'Exists', 'Lt', 'Gt'].includes(operator))
      errors.push(unsupportedField(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (operator === 'Exists' && toleration['value'])
      errors.push(
        invalidField(`${at}.operator`, toleration['value'], "value must be empty when `operator` is 'Exists'"),
      );
    if (toleration['tolerationSeconds'] !== undefined && toleration['effect'] !== 'NoExecute') {
      errors.push(
        invalidField(
          `${at}.effect`,
          toleration['effect'] ?? '',
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    }
    return errors;
  });
}

const NODE_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

function validateNodeAffinity(spec: JsonObject | undefined, path: string): FieldError[] {
  const affinity = objectAt(spec, 'affinity', 'nodeAffinity');
  const errors: FieldError[] = [];
  const checkTerm = (term: JsonObject, at: string): void => {
    objectsAt(term, 'matchExpressions').forEach((expression, index) => {
      const where = `${at}.matchExpressions[${index}]`;
      const operator = stringAt(expression, 'operator') ?? '';
      const values = Array.isArray(expression['values']) ? expression['values'] : [];
      if (!NODE_OPERATORS.includes(operator))
        errors.push(invalidField(`${where}.operator`, operator, 'not a valid selector operator'));
      if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
        errors.push(requiredField(`${where}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
        errors.push({
          reason: 'FieldValueForbidden',
          field: `${where}.values`,
          message: "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        });
      }
    });
  };
  const base = `${path}.affinity.nodeAffinity`;
  const required = objectAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
  if (required !== undefined) {
    const terms = objectsAt(required, 'nodeSelectorTerms');
    const at = `${base}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    if (terms.length === 0) errors.push(requiredField(at, 'must have at least one node selector term'));
    for (const [index, term] of terms.entries()) checkTerm(term, `${at}[${index}]`);
  }
  objectsAt(affinity, 'preferredDuringSchedulingIgnoredDuringExecution').forEach((preferred, index) => {
    const at = `${base}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    const weight = preferred['weight'];
    if (typeof weight !== 'number' || weight < 1 || weight > 100)
      errors.push(invalidField(`${at}.weight`, weight ?? 0, 'must be in the range 1-100'));
    const preference = objectAt(preferred, 'preference');
    if (preference !== undefined) checkTerm(preference, `${at}.preference`);
  });
  return errors;
}
