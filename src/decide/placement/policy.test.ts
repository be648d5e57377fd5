import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../../lib/errors.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { Labels, NamespaceRecord, WorkloadRecord } from '../../model/records.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { aDeployment, aNamespace, NOON, someSettings } from '../../model/testing/records.ts';
import { createPolicyReader, createTimesReader, type PlacementPolicy } from './policy.ts';

const SPOT = 'spotalis.io/spot-percentage';
const MIN = 'spotalis.io/min-on-demand';
const SCHEDULE = 'spotalis.io/disruption-schedule';
const DURATION = 'spotalis.io/disruption-duration';

function read(
  workload: Partial<WorkloadRecord>,
  namespace: Partial<NamespaceRecord> | undefined = {},
  settings: Partial<PlacementSettings> = {},
): PlacementPolicy {
  const namespaces = namespace === undefined ? [] : [aNamespace(namespace)];
  return createPolicyReader(someSettings(settings))(createSnapshot({ namespaces }), aDeployment(workload));
}
function managed(annotations: Labels, namespace: Labels = {}, settings: Partial<PlacementSettings> = {}) {
  const policy = read({ annotations }, { annotations: namespace }, settings);
  if (policy.state !== 'managed') throw new Error(policy.reason.message);
  return policy;
}

describe('which workloads are managed', () => {
  test('case 1: label, 70 and a floor of 2', () => {
    expect(managed({ [SPOT]: '70', [MIN]: '2' }).rule).toEqual({
      spotPercentage: 70,
      minOnDemand: { kind: 'count', count: 2 },
      rounding: 'ceil',
      basis: 'total',
    });
  });

  test('case 4: the label alone means the defaults of the configuration', () => {
    expect(managed({}).rule).toMatchObject({ spotPercentage: 0, minOnDemand: { kind: 'count', count: 0 } });
    const defaults = { spotPercentage: 60, minOnDemand: '25%' };
    expect(managed({}, {}, { defaults })).toMatchObject({
      rule: { spotPercentage: 60, minOnDemand: { kind: 'percent', percent: 25 } },
      sources: { spotPercentage: 'config', minOnDemand: 'config', window: 'config' },
    });
  });

  test('case 3: case 31: annotations without the label manage nothing and are no error', () => {
    const policy = read({ enabled: false, annotations: { [SPOT]: 'nonsense' } });
    expect(policy).toMatchObject({ state: 'unmanaged', reason: { name: 'NotEnabled' } });
    expect(policy.state === 'unmanaged' && policy.reason.message).toContain('on the workload');
  });

  test.each<[string, Partial<NamespaceRecord> | undefined]>([['does not carry the label', { enabled: false }]])(
    'case 24: case 57: a namespace that %s manages nothing',
    (_, namespace) => {
      const policy = read({}, namespace);
      expect(policy.state === 'unmanaged' && policy.reason.message).toContain('on the namespace');
    },
  );

  test('a namespace that is not known manages nothing', () => {
    const policy = createPolicyReader(someSettings())(createSnapshot({}), aDeployment());
    expect(policy.state).toBe('unmanaged');
  });

  test('case 57: relabelling the namespace takes effect with the next view', () => {
    const reader = createPolicyReader(someSettings());
    const at = (enabled: boolean) =>
      reader(createSnapshot({ namespaces: [aNamespace({ enabled })] }), aDeployment()).state;
    expect([at(false), at(true), at(false)]).toEqual(['unmanaged', 'managed', 'unmanaged']);
  });

  test('the configuration may select namespaces further', () => {
    const namespaceSelector = { matchLabels: { team: 'shop' } };
    expect(read({}, { labels: { team: 'shop' } }, { namespaceSelector }).state).toBe('managed');
    expect(read({}, { labels: { team: 'bank' } }, { namespaceSelector }).state).toBe('unmanaged');
    expect(() => createPolicyReader(someSettings({ namespaceSelector: { matchLabels: { '': '' } } }))).toThrow(
      InvalidValueError,
    );
  });

  test('bug 25: a workload whose annotations are removed falls back to the defaults, one whose label is removed is left alone', () => {
    expect(managed({}).rule.spotPercentage).toBe(0);
    expect(read({ enabled: false, annotations: {} }).state).toBe('unmanaged');
  });
});

