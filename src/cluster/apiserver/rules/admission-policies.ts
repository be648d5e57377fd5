/**
 * The rules of ValidatingAdmissionPolicies and their bindings.
 * Source: kubernetes pkg/apis/admissionregistration/v1/defaults.go and validation/validation.go.
 */
import { checkExpression, type Declared } from '../cel/check-expression.ts';
import { CelSyntaxError, parseCel } from '../cel/expression.ts';
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../field-errors.ts';
import { ensureObject, type JsonObject, objectAt, objectsAt, setDefault, stringAt, stringsAt } from '../json.ts';
import type { TypeRules } from '../served-type.ts';

function defaultMatch(match: JsonObject | undefined): void {
  if (match === undefined) return;
  setDefault(match, 'matchPolicy', 'Equivalent');
  setDefault(match, 'namespaceSelector', {});
  setDefault(match, 'objectSelector', {});
  for (const list of ['resourceRules', 'excludeResourceRules'])
    for (const rule of objectsAt(match, list)) setDefault(rule, 'scope', '*');
}

const NAMES = ['object', 'oldObject', 'request', 'namespaceObject'];

/** What this server cannot read it would not enforce: it is refused, even where the real one knows it. */
function expressionErrors(holder: JsonObject, field: string, path: string, declared: Declared): FieldError[] {
  const text = stringAt(holder, field) ?? '';
  if (text.trim() === '') return [];
  try {
    checkExpression(parseCel(text), declared);
    return [];
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return [invalidField(`${path}.${field}`, text, `compilation failed: ERROR: ${error.message}`)];
  }
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];

function validatePolicy(policy: JsonObject): FieldError[] {
  const spec = objectAt(policy, 'spec') ?? {};
  const errors: FieldError[] = [];
  if (objectAt(spec, 'paramKind') !== undefined)
    errors.push(forbiddenField('spec.paramKind', 'the embedded API server judges by no parameters'));
  if (objectAt(spec, 'matchConstraints') === undefined) errors.push(requiredField('spec.matchConstraints'));
  else if (objectsAt(spec, 'matchConstraints', 'resourceRules').length === 0)
    errors.push(requiredField('spec.matchConstraints.resourceRules'));
  objectsAt(spec, 'matchConditions').forEach((condition, index) => {
    errors.push(
      ...expressionErrors(condition, 'expression', `spec.matchConditions[${index}]`, { names: new Set(NAMES) }),
    );
  });
  const variables = new Set<string>();
  const declared = { names: new Set([...NAMES, 'variables']), variables };
  objectsAt(spec, 'variables').forEach((variable, index) => {
    errors.push(...expressionErrors(variable, 'expression', `spec.variables[${index}]`, declared));
    variables.add(stringAt(variable, 'name') ?? '');
  });
  const validations = objectsAt(spec, 'validations');
  if (validations.length === 0 && objectsAt(spec, 'auditAnnotations').length === 0)
    errors.push(requiredField('spec.validations', 'validations or auditAnnotations must contain at least one item'));
  validations.forEach((validation, index) => {
    const path = `spec.validations[${index}]`;
    if ((stringAt(validation, 'expression') ?? '').trim() === '')
      errors.push(requiredField(`${path}.expression`, 'expression is not specified'));
    errors.push(...expressionErrors(validation, 'expression', path, declared));
    errors.push(...expressionErrors(validation, 'messageExpression', path, declared));
    const reason = stringAt(validation, 'reason');
    if (reason !== undefined && !REASONS.includes(reason))
      errors.push(unsupportedField(`${path}.reason`, reason, REASONS));
  });
  return errors;
}

export const admissionPolicyRules: TypeRules = {
  applyDefaults(policy) {
    const spec = ensureObject(policy, 'spec');
    setDefault(spec, 'failurePolicy', 'Fail');
    defaultMatch(objectAt(spec, 'matchConstraints'));
  },
  validateCreate: validatePolicy,
  validateUpdate: (policy) => validatePolicy(policy),
  validateStatusUpdate: () => [],
};

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function validateBinding(binding: JsonObject): FieldError[] {
  const actions = stringsAt(binding, 'spec', 'validationActions');
  const errors: FieldError[] = [];
  if (!stringAt(binding, 'spec', 'policyName')) errors.push(requiredField('spec.policyName'));
  if (actions.length === 0) errors.push(requiredField('spec.validationActions'));
  for (const [index, action] of actions.entries())
    if (!ACTIONS.includes(action)) errors.push(unsupportedField(`spec.validationActions[${index}]`, action, ACTIONS));
  if (actions.includes('Deny') && actions.includes('Warn'))
    errors.push(
      invalidField(
        'spec.validationActions',
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  return errors;
}

export const admissionPolicyBindingRules: TypeRules = {
  applyDefaults: (binding) => defaultMatch(objectAt(binding, 'spec', 'matchResources')),
  validateCreate: validateBinding,
  validateUpdate: (binding) => validateBinding(binding),
};
