import { describe, expect, test } from 'vitest';
import type { KubeApi, Patch } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createAnnotateWorkload } from './workload-annotations.ts';

const signal = new AbortController().signal;
const web = aSizedWorkload({ annotations: { 'optipod.io/managed': 'true', 'optipod.io/policy': 'old' } });

function setUp(error?: Error) {
  const patches: { plural: string; name: string; patch: Patch; options: object | undefined }[] = [];
  const api = {
    ...({} as KubeApi),
    patch(type: { plural: string }, name: string, patch: Patch, options?: object) {
      patches.push({ plural: type.plural, name, patch, options });
      return error === undefined ? Promise.resolve({} as never) : Promise.reject(error);
    },
  } as KubeApi;
  return { patches, annotate: createAnnotateWorkload(api) };
}

describe('annotations of a workload', () => {
  test('optipod defect B16: only what differs is written, to the metadata of this very object', async () => {
    const { patches, annotate } = setUp();
    const wanted = { 'optipod.io/managed': 'true', 'optipod.io/policy': 'new', 'optipod.io/gone': null };
    expect(await annotate(web, wanted, signal)).toEqual({ result: 'written' });
    expect(patches).toMatchObject([
      {
        plural: 'deployments',
        name: 'web',
        patch: { type: 'merge', body: { metadata: { uid: web.uid, annotations: { 'optipod.io/policy': 'new' } } } },
        options: { fieldManager: 'optipod' },
      },
    ]);
  });

  test('nothing new is no write', async () => {
    const { patches, annotate } = setUp();
    expect(await annotate(web, { 'optipod.io/managed': 'true', 'optipod.io/x': null }, signal)).toEqual({
      result: 'unchanged',
    });
    expect(patches).toEqual([]);
  });

  test('kinds that are only advised are never written to', async () => {
    const { patches, annotate } = setUp();
    const cron = aSizedWorkload({ kind: 'CronJob' });
    expect(await annotate(cron, { 'optipod.io/managed': 'true' }, signal)).toEqual({ result: 'unchanged' });
    expect(patches).toEqual([]);
  });

  test.each([
    [404, 'no', 'gone'],
    [
      403,
      'User "stowage" cannot patch resource "deployments" in API group "apps" in the namespace "shop"',
      'forbidden',
    ],
    [403, 'admission webhook "sizes.example.com" denied the request: no', 'failed'],
    [503, 'no', 'failed'],
  ])('an answer of %d, %s: %s', async (code, message, result) => {
    const { annotate } = setUp(new KubeError(code, undefined, message));
    expect((await annotate(web, { 'optipod.io/policy': 'new' }, signal)).result).toBe(result);
  });

  test('optipod defect B17: a workload that is gone is asked for once, and is no failure', async () => {
    const { patches, annotate } = setUp(new KubeError(404, undefined, 'deployments.apps "web" not found'));
    expect(await annotate(web, { 'optipod.io/policy': 'new' }, signal)).toEqual({ result: 'gone' });
    expect(patches).toHaveLength(1);
  });

  test('optipod defect B17: the request ends with its signal', async () => {
    const { patches, annotate } = setUp();
    await annotate(web, { 'optipod.io/policy': 'new' }, signal);
    expect(patches[0]?.options).toMatchObject({ signal });
  });
});
