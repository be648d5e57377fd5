/** Validation of custom resources by their structural schema. Source: apiextensions-apiserver pkg/apiserver/validation; texts of go-openapi/validate. */
import { evaluateCel } from '../cel/evaluate.ts';
import { parseCel } from '../cel/expression.ts';
import { type FieldError, invalidField, requiredField, tooLongField, unsupportedInOrder } from '../field-errors.ts';
import {
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  textOf,
} from '../json.ts';

/** Longest pattern taken from a schema. */
const MAX_PATTERN = 1_000;

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function isOfType(value: Json, wanted: string): boolean {
  const found = typeOf(value);
  return found === wanted || (wanted === 'number' && found === 'integer');
}

/** Errors of `value`; `old` is what it was before an update, for transition rules. */
export function validateBySchema(
  value: Json | undefined,
  schema: JsonObject | undefined,
  path: string,
  old?: Json,
): FieldError[] {
  if (schema === undefined || value === undefined) return [];
  if (value === null)
    return schema['nullable'] === true || schema['type'] === undefined
      ? []
      : [typeError(value, stringAt(schema, 'type') ?? '', path)];
  const type = stringAt(schema, 'type');
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  if (
    isIntOrString
      ? !isOfType(value, 'integer') && typeof value !== 'string'
      : type !== undefined && !isOfType(value, type)
  ) {
    return [typeError(value, isIntOrString ? 'integer or string' : (type ?? ''), path)];
  }
  const errors: FieldError[] = [];
  const allowed = schema['enum'];
  if (Array.isArray(allowed) && !allowed.some((item) => equalJson(item, value)))
    errors.push(
      unsupportedInOrder(
        path,
        value,
        allowed.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))),
      ),
    );
  if (typeof value === 'number') errors.push(...numberErrors(value, schema, path));
  if (typeof value === 'string') errors.push(...textErrors(value, schema, path));
  if (Array.isArray(value)) errors.push(...listErrors(value, schema, path, old));
  if (isObject(value)) errors.push(...objectErrors(value, schema, path, old));
  errors.push(...combinationErrors(value, schema, path));
  // Rules may rely on the shape, so they run only on values that have it.
  if (errors.length === 0) errors.push(...ruleErrors(value, schema, path, old));
  return errors;
}

function typeError(value: Json, wanted: string, path: string): FieldError {
  const found = typeOf(value);
  return {
    reason: 'FieldValueTypeInvalid',
    field: path,
    message: `Invalid value: ${JSON.stringify(found)}: ${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`,
  };
}

