import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeAnswer, parseReview } from './review.ts';

const request = { uid: 'r1', operation: 'CREATE', kind: { group: '', version: 'v1', kind: 'Pod' }, namespace: 'shop' };
const review = (fields: object = {}) =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request, ...fields });

describe('parseReview', () => {
  test('a request is read with its defaults', () => {
    expect(parseReview(review({ request: { ...request, object: { kind: 'Pod' } } }))).toEqual({
      ok: true,
      apiVersion: 'admission.k8s.io/v1',
      request: { ...request, subResource: '', dryRun: false, object: { kind: 'Pod' } },
    });
  });

  test('v1beta1 is taken', () => {
    expect(parseReview(review({ apiVersion: 'admission.k8s.io/v1beta1' }))).toMatchObject({
      ok: true,
      apiVersion: 'admission.k8s.io/v1beta1',
    });
  });

  test.each([
    ['not JSON', '{', 'INVALID_REQUEST_BODY'],
    ['empty', '', 'INVALID_REQUEST_BODY'],
    ['null', 'null', 'INVALID_ADMISSION_REQUEST'],
    ['a list', '[]', 'INVALID_ADMISSION_REQUEST'],
    ['another kind', review({ kind: 'Pod' }), 'INVALID_ADMISSION_REQUEST'],
    ['a version to come', review({ apiVersion: 'admission.k8s.io/v2' }), 'INVALID_ADMISSION_REQUEST'],
    ['no request', review({ request: undefined }), 'EMPTY_ADMISSION_REQUEST'],
    ['null as request', review({ request: null }), 'EMPTY_ADMISSION_REQUEST'],
    ['no uid', review({ request: { ...request, uid: '' } }), 'INVALID_ADMISSION_REQUEST'],
    ['uid that is a number', review({ request: { ...request, uid: 7 } }), 'INVALID_ADMISSION_REQUEST'],
    ['uid of a megabyte', review({ request: { ...request, uid: 'u'.repeat(1 << 20) } }), 'INVALID_ADMISSION_REQUEST'],
    ['no namespace', review({ request: { ...request, namespace: 'n'.repeat(64) } }), 'INVALID_ADMISSION_REQUEST'],
    ['no kind', review({ request: { ...request, kind: undefined } }), 'INVALID_ADMISSION_REQUEST'],
  ])('%s is refused with a code', (_, body, code) => {
    expect(parseReview(body)).toMatchObject({ ok: false, code });
  });

  test('bug 29: for any JSON there is an answer, never an exception', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        expect(parseReview(body)).toHaveProperty('ok');
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseReview(review({ request: value }))).toHaveProperty('ok');
      }),
    );
  });
});

describe('encodeAnswer', () => {
  const decode = (text: string) => JSON.parse(text) as { apiVersion: string; response: Record<string, unknown> };

  test('case 19: without a patch the pod is allowed as it is and the uid comes back', () => {
    expect(decode(encodeAnswer('admission.k8s.io/v1beta1', 'r1', { patch: [] }))).toEqual({
      apiVersion: 'admission.k8s.io/v1beta1',
      kind: 'AdmissionReview',
      response: { uid: 'r1', allowed: true },
    });
  });

  test('a patch is base64 of its JSON', () => {
    const patch = [{ op: 'add', path: '/spec/nodeSelector', value: { a: 'ü' } }] as const;
    const { response } = decode(encodeAnswer('admission.k8s.io/v1', 'r1', { patch }));
    expect(response.patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(String(response.patch), 'base64').toString('utf8'))).toEqual(patch);
  });

  test('message, warnings and audit annotations are passed on', () => {
    const answer = { message: 'm', warnings: ['w'], auditAnnotations: { side: 'spot' } };
    expect(decode(encodeAnswer('admission.k8s.io/v1', 'r1', answer)).response).toEqual({
      uid: 'r1',
      allowed: true,
      status: { code: 200, message: 'm' },
      warnings: ['w'],
      auditAnnotations: { side: 'spot' },
    });
  });
});
