import { describe, expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import { resizeAnswers } from '../lib/reason-resize-answers.ts';
import { readAnswer, resizeAnswerRows } from './resize-answers.ts';
import { outcomeOfResizeError } from './resize-outcome.ts';

/** An answer as the API server words it: the pod and the reason before the text of the check. */
function refusal(httpStatus: number, text: string, more: object = {}, retryAfterMillis?: number): KubeError {
  return new KubeError(httpStatus, { message: text, ...more }, text, retryAfterMillis);
}
const invalid = (text: string): KubeError =>
  refusal(422, `Pod "web-1" is invalid: spec: ${text}`, { reason: 'Invalid' });
const forbidden = (text: string): KubeError =>
  refusal(403, `pods "web-1" is forbidden: ${text}`, { reason: 'Forbidden' });

/** Texts of Kubernetes 1.32 to 1.37: [text, action, reason]. */
const invalidTexts = [
  ['Forbidden: Pod QOS Class may not change as a result of resizing', 'recreate', 'ResizeQosRefused'],
  ['Forbidden: Pod running on node without support for resize', 'recreate', 'ResizeNotOnNode'],
  ['Forbidden: resource limits cannot be removed', 'give-up', 'ResizeRemovalRefused'],
  ['Forbidden: resource requests cannot be removed', 'give-up', 'ResizeRemovalRefused'],
  ['Forbidden: pod-level resource limits cannot be removed', 'give-up', 'ResizeRemovalRefused'],
  ['Forbidden: only cpu and memory resources are mutable', 'give-up', 'ResizeFieldRefused'],
  [
    'Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
    'give-up',
    'ResizeFieldRefused',
  ],
  ['Forbidden: static pods cannot be resized', 'give-up', 'ResizePodKindRefused'],
  ['Forbidden: windows pods cannot be resized', 'recreate', 'ResizePodKindRefused'],
  [
    'Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
    'recreate',
    'ResizePodKindRefused',
  ],
  ['Forbidden: containers may not be renamed or reordered on resize', 'retry', 'ResizeContainersChanged'],
  ['Forbidden: containers may not be added or removed on resize', 'retry', 'ResizeContainersChanged'],
  [
    'Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer',
    'recreate',
    'ResizeMemoryDecreaseRefused',
  ],
  ['Invalid value: "800m": must be less than or equal to cpu limit of 500m', 'give-up', 'ResizeRefused'],
] as const;

const forbiddenTexts = [
  ['exceeded quota: compute, requested: cpu=300m, used: cpu=600m, limited: cpu=800m', 'wait', 'ResizeQuotaDenied'],
  ['maximum cpu usage per Container is 500m, but limit is 600m', 'give-up', 'ResizeLimitRangeDenied'],
  ['minimum memory usage per Pod is 64Mi, but request is 32Mi', 'give-up', 'ResizeLimitRangeDenied'],
  ['[maximum cpu usage per Container is 1, but limit is 2, minimum x]', 'give-up', 'ResizeLimitRangeDenied'],
  [
    'cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000',
    'give-up',
    'ResizeLimitRangeDenied',
  ],
  [
    "Node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 1500",
    'recreate',
    'ResizeBeyondNode',
  ],
  [
    "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 1500",
    'recreate',
    'ResizeBeyondNode',
  ],
  ['pod resize is only supported on linux nodes', 'recreate', 'ResizePodKindRefused'],
  ['node "n1" not found', 'wait', 'ResizeNodeUnknown'],
  [
    'User "system:serviceaccount:stowage:stowage" cannot patch resource "pods/resize" in API group "" in the namespace "shop"',
    'give-up',
    'ResizeForbidden',
  ],
  ["ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request: too big", 'give-up', 'ResizeAdmissionDenied'],
  ['violates PodSecurity "restricted:latest"', 'give-up', 'ResizeAdmissionDenied'],
] as const;

describe('texts of the API server', () => {
  test.each(invalidTexts)('422 %s', (text, action, reason) => {
    expect(outcomeOfResizeError(invalid(text))).toMatchObject({
      result: 'refused',
      action,
      reason,
      isUncertain: false,
    });
  });

  test.each(forbiddenTexts)('403 %s', (text, action, reason) => {
    const outcome = outcomeOfResizeError(forbidden(text));
    expect(outcome).toMatchObject({ result: 'refused', action, reason, isUncertain: false });
    expect(outcome.result === 'refused' && outcome.message).toContain(text);
  });

  test('a webhook may answer with any status; its own words are kept', () => {
    const text = 'admission webhook "sizes.example.com" denied the request: cpu of web is frozen';
    for (const status of [400, 403, 422, 500]) {
      const outcome = outcomeOfResizeError(refusal(status, text));
      expect(outcome).toMatchObject({ action: 'give-up', reason: 'ResizeAdmissionDenied' });
      expect(outcome.result === 'refused' && outcome.message).toContain('cpu of web is frozen');
    }
  });

  test('a webhook that cannot be reached is a matter of time', () => {
    const text = 'Internal error occurred: failed calling webhook "x": no endpoints available for service "webhook"';
    expect(outcomeOfResizeError(refusal(500, text))).toMatchObject({ action: 'retry', isUncertain: false });
  });

  test('rightsizing bug 13: a memory limit that this version does not lower in place is told, with what to do', () => {
    const outcome = outcomeOfResizeError(
      invalid('memory limits cannot be decreased unless resizePolicy is RestartContainer'),
    );
    expect(outcome).toMatchObject({ action: 'recreate', reason: 'ResizeMemoryDecreaseRefused' });
    expect(outcome.result === 'refused' && outcome.advice).toContain('requests are lowered all the same');
  });

  test('every row of the table is the answer to a text of these lists', () => {
    const texts = [...invalidTexts, ...forbiddenTexts].map(([text]) => text);
    const others = ['admission webhook "x" denied the request', 'failed calling webhook "x"'];
    for (const row of resizeAnswerRows.filter(({ seenIn }) => seenIn === 'answer'))
      expect(
        [...texts, ...others].some((text) => row.pattern.test(text)),
        String(row.pattern),
      ).toBe(true);
  });
});

describe('status codes without a known text', () => {
  test.each<[string, KubeError | Error, string, string, boolean]>([
    ['409', refusal(409, 'the object has been modified', { reason: 'Conflict' }), 'retry', 'ResizeConflict', false],
    ['429', refusal(429, 'too many requests'), 'retry', 'ResizeApiTrouble', false],
    ['503', refusal(503, 'unavailable'), 'retry', 'ResizeApiTrouble', false],
    ['500', refusal(500, 'etcdserver: request timed out'), 'retry', 'ResizeApiTrouble', true],
    ['504', refusal(504, 'timeout'), 'retry', 'ResizeApiTrouble', true],
    ['401', refusal(401, 'Unauthorized'), 'retry', 'ResizeApiTrouble', false],
    ['405', refusal(405, 'method not allowed'), 'recreate', 'ResizeNotServed', false],
    [
      '404 of the subresource',
      refusal(404, 'the server could not find the requested resource'),
      'recreate',
      'ResizeNotServed',
      false,
    ],
    ['400', refusal(400, 'bad'), 'give-up', 'ResizeRefused', false],
    ['a broken connection', new Error('socket hang up'), 'retry', 'ResizeApiTrouble', true],
  ])('%s', (_, error, action, reason, isUncertain) => {
    expect(outcomeOfResizeError(error)).toMatchObject({ result: 'refused', action, reason, isUncertain });
  });

  test('a pod that is gone, or another one of the name, is nobody’s business', () => {
    const gone = refusal(404, 'pods "web-1" not found', {
      reason: 'NotFound',
      details: { name: 'web-1', kind: 'pods' },
    });
    const other = refusal(422, 'Pod "web-1" is invalid', { details: { causes: [{ field: 'metadata.uid' }] } });
    const precondition = refusal(409, 'Precondition failed: UID in precondition: a, UID in object meta: b');
    for (const error of [gone, other, precondition]) expect(outcomeOfResizeError(error)).toEqual({ result: 'gone' });
  });

  test('the pause the server asks for is passed on', () => {
    expect(outcomeOfResizeError(refusal(429, 'busy', {}, 7000))).toMatchObject({ retryAfterMillis: 7000 });
  });
});

describe('what the kubelet says', () => {
  test.each([
    [
      'Infeasible',
      "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000",
      'recreate',
      'ResizeBeyondNode',
    ],
    [
      'Infeasible',
      'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
      'recreate',
      'ResizeInfeasible',
    ],
    [
      'Infeasible',
      'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"',
      'recreate',
      'ResizeInfeasible',
    ],
    ['Infeasible', 'In-place resize of containers with swap is not supported.', 'recreate', 'ResizeInfeasible'],
    ['Infeasible', 'something new', 'recreate', 'ResizeInfeasible'],
    [
      'Deferred',
      "Node didn't have enough resource: cpu, requested: 1500, used: 1450, capacity: 1930",
      'wait',
      'ResizeDeferred',
    ],
    [
      'Error',
      'cannot decrease memory limits: [attempting to set pod memory limit (134217728) below current usage (418054144)]',
      'withdraw',
      'ResizeMemoryStillUsed',
    ],
    ['Error', 'failed to update container', 'wait', 'ResizeErrorOnNode'],
  ] as const)('%s: %s', (seenIn, text, action, reason) => {
    expect(readAnswer(seenIn, text)).toMatchObject({ action, reason });
  });

  test('rightsizing bug 11: no error of the kubelet is taken for infeasible', () => {
    for (const row of resizeAnswerRows.filter(({ seenIn }) => seenIn === 'Error'))
      expect(row.action).not.toBe('recreate');
  });
});

test('every answer has a sentence with the cause in it, and advice without holes', () => {
  for (const { message, advice } of Object.values(resizeAnswers)) {
    expect(message).toContain('{cause}');
    expect(advice).not.toMatch(/[{}]/);
  }
});
