import { describe, expect, test } from 'vitest';
import type { PodHistory } from '../../decide/allocation/eligibility.ts';
import type { AllocationRules } from '../../decide/allocation/rules.ts';
import { testPod, testRules } from '../../decide/allocation/testing/pods.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { type GuidanceInput, guidanceOf } from './guidance.ts';

const map = (cpuRequest: number) => new Map([['main', { cpuRequest }]]);

const guidanceWith = (
  nodeShare: number,
  history: PodHistory = {},
  {
    limit,
    isRefused = false,
    apply = 'requests+ceilings',
  }: {
    readonly limit?: number | undefined;
    readonly isRefused?: boolean;
    readonly apply?: AllocationRules['apply'];
  } = {},
) =>
  guidanceOf({
    known: {
      pod: testPod('a', { request: 400, ...(limit !== undefined && { limit }) }),
      facts: { limitRanges: [], hpas: [], pdbs: [] },
      history,
      isRefused,
      workload: undefined,
    },
    advice: undefined,
    original: undefined,
    noted: undefined,
    quota: { room: { cpuRequest: 5000, cpuLimit: undefined }, nodeShare },
    rules: { ...testRules, apply },
    now: 0,
  });

test.each([
  [1, 1],
  [2 / 3, 0.66],
  [0.5, 0.5],
  [0.07, 0.07],
  [1 / 300, 0.0033],
  [0, 0],
])(
  'integration 2: of the room of a quota a node is told its part, %d, never rounded up nor to nothing',
  (share, told) => {
    expect(guidanceWith(share)).toMatchObject({ quotaRequestRoom: 5000, quotaNodeShare: told });
  },
);

test.each([true, false])('that a node pins its CPUs is told where it is known: %s', (isKnown) => {
  const told = guidanceWith(1, isKnown ? { hasStaticCpuManager: true } : {});
  expect(told.hasStaticCpuManager).toBe(isKnown ? true : undefined);
});

test.each<[PodHistory, object]>([
  [{}, {}],
  [{ restartedOnResize: true }, { restartedOnResize: true }],
  [{ hasStaticCpuManager: true, isVpaOwned: true }, { hasStaticCpuManager: true }],
])('where the view cannot be believed, what was learned for the life of the pod is not lost: %o', (history, told) => {
  const known = {
    pod: testPod('a', { request: 400 }),
    facts: { limitRanges: 'unknown', hpas: [], pdbs: [] },
    history,
    isRefused: false,
    workload: undefined,
  } as const;
  const input = { known, advice: undefined, original: map(300), noted: undefined, quota: undefined };
  expect(guidanceOf({ ...input, rules: testRules, now: 0 })).toEqual({ isUnknown: true, ...told });
});

test.each([
  ['requests', 800, { min: 400, max: 400 }],
  ['limits', 800, { min: 800, max: 800 }],
  // The least: a limit of as much would take from it what it uses.
  ['limits', undefined, { min: 400 }],
] as const)(
  'a pod that refuses its resizes keeps what it has of the %s that are shared out, with a limit of %s',
  (shared, limit, told) => {
    const apply = shared === 'limits' ? 'limits' : 'requests+ceilings';
    const { bounds } = guidanceWith(1, {}, { apply, limit, isRefused: true });
    expect(bounds).toEqual([{ layer: 'hard', reason: 'ResizeRefused', ...told }]);
    expect(guidanceWith(1, {}, { apply, limit }).bounds).toBeUndefined();
  },
);

describe('the first request that the annotation tells', () => {
  const forged = new Map([['main', { cpuRequest: 64_000 }]]);
  const toldOf = (
    changes: Partial<Pick<GuidanceInput, 'advice' | 'noted' | 'original'>> & {
      readonly template?: number;
      readonly resizedBy?: readonly string[];
    },
  ): number | undefined => {
    const { template, resizedBy: sizeManagers = ['mbcas-controller'], ...rest } = changes;
    const containers = [aContainer({ size: { cpuRequest: template ?? 0 } })];
    return guidanceOf({
      known: {
        pod: testPod('a', { request: 400 }, { sizeManagers }),
        facts: { limitRanges: [], hpas: [], pdbs: [] },
        history: {},
        isRefused: false,
        workload: template === undefined ? undefined : aSizedWorkload({ containers }),
      },
      advice: undefined,
      original: forged,
      noted: undefined,
      quota: undefined,
      rules: testRules,
      now: 0,
      ...rest,
    }).originalRequest;
  };

  test.each<[string, Parameters<typeof toldOf>[0], number | undefined]>([
    ['as it is, where the template asks for as much', { template: 64_000, noted: 400 }, 64_000],
    [
      'less than the template, where rightsizing had made it so',
      { template: 900, noted: 900, original: map(500) },
      500,
    ],
    ['no more than the template asks for', { template: 900, noted: 400 }, 900],
    ['no more than the pod has, where that is more than the template', { template: 100, noted: 100 }, 400],
    ['no more than rightsizing advises, where that is more', { template: 100, noted: 100, advice: 700 }, 700],
    [
      'what a LimitRange gave a pod whose template asks for nothing',
      { template: 0, noted: 600, original: map(600) },
      600,
    ],
    ['of a pod of nobody, no more than its agent noted', { noted: 600 }, 600],
    ['of a pod of nobody, what the agent noted does not lower it', { noted: 600, original: map(500) }, 500],
    ['where nobody noted anything, as it is', { template: 900 }, 64_000],
    ['for nothing where we never resized the pod: it has what it came with', { template: 900, resizedBy: [] }, 400],
    ['for nothing where somebody else did', { noted: 64_000, resizedBy: ['kubectl'] }, 400],
    ['nothing, where there is none', { template: 900, original: undefined }, undefined],
  ])('counts %s', (_, changes, told) => {
    expect(toldOf(changes)).toBe(told);
  });
});
