import { describe, expect, test } from 'vitest';
import { noAdvice, type ResourceAdvice } from '../../decide/rightsizing/advice.ts';
import { dueAdvice } from '../../decide/rightsizing/testing/advice.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { noAnnotations, recommendationAnnotations } from './annotate.ts';

const advice = (cpu: ResourceAdvice, memory: ResourceAdvice) => [{ container: 'app', current: smallSize, cpu, memory }];
const first = recommendationAnnotations(aSizedWorkload(), 'sizes', advice(dueAdvice(240), dueAdvice(120 * MIB)), NOON);
const annotated = aSizedWorkload({
  annotations: Object.fromEntries(
    Object.entries(first).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  ),
});

describe('annotations of a recommendation', () => {
  test('are those OptiPod writes', () => {
    expect(first).toEqual({
      'optipod.io/managed': 'true',
      'optipod.io/policy': 'sizes',
      'optipod.io/last-recommendation': '2026-03-02T12:00:00Z',
      'optipod.io/recommendation.app.cpu-request': '240m',
      'optipod.io/recommendation.app.memory-request': '120Mi',
    });
  });

  test('limits are told where they move', () => {
    const wanted = recommendationAnnotations(
      aSizedWorkload(),
      'sizes',
      advice(dueAdvice(240, 300), dueAdvice(1, 2)),
      NOON,
    );
    expect(wanted).toMatchObject({ 'optipod.io/recommendation.app.cpu-limit': '300m' });
  });

  test('a limit is that of the recommended request, also while that is gone to in steps', () => {
    const stepUp = { ...dueAdvice(4000, 4400), request: 2000, limit: 2200 };
    const stepDown = { ...dueAdvice(100 * MIB, 110 * MIB), request: 256 * MIB, limit: 282 * MIB };
    expect(recommendationAnnotations(aSizedWorkload(), 'sizes', advice(stepUp, stepDown), NOON)).toMatchObject({
      'optipod.io/recommendation.app.cpu-request': '4',
      'optipod.io/recommendation.app.cpu-limit': '4400m',
      'optipod.io/recommendation.app.memory-request': '100Mi',
      'optipod.io/recommendation.app.memory-limit': '110Mi',
    });
  });

  test('nothing new, or next to nothing, is nothing to write', () => {
    expect(
      recommendationAnnotations(annotated, 'sizes', advice(dueAdvice(240), dueAdvice(120 * MIB)), NOON + 1),
    ).toEqual({});
    expect(
      recommendationAnnotations(annotated, 'sizes', advice(dueAdvice(250), dueAdvice(121 * MIB)), NOON + 1),
    ).toEqual({});
  });

  test('what changed is written with its time, and of what is gone nothing stays', () => {
    const none = noAdvice('NoData', 'nothing');
    expect(recommendationAnnotations(annotated, 'other', advice(dueAdvice(400), none), NOON + 1000)).toMatchObject({
      'optipod.io/policy': 'other',
      'optipod.io/recommendation.app.cpu-request': '400m',
      'optipod.io/recommendation.app.memory-request': null,
      'optipod.io/last-recommendation': '2026-03-02T12:00:01Z',
    });
  });

  test('all of it can be taken away, and nothing else', () => {
    const own = { ...annotated.annotations, 'optipod.io/paused': 'true', 'optipod.io/team': 'a' };
    expect(Object.keys(noAnnotations(aSizedWorkload({ annotations: own })))).toEqual(
      Object.keys(annotated.annotations),
    );
  });
});