function numberErrors(value: number, schema: JsonObject, path: string): FieldError[] {
  const { minimum, maximum, multipleOf } = {
    minimum: numberAt(schema, 'minimum'),
    maximum: numberAt(schema, 'maximum'),
    multipleOf: numberAt(schema, 'multipleOf'),
  };
  const errors: FieldError[] = [];
  const exclusiveMinimum = schema['exclusiveMinimum'] === true;
  const exclusiveMaximum = schema['exclusiveMaximum'] === true;
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum && value === minimum))) {
    errors.push(
      invalidField(
        path,
        value,
        `${path} in body should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`,
      ),
    );
  }
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum && value === maximum))) {
    errors.push(
      invalidField(
        path,
        value,
        `${path} in body should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`,
      ),
    );
  }
  if (multipleOf !== undefined && value % multipleOf !== 0)
    errors.push(invalidField(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  return errors;
}

function textErrors(value: string, schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { minLength, maxLength, pattern } = {
    minLength: numberAt(schema, 'minLength'),
    maxLength: numberAt(schema, 'maxLength'),
    pattern: stringAt(schema, 'pattern'),
  };
  const length = Array.from(value).length;
  if (minLength !== undefined && length < minLength)
    errors.push(invalidField(path, value, `${path} in body should be at least ${minLength} chars long`));
  if (maxLength !== undefined && length > maxLength) errors.push(tooLongField(path, maxLength));
  if (pattern !== undefined && pattern.length <= MAX_PATTERN && !new RegExp(pattern, 'u').test(value))
    errors.push(invalidField(path, value, `${path} in body should match '${pattern}'`));
  if (schema['format'] === 'date-time' && Number.isNaN(Date.parse(value)))
    errors.push(invalidField(path, value, `${path} in body must be of type date-time: ${JSON.stringify(value)}`));
  return errors;
}

function listErrors(value: readonly Json[], schema: JsonObject, path: string, old: Json | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const { minItems, maxItems } = { minItems: numberAt(schema, 'minItems'), maxItems: numberAt(schema, 'maxItems') };
  if (minItems !== undefined && value.length < minItems)
    errors.push(invalidField(path, value.length, `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && value.length > maxItems)
    errors.push({
      reason: 'FieldValueInvalid',
      field: path,
      message: `Too many: ${value.length}: must have at most ${maxItems} items`,
    });
  const items = objectAt(schema, 'items');
  const keys = schema['x-kubernetes-list-map-keys'];
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const id =
      schema['x-kubernetes-list-type'] === 'set'
        ? JSON.stringify(item)
        : Array.isArray(keys) && isObject(item)
          ? JSON.stringify(keys.map((key) => item[textOf(key)] ?? null))
          : undefined;
    if (id !== undefined && seen.has(id))
      errors.push({
        reason: 'FieldValueDuplicate',
        field: `${path}[${index}]`,
        message: `Duplicate value: ${isObject(item) ? JSON.stringify(Object.fromEntries((Array.isArray(keys) ? keys : []).map((key) => [key, item[textOf(key)] ?? null]))) : id}`,
      });
    if (id !== undefined) seen.add(id);
    const before =
      Array.isArray(old) && Array.isArray(keys) && isObject(item)
        ? old.find(
            (candidate) => isObject(candidate) && keys.every((key) => candidate[textOf(key)] === item[textOf(key)]),
          )
        : undefined;
    errors.push(...validateBySchema(item, items, `${path}[${index}]`, before));
  });
  return errors;
}

function objectErrors(value: JsonObject, schema: JsonObject, path: string, old: Json | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const key of required) if (value[textOf(key)] === undefined) errors.push(requiredField(at(textOf(key))));
  const properties = objectAt(schema, 'properties') ?? {};
  const additional = objectAt(schema, 'additionalProperties');
  for (const [key, member] of Object.entries(value)) {
    errors.push(
      ...validateBySchema(
        member,
        objectAt(properties, key) ?? additional,
        at(key),
        isObject(old) ? old[key] : undefined,
      ),
    );
  }
  const count = Object.keys(value).length;
  const { minProperties, maxProperties } = {
    minProperties: numberAt(schema, 'minProperties'),
    maxProperties: numberAt(schema, 'maxProperties'),
  };
  if (minProperties !== undefined && count < minProperties)
    errors.push(invalidField(path, count, `${path} in body should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && count > maxProperties)
    errors.push({
      reason: 'FieldValueInvalid',
      field: path,
      message: `Too many: ${count}: must have at most ${maxProperties} items`,
    });
  return errors;
}

function combinationErrors(value: Json, schema: JsonObject, path: string): FieldError[] {
  const holds = (part: JsonObject): boolean => validateBySchema(value, part, path).length === 0;
  const errors: FieldError[] = objectsAt(schema, 'allOf').flatMap((part) => validateBySchema(value, part, path));
  const anyOf = objectsAt(schema, 'anyOf');
  if (anyOf.length > 0 && schema['x-kubernetes-int-or-string'] !== true && !anyOf.some(holds))
    errors.push(invalidField(path, value, `${path} in body must validate at least one schema (anyOf)`));
  const oneOf = objectsAt(schema, 'oneOf');
  if (oneOf.length > 0 && oneOf.filter(holds).length !== 1)
    errors.push(invalidField(path, value, `${path} in body must validate one and only one schema (oneOf)`));
  const not = objectAt(schema, 'not');
  if (not !== undefined && holds(not))
    errors.push(invalidField(path, value, `${path} in body must not validate the schema (not)`));
  return errors;
}

/** An error of a rule, which is judged only where the shape is right. */
export interface RuleError extends FieldError {
  readonly isOfRule: true;
}

/** Objects and lists are not repeated. */
function brokenRule(field: string, value: Json, detail: string): RuleError {
  const error: FieldError =
    typeof value === 'object' && value !== null
      ? { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` }
      : invalidField(field, value, detail);
  return { ...error, isOfRule: true };
}

/** `old` is undefined on create and for new items of lists: there is no transition to judge. */
function ruleErrors(value: Json, schema: JsonObject, path: string, old: Json | undefined): FieldError[] {
  return objectsAt(schema, 'x-kubernetes-validations').flatMap((rule) => {
    const source = stringAt(rule, 'rule') ?? '';
    // Rules on transitions apply to changes only.
    if (/\boldSelf\b/.test(source) && old === undefined) return [];
    const field = stringAt(rule, 'fieldPath');
    const where = field === undefined ? path : `${path}${field}`;
    try {
      if (evaluateCel(parseCel(source), { self: value, ...(old === undefined ? {} : { oldSelf: old }) }) === true)
        return [];
      return [brokenRule(where, value, stringAt(rule, 'message') ?? `failed rule: ${source}`)];
    } catch (error) {
      return [
        brokenRule(
          where,
          value,
          `${error instanceof Error ? error.message : String(error)} evaluating rule: ${source}`,
        ),
      ];
    }
  });
}
