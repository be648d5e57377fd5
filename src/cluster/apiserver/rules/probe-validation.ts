/** Probes and hooks of containers. Source: kubernetes pkg/apis/core/validation/validation.go `validateHandler`, `validateProbe`, `validateLifecycle`. */
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../field-errors.ts';
import { type Json, type JsonObject, numberAt, objectAt, stringAt, valueAt } from '../json.ts';

/** Source: apimachinery pkg/util/validation `IsValidPortName`. */
export function portNameProblems(name: string): string[] {
  return [
    ...(name.length > 15 ? ['must be no more than 15 characters'] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
  ];
}

function validatePort(port: Json | undefined, path: string): FieldError[] {
  if (typeof port === 'string') return portNameProblems(port).map((problem) => invalidField(path, port, problem));
  const number = typeof port === 'number' ? port : 0;
  return number >= 1 && number <= 65_535 ? [] : [invalidField(path, number, 'must be between 1 and 65535, inclusive')];
}

const SCHEMES = ['HTTP', 'HTTPS'];

function validateHttpGet(action: JsonObject, path: string): FieldError[] {
  const scheme = stringAt(action, 'scheme') ?? '';
  return [
    ...(stringAt(action, 'path') ? [] : [requiredField(`${path}.path`)]),
    ...validatePort(action['port'], `${path}.port`),
    ...(SCHEMES.includes(scheme) ? [] : [unsupportedField(`${path}.scheme`, scheme, SCHEMES)]),
  ];
}

function validateExec(action: JsonObject, path: string): FieldError[] {
  const command = action['command'];
  return Array.isArray(command) && command.length > 0 ? [] : [requiredField(`${path}.command`)];
}

const onPort = (action: JsonObject, path: string): FieldError[] => validatePort(action['port'], `${path}.port`);

const HANDLERS: readonly (readonly [name: string, validate: (action: JsonObject, path: string) => FieldError[]])[] = [
  ['exec', validateExec],
  ['httpGet', validateHttpGet],
  ['tcpSocket', onPort],
  ['grpc', onPort],
  ['sleep', () => []],
];

/** One way to ask or to tell the container, and no second. */
function validateHandler(handler: JsonObject, path: string): FieldError[] {
  const given = HANDLERS.filter(([name]) => objectAt(handler, name) !== undefined);
  const [first, ...more] = given;
  if (first === undefined) return [requiredField(path, 'must specify a handler type')];
  const [name, validate] = first;
  return [
    ...validate(objectAt(handler, name) ?? {}, `${path}.${name}`),
    ...more.map(([another]) => forbiddenField(`${path}.${another}`, 'may not specify more than 1 handler type')),
  ];
}

const COUNTS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

function validateProbe(probe: JsonObject, path: string): FieldError[] {
  const errors = validateHandler(probe, path);
  for (const name of COUNTS) {
    const count = numberAt(probe, name) ?? 0;
    if (count < 0) errors.push(invalidField(`${path}.${name}`, count, 'must be greater than or equal to 0'));
  }
  const grace = numberAt(probe, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace <= 0)
    errors.push(invalidField(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
  return errors;
}

/** Of a probe whose failure ends the container. */
function validateEndingProbe(probe: JsonObject, path: string): FieldError[] {
  const successes = numberAt(probe, 'successThreshold') ?? 0;
  const once = successes === 1 ? [] : [invalidField(`${path}.successThreshold`, successes, 'must be 1')];
  return [...validateProbe(probe, path), ...once];
}

function validateReadinessProbe(probe: JsonObject, path: string): FieldError[] {
  const grace = valueAt(probe, 'terminationGracePeriodSeconds');
  const none =
    grace === undefined
      ? []
      : [invalidField(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')];
  return [...validateProbe(probe, path), ...none];
}

/** Errors of what a container is asked and told while it runs. */
export function validateProbes(container: JsonObject, path: string): FieldError[] {
  const at = (
    validate: (part: JsonObject, path: string) => FieldError[],
    ...keys: readonly string[]
  ): readonly FieldError[] => {
    const part = objectAt(container, ...keys);
    return part === undefined ? [] : validate(part, `${path}.${keys.join('.')}`);
  };
  return [
    ...at(validateHandler, 'lifecycle', 'postStart'),
    ...at(validateHandler, 'lifecycle', 'preStop'),
    ...at(validateEndingProbe, 'livenessProbe'),
    ...at(validateReadinessProbe, 'readinessProbe'),
    ...at(validateEndingProbe, 'startupProbe'),
  ];
}
