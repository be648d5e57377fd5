import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HpaMode } from '../../api/optimization-policy.ts';
import type { HpaRecord } from '../../model/sizing-records.ts';
import { anHpa } from '../../model/testing/sizing-records.ts';
import { equivalentTarget, hpaTargetOf, respectHpa } from './hpa-stage.ts';
import { dueAdvice } from './testing/advice.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const target = { hpa: 'web', percent: 80, isOfPod: true };

describe('whom an autoscaler concerns', () => {
  test.each<[string, HpaRecord, number | undefined]>([
    ['utilization of all containers', anHpa({ utilization: { cpu: 80 } }), 80],
    ['another resource', anHpa({ utilization: { memory: 70 } }), undefined],
    ['the container itself', anHpa({ containerUtilization: [{ container: 'app', resource: 'cpu', percent: 60 }] }), 60],
    [
      'another container',
      anHpa({ containerUtilization: [{ container: 'log', resource: 'cpu', percent: 60 }] }),
      undefined,
    ],
    [
      'another workload',
      anHpa({ target: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' }, utilization: { cpu: 80 } }),
      undefined,
    ],
    [
      'a workload of another group',
      anHpa({ target: { apiVersion: 'example.com/v1', kind: 'Deployment', name: 'web' }, utilization: { cpu: 80 } }),
      undefined,
    ],
    [
      'another resource of the container',
      anHpa({ containerUtilization: [{ container: 'app', resource: 'memory', percent: 60 }] }),
      undefined,
    ],
    ['an absolute value is no utilization', anHpa(), undefined],
  ])('%s', (_, record, percent) => {
    expect(hpaTargetOf([record], web, 'app', 'cpu')?.percent).toBe(percent);
  });

  test('it may scale the object that the workload was made for', () => {
    const owner = { apiVersion: 'flink.example.org/v1', kind: 'Flink', name: 'stream' };
    const hpa = anHpa({ target: owner, utilization: { cpu: 80 } });
    expect(hpaTargetOf([hpa], { ...web, owner }, 'app', 'cpu')?.percent).toBe(80);
    expect(hpaTargetOf([hpa], web, 'app', 'cpu')).toBeUndefined();
  });

  test('whether the target is of the whole pod or of one container', () => {
    const containerUtilization = [{ container: 'app', resource: 'cpu', percent: 60 }] as const;
    const own = hpaTargetOf([anHpa({ containerUtilization, utilization: { cpu: 80 } })], web, 'app', 'cpu');
    expect(own).toEqual({ hpa: 'web', percent: 60, isOfPod: false });
    const ofPod = hpaTargetOf([anHpa({ containerUtilization, utilization: { cpu: 80 } })], web, 'log', 'cpu');
    expect(ofPod).toEqual({ hpa: 'web', percent: 80, isOfPod: true });
  });
});

describe('modes', () => {
  test('rightsizing bug 33: Skip holds the request and still shows it', () => {
    const held = respectHpa(dueAdvice(100), 'cpu', 'Skip', target, 200);
    expect(held).toMatchObject({ isDue: false, held: 'HpaTarget', target: 100 });
    expect(held.notes.at(-1)?.text).toContain('scales by 80 %');
    // Neither does the limit move.
    expect(respectHpa(dueAdvice(100, 900), 'cpu', 'Skip', target, 200)).toMatchObject({
      isDue: false,
      held: 'HpaTarget',
    });
  });

  test('a request that stays moves no point', () => {
    const same = dueAdvice(200, 900);
    for (const mode of ['Skip', 'KeepScalePoint', 'LimitsOnly'] as const)
      expect(respectHpa(same, 'cpu', mode, target, 200)).toEqual(same);
  });

  test('no target is below one percent', () => {
    expect(equivalentTarget(80, { current: 1, advised: 100_000 })).toBe(1);
  });

  test('KeepScalePoint says with which target the same point would be kept', () => {
    const held = respectHpa(dueAdvice(100), 'cpu', 'KeepScalePoint', target, 200);
    expect(held).toMatchObject({ isDue: false, held: 'HpaScalePoint', target: 100 });
    expect(held.notes.at(-1)?.text).toContain('set its target to 160 %');
  });

  test('KeepScalePoint reckons with all containers where the target is of the whole pod, and with one where it is of one', () => {
    const pod = { current: 300, advised: 200 };
    const textOf = (isOfPod: boolean) =>
      respectHpa(dueAdvice(100), 'cpu', 'KeepScalePoint', { ...target, isOfPod }, 200, pod).notes.at(-1)?.text;
    expect(textOf(true)).toContain('set its target to 120 %');
    expect(textOf(false)).toContain('set its target to 160 %');
  });

  test('for any requests, target times request stays within half a percent of the request', () => {
    const amount = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), amount, amount, (percent, current, advised) => {
        const wanted = percent * current;
        fc.pre(wanted >= advised);
        expect(Math.abs(equivalentTarget(percent, { current, advised }) * advised - wanted)).toBeLessThanOrEqual(
          advised / 2 + 1e-6,
        );
      }),
      { numRuns: 200 },
    );
  });

  test('LimitsOnly lets the limit move and nothing else', () => {
    expect(respectHpa(dueAdvice(100, 150), 'cpu', 'LimitsOnly', target, 200)).toMatchObject({
      request: 200,
      limit: 200,
      targetLimit: 200,
    });
    expect(respectHpa(dueAdvice(100, 250), 'cpu', 'LimitsOnly', target, 200)).toMatchObject({ limit: 250 });
    expect(respectHpa(dueAdvice(100), 'cpu', 'LimitsOnly', target, 200)).toMatchObject({ isDue: false });
  });

  test('Ignore ignores, and where nothing is requested there is no point to keep', () => {
    expect(respectHpa(dueAdvice(100), 'cpu', 'Ignore', target, 200)).toEqual(dueAdvice(100));
    expect(respectHpa(dueAdvice(100), 'cpu', 'Skip', target, undefined)).toEqual(dueAdvice(100));
    expect(respectHpa(dueAdvice(100), 'cpu', 'Skip', undefined, 200)).toEqual(dueAdvice(100));
  });

  test('for any mode but Ignore, a request that an autoscaler goes by does not move', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<HpaMode>('Skip', 'KeepScalePoint', 'LimitsOnly'),
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.option(fc.integer({ min: 1, max: 9000 }), { nil: undefined }),
        (mode, request, current, limit) => {
          const result = respectHpa(dueAdvice(request, limit), 'memory', mode, target, current);
          expect(result.isDue ? result.request : current).toBe(current);
        },
      ),
      { numRuns: 200 },
    );
  });
});
