/** `metav1.DeleteOptions` as clients send them, with a deletion or inside of an eviction. */
import type { DeletionOptions } from './deleter.ts';
import { type FieldError, invalidField, unsupportedField, unsupportedInOrder } from './field-errors.ts';
import { type JsonObject, numberAt, stringAt, stringsAt, textOf } from './json.ts';
import type { WriteContext } from './request.ts';
import { decodeStruct } from './schema/decode-struct.ts';
import { DELETE_OPTIONS_STRUCT } from './schema/struct-types.ts';
import { badRequest, invalid } from './status-error.ts';

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

/** The context of a deletion whose options may ask for a dry run, as kubectl's do. */
export function withDryRun(options: JsonObject | undefined, context: WriteContext): WriteContext {
  return stringsAt(options, 'dryRun').length > 0 ? { ...context, dryRun: true } : context;
}

/**
 * Reads and judges the options. Source: apimachinery pkg/apis/meta/v1/validation `ValidateDeleteOptions`.
 * @throws 400 for what cannot be read, 422 for options that are none or contradict each other
 */
export function deletionOptionsOf(body: JsonObject | undefined): DeletionOptions {
  if (body === undefined) return {};
  const { kind, apiVersion } = body;
  if (kind !== undefined && kind !== 'DeleteOptions')
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? 'v1')} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const { object, problem } = decodeStruct(body, DELETE_OPTIONS_STRUCT);
  if (problem !== undefined) throw badRequest(problem);
  const errors = optionErrors(object);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const orphan = object['orphanDependents'];
  return {
    gracePeriodSeconds: numberAt(object, 'gracePeriodSeconds'),
    uid: stringAt(object, 'preconditions', 'uid'),
    resourceVersion: stringAt(object, 'preconditions', 'resourceVersion'),
    propagationPolicy:
      stringAt(object, 'propagationPolicy') ??
      (typeof orphan === 'boolean' ? (orphan ? 'Orphan' : 'Background') : undefined),
  };
}

function optionErrors(options: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy, orphanDependents: orphan } = options;
  if (policy !== undefined && orphan !== undefined)
    errors.push(
      invalidField('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  if (policy !== undefined && !POLICIES.slice(0, 3).includes(textOf(policy)))
    errors.push(unsupportedInOrder('propagationPolicy', policy, POLICIES));
  const stages = stringsAt(options, 'dryRun');
  if (stages.some((stage) => stage !== 'All')) errors.push(unsupportedField('dryRun', stages, ['All']));
  return errors;
}
