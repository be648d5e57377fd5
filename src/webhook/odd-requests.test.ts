/** What may reach the port of the webhook: reviews that were cut, changed or made up. Each has an answer, and a patch fits the pod it is for. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyJsonPatch } from '../cluster/apiserver/patch-json.ts';
import { decodeStruct } from '../cluster/apiserver/schema/decode-struct.ts';
import { structOf } from '../cluster/apiserver/schema/struct-types.ts';
import { isRecord } from '../lib/is-record.ts';
import { spoiled } from '../lib/testing/spoiled.ts';
import { aSizedWorkload, MIB } from '../model/testing/sizing-records.ts';
import { createSizeNewPods } from './size-new-pods.ts';
import { ask, createWorld, podOf, reviewOf } from './testing/admission-world.ts';

const applied = `{"app":{"cpuRequest":[200,120],"memoryRequest":[${128 * MIB},${64 * MIB}]}}`;
const resources = { requests: { cpu: '200m', memory: '128Mi' }, limits: { cpu: '400m', memory: '256Mi' } };
const selector = { matchLabels: { app: 'web' } };

/** With all that is looked at. */
const pod = podOf({
  metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '3' }, creationTimestamp: null },
  spec: {
    containers: [{ name: 'app', image: 'app:1', resources }],
    initContainers: [{ name: 'proxy', image: 'proxy:1', restartPolicy: 'Always', resources }],
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    terminationGracePeriodSeconds: 30,
    topologySpreadConstraints: [
      { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }],
        },
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: selector }],
      },
    },
  },
});

/** Reserves nothing: a thousand pods that were never made would each count. */
const dryRun = { dryRun: true };

const world = () =>
  createWorld({
    replicas: 1_000,
    sizes: createSizeNewPods({
      workloadOf: () => aSizedWorkload({ annotations: { 'optipod.io/applied-sizes': applied } }),
      isActive: () => true,
      limitRanges: () => [],
      quotas: () => [],
      podsOf: () => [],
      clock: { now: () => 0 },
    }),
  });

/** Of the pod as it was sent, what is still there, but for the amounts that rightsizing sets. */
function isKept(before: unknown, after: unknown): boolean {
  if (Array.isArray(before)) return Array.isArray(after) && before.every((each, index) => isKept(each, after[index]));
  if (!isRecord(before)) return before === after;
  if (!isRecord(after)) return false;
  return Object.entries(before).every(([key, value]) => key === 'resources' || isKept(value, after[key]));
}

describe('whoever sends it', () => {
  test('for any pod with a place that was changed, the answer lets it in', async () => {
    const { handle } = world();
    let uid = 0;
    await fc.assert(
      fc.asyncProperty(spoiled(pod), async (object) => {
        expect((await ask(handle, reviewOf(`r${uid++}`, object, dryRun))).allowed).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('for any review with a place that was changed, there is an answer, or one sentence of what is wrong', async () => {
    const { handle } = world();
    await fc.assert(
      fc.asyncProperty(spoiled(JSON.parse(reviewOf('r1', pod, dryRun))), async (review) => {
        const { status, body } = await handle(JSON.stringify(review) ?? '');
        const answer: unknown = JSON.parse(body);
        expect(answer).toMatchObject(status === 200 ? { kind: 'AdmissionReview' } : { code: expect.any(String) });
        expect([200, 400]).toContain(status);
      }),
      { numRuns: 500 },
    );
  });

  test('for any review that was cut, or into which something was put, too', async () => {
    const { handle } = world();
    const text = reviewOf('r1', pod, dryRun);
    const put = fc.oneof(fc.string({ unit: 'binary', maxLength: 5 }), fc.constantFrom('', '{', '"uid":7,', '[[', '\0'));
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length), fc.nat(400), put, async (at, cut, more) => {
        const { status } = await handle(text.slice(0, at) + more + text.slice(at + cut));
        expect([200, 400]).toContain(status);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['lists', '['.repeat(1_000_000), ']'.repeat(1_000_000)],
    ['objects', '{"a":'.repeat(300_000), `1${'}'.repeat(300_000)}`],
  ])('a pod of %s within one another, as deep as a body may be, is let in as it is', async (_, opening, closing) => {
    const { handle } = world();
    for (const place of ['', '"metadata":', '"spec":', '"spec":{"affinity":', '"metadata":{"annotations":']) {
      const closed = place.split('{').length - 1;
      const object = place === '' ? opening + closing : `{${place}${opening}${closing}${'}'.repeat(closed + 1)}`;
      const review = reviewOf('r1', 'HERE', dryRun).replace('"HERE"', object);
      const { allowed, patch } = await ask(handle, review);
      expect([allowed, patch]).toEqual([true, undefined]);
    }
  });
});

describe('sent by an API server, which knows what a pod is', () => {
  const struct = structOf({ group: '', version: 'v1', kind: 'Pod' });

  test('for any pod it may send, the patch can be applied, and takes nothing away', async () => {
    const { handle } = world();
    let uid = 0;
    let patched = 0;
    await fc.assert(
      fc.asyncProperty(spoiled(pod), async (sent) => {
        if (struct === undefined || !isRecord(sent)) return;
        const { object, problem } = decodeStruct(JSON.parse(JSON.stringify(sent)), struct);
        if (problem !== undefined) return;
        const { patch } = await ask(handle, reviewOf(`r${uid++}`, object, dryRun));
        if (patch === undefined) return;
        patched++;
        expect(isKept(object, applyJsonPatch(object, patch))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    expect(patched).toBeGreaterThan(100);
  });
});
