/** Field errors as the API server words them, and the causes of an Invalid status built from them. */
import type { Json } from './json.ts';

/** Reasons of a Status' causes. Source: apimachinery pkg/util/validation/field/errors.go, as all texts here. */
export type FieldErrorReason =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueTypeInvalid';

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** Path such as `spec.containers[0].name`. */
  readonly field: string;
  /** Without the field: `Invalid value: "x": must be ...`. */
  readonly message: string;
}

/** Whole, however long, as the real server does. */
function show(value: Json | undefined): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}

export function invalidField(field: string, value: Json | undefined, detail: string): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${show(value)}${detail === '' ? '' : `: ${detail}`}`,
  };
}

export function requiredField(field: string, detail = ''): FieldError {
  return {
    reason: 'FieldValueRequired',
    field,
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

/** What is supported is told by the alphabet, as most places of the real server do. */
export function unsupportedField(field: string, value: Json | undefined, supported: readonly string[]): FieldError {
  return unsupportedInOrder(field, value, [...supported].sort());
}

/** As `unsupportedField`, in the order given. */
export function unsupportedInOrder(field: string, value: Json | undefined, supported: readonly string[]): FieldError {
  const list = supported.map((item) => JSON.stringify(item)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${show(value)}: supported values: ${list}`,
  };
}

export function duplicateField(field: string, value: Json | undefined): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${show(value)}` };
}

export function tooLongField(field: string, maxBytes: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${maxBytes} bytes` };
}