describe('when a workload may be disrupted, managed or not', () => {
  const night = { [SCHEDULE]: '0 3 * * *', [DURATION]: '1h' };
  const noon = { [SCHEDULE]: '0 12 * * *', [DURATION]: '30m' };
  const isOpenFor = (annotations: Labels | undefined, ofNamespace: Labels = {}, isConfigured = false) => {
    const settings = someSettings(isConfigured ? { window: { schedule: '0 3 * * *', duration: '1h' } } : {});
    const view = createSnapshot({ namespaces: [aNamespace({ enabled: false, annotations: ofNamespace })] });
    const workload = annotations && aDeployment({ enabled: false, annotations });
    const { window, unreadable } = createTimesReader(settings)(view, workload);
    return unreadable?.message ?? window?.isOpen(NOON) ?? 'always';
  };

  test.each<[string, Parameters<typeof isOpenFor>, boolean | string]>([
    ['nobody says when', [{}], 'always'],
    ['the configuration does', [{}, {}, true], false],
    ['of one that is not known, too', [undefined, noon, true], false],
    ['its namespace does', [{}, noon, true], true],
    ['it does itself', [night, noon], false],
    ['the share of spot is nonsense, which is not asked for', [{ ...night, [SPOT]: 'x' }], false],
    [
      'it cannot be read, which is no leave',
      [{ [SCHEDULE]: 'sometimes', [DURATION]: '1h' }],
      expect.stringMatching(/^workload annotation spotalis.io\/disruption-schedule: "sometimes" is not valid/),
    ],
    [
      'half of it is missing',
      [{}, { [DURATION]: '1h' }],
      expect.stringMatching(/^namespace annotation .*schedule: ""/),
    ],
  ])('%s', (_, given, expected) => {
    expect(isOpenFor(...given)).toEqual(expected);
  });
});

describe('precedence, key by key', () => {
  test('workload before namespace before configuration', () => {
    const { rule, sources } = managed({ [SPOT]: '80' }, { [SPOT]: '50', [MIN]: '30%' });
    expect(rule).toMatchObject({ spotPercentage: 80, minOnDemand: { kind: 'percent', percent: 30 } });
    expect(sources).toEqual({ spotPercentage: 'workload', minOnDemand: 'namespace', window: 'config' });
  });

  test('the window counts as one key', () => {
    const window = { schedule: '0 3 * * *', duration: '1h' };
    const namespace = { [SCHEDULE]: '0 12 * * *', [DURATION]: '30m' };
    expect(managed({}, namespace, { window })).toMatchObject({ sources: { window: 'namespace' } });
    expect(managed({}, namespace, { window }).window?.isOpen(NOON)).toBe(true);
    expect(managed({}, {}, { window }).window?.isOpen(NOON)).toBe(false);
    expect(managed({}, {}, {}).window).toBeUndefined();
    expect(managed({ [SCHEDULE]: '', [DURATION]: '' }, namespace).sources.window).toBe('namespace');
  });

  test('rounding and basis are the operator’s', () => {
    expect(managed({}, {}, { rounding: 'floor', basis: 'aboveBase' }).rule).toMatchObject({
      rounding: 'floor',
      basis: 'aboveBase',
    });
  });
});

describe('case 48: invalid values', () => {
  const problemsOf = (annotations: Labels, namespace: Labels = {}) => {
    const policy = read({ annotations }, { annotations: namespace });
    return policy.state === 'invalid'
      ? policy.problems.map(({ where, key, value }) => [where, key, value])
      : policy.state;
  };

  test('leave the workload alone and name where, key, value and grammar', () => {
    const policy = read({ annotations: { [SPOT]: '150' } });
    expect(policy).toMatchObject({ state: 'invalid', reason: { name: 'InvalidConfiguration' } });
    expect(policy.state === 'invalid' && policy.reason.message).toBe(
      'workload annotation spotalis.io/spot-percentage: "150" is not valid; accepted: a whole number from 0 to 100, optionally followed by %, such as 70 or 70%',
    );
  });

  test('every one is listed', () => {
    expect(problemsOf({ [SPOT]: 'abc', [MIN]: '-1', [SCHEDULE]: 'never', [DURATION]: '0s' })).toEqual([
      ['workload', SPOT, 'abc'],
      ['workload', MIN, '-1'],
      ['workload', SCHEDULE, 'never'],
      ['workload', DURATION, '0s'],
    ]);
  });

  test('do not fall through to a valid level below', () => {
    expect(problemsOf({ [SPOT]: '70.5' }, { [SPOT]: '70' })).toEqual([['workload', SPOT, '70.5']]);
  });

  test('of a level that is overridden do not matter', () => {
    expect(problemsOf({ [SPOT]: '70' }, { [SPOT]: 'x' })).toBe('managed');
  });

  test('hazard H29: half a window or an impossible one is invalid, not always open', () => {
    expect(problemsOf({ [SCHEDULE]: '0 2 * * *' })).toEqual([['workload', DURATION, '']]);
    expect(problemsOf({ [DURATION]: '1h' })).toEqual([['workload', SCHEDULE, '']]);
    expect(problemsOf({ [SCHEDULE]: '0 2 31 2 *', [DURATION]: '1h' })).toEqual([['workload', SCHEDULE, '0 2 31 2 *']]);
  });

  test('of the configuration itself are named as such', () => {
    const policy = read({ annotations: {} }, {}, { defaults: { spotPercentage: 0, minOnDemand: 'many' } });
    expect(policy.state === 'invalid' && policy.reason.message).toMatch(
      /^configuration spotalis.io\/min-on-demand: "many"/,
    );
  });

  test('are repaired the moment they are corrected', () => {
    const reader = createPolicyReader(someSettings());
    const view = createSnapshot({ namespaces: [aNamespace()] });
    expect(reader(view, aDeployment({ annotations: { [SPOT]: 'x' } })).state).toBe('invalid');
    expect(reader(view, aDeployment({ annotations: { [SPOT]: '70' } })).state).toBe('managed');
  });
});
