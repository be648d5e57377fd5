/** AdmissionReview on the wire: reading requests and writing answers, by hand because this is the hot path. */

import type { JsonPatchOperation } from '../api/kube-api.ts';
import { isRecord } from '../lib/is-record.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';

/** Versions of `admission.k8s.io` that are answered, each in kind. */
export type ReviewVersion = 'admission.k8s.io/v1' | 'admission.k8s.io/v1beta1';

export interface AdmissionRequest {
  /** Identifies this one request; the answer repeats it. */
  readonly uid: string;
  readonly operation: string;
  /** Kind of the object as sent, e.g. group '', version 'v1', kind 'Pod'. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly subResource: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Unchecked: a malformed object must not keep a pod from being created. */
  readonly object: unknown;
  /** The object before an update; undefined otherwise. Unchecked. */
  readonly oldObject: unknown;
}

/** Machine-readable codes of malformed requests; the names are those Spotalis documents. */
export type ReviewProblemCode = 'INVALID_REQUEST_BODY' | 'INVALID_ADMISSION_REQUEST' | 'EMPTY_ADMISSION_REQUEST';

export type ParsedReview =
  | { readonly ok: true; readonly apiVersion: ReviewVersion; readonly request: AdmissionRequest }
  | { readonly ok: false; readonly code: ReviewProblemCode; readonly message: string };

/** Both are kept, and looked up, after the answer; whoever reaches the port may send any. */
const LONGEST_UID = 128;
const LONGEST_NAMESPACE = 63;

/** Reads the body of a POST. Never throws. */
export function parseReview(body: string): ParsedReview {
  const review = tryParseJson(body);
  if (review === undefined) {
    return problem('INVALID_REQUEST_BODY', 'the body is not JSON; send an AdmissionReview of admission.k8s.io/v1');
  }
  if (!isRecord(review) || review.kind !== 'AdmissionReview') {
    return problem('INVALID_ADMISSION_REQUEST', 'the body is not an AdmissionReview; kind must be AdmissionReview');
  }
  const { apiVersion, request } = review;
  if (apiVersion !== 'admission.k8s.io/v1' && apiVersion !== 'admission.k8s.io/v1beta1') {
    return problem('INVALID_ADMISSION_REQUEST', 'apiVersion must be admission.k8s.io/v1 or admission.k8s.io/v1beta1');
  }
  if (!isRecord(request)) return problem('EMPTY_ADMISSION_REQUEST', 'the AdmissionReview has no request');
  const { uid, kind, operation } = request;
  if (typeof uid !== 'string' || uid === '' || uid.length > LONGEST_UID) {
    const message = `request.uid is missing or too long; it must be a text of 1 to ${LONGEST_UID} characters`;
    return problem('INVALID_ADMISSION_REQUEST', message);
  }
  if (text(request.namespace).length > LONGEST_NAMESPACE) {
    return problem('INVALID_ADMISSION_REQUEST', 'request.namespace is not the name of a namespace');
  }
  if (!isRecord(kind)) return problem('INVALID_ADMISSION_REQUEST', 'request.kind is missing');
  return {
    ok: true,
    apiVersion,
    request: {
      uid,
      operation: text(operation),
      kind: { group: text(kind.group), version: text(kind.version), kind: text(kind.kind) },
      subResource: text(request.subResource),
      namespace: text(request.namespace),
      dryRun: request.dryRun === true,
      object: request.object,
      oldObject: request.oldObject,
    },
  };
}

export interface ReviewAnswer {
  /** Empty or absent: the object stays as it is. */
  readonly patch?: readonly JsonPatchOperation[];
  /** One sentence of the reason, shown nowhere but in the API server's trace. */
  readonly message?: string;
  /** Shown to the client by kubectl; at most 120 characters are sure to arrive. */
  readonly warnings?: readonly string[];
  /** Kept in the API server's audit log, prefixed there with the webhook's name. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** The body that allows a request. Stowage never denies a pod; only its own policies ({@link encodeDenial}). */
export function encodeAnswer(apiVersion: ReviewVersion, uid: string, answer: ReviewAnswer): string {
  const { patch, message, warnings, auditAnnotations } = answer;
  const isPatched = patch !== undefined && patch.length > 0;
  return JSON.stringify({
    apiVersion,
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: true,
      ...(isPatched && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
      ...(message !== undefined && { status: { code: 200, message } }),
      ...(warnings !== undefined && warnings.length > 0 && { warnings }),
      ...(auditAnnotations !== undefined && { auditAnnotations }),
    },
  });
}

/** The body that refuses an object of ours as invalid. @param message is shown to whoever sent it. */
export function encodeDenial(apiVersion: ReviewVersion, uid: string, message: string): string {
  const status = { code: 422, reason: 'Invalid', message };
  return JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid, allowed: false, status } });
}

function problem(code: ReviewProblemCode, message: string): ParsedReview {
  return { ok: false, code, message };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
