import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import { createWindowParser } from '../lib/schedule.ts';
import { placementKeyDescriptions, placementKeys } from './annotations.ts';
import { renderAnnotationsPage } from './annotations-page.ts';
import { parseWorkloadSettings, type SettingDefaults, type WorkloadSettingsResult } from './annotations-settings.ts';
import {
  formatDeletionCost,
  formatStamps,
  isEnabled,
  parseCapacity,
  parseDeletionCost,
  parseMinOnDemand,
  parseSlot,
  parseSpotPercentage,
  parseStamps,
} from './annotations-values.ts';
import { isQualifiedName, type Labels } from './label-selector.ts';

const noDefaults: SettingDefaults = { spotPercentage: '0', minOnDemand: '0', schedule: '', duration: '' };
const SPOT = placementKeys.spotPercentage;
const FLOOR = placementKeys.minOnDemand;
const SCHEDULE = placementKeys.disruptionSchedule;
const DURATION = placementKeys.disruptionDuration;

function settingsOf(
  workload: Labels,
  namespace: Labels = {},
  defaults: SettingDefaults = noDefaults,
): WorkloadSettingsResult {
  return parseWorkloadSettings({ workload, namespace, defaults });
}
const problemKeys = (result: WorkloadSettingsResult): string[] =>
  result.ok ? [] : result.problems.map(({ key }) => key);

describe('the catalogue', () => {
  test('describes each key once, and each is a valid key', () => {
    const described = placementKeyDescriptions.map(({ key }) => key);
    expect([...described].sort()).toEqual(Object.values(placementKeys).sort());
    for (const key of described) expect(isQualifiedName(key)).toBe(true);
  });

  test('docs/annotations.md is what the catalogue says; `npm run docs` writes it', () => {
    const page = readFileSync(new URL('../../docs/annotations.md', import.meta.url), 'utf8');
    expect(page).toBe(renderAnnotationsPage());
  });
});

describe('enabled', () => {
  test.each([
    ['true', true],
    ['TRUE', false],
    ['True', false],
    ['1', false],
    ['yes', false],
    ['', false],
    [' true', false],
  ])('the label %j: %s', (value, enabled) => expect(isEnabled({ [placementKeys.enabled]: value })).toBe(enabled));

  test('case 3: without the label a workload is not enabled, whatever its annotations, and that is no error', () => {
    expect(isEnabled({})).toBe(false);
    expect(isEnabled(undefined)).toBe(false);
    expect(settingsOf({ [SPOT]: '70' }).ok).toBe(true);
  });
});

describe('spot percentage', () => {
  test.each([
    ['70', 70],
    ['+70', 70],
    ['007', 7],
    ['0', 0],
    ['100', 100],
    ['0%', 0],
    ['100%', 100],
    ['-0', 0],
    ['0000000000000070', 70],
  ])('case 7: %j is %d', (text, percent) => expect(parseSpotPercentage(text)).toBe(percent));

  test('case 2: 70% is 70', () => expect(parseSpotPercentage('70%')).toBe(70));

  test.each(['150', '-1', 'abc', '', '101', '%'])('case 5: %j is refused, naming the key', (text) => {
    expect(() => parseSpotPercentage(text)).toThrow(InvalidValueError);
    expect(() => parseSpotPercentage(text)).toThrow(/^spotalis\.io\/spot-percentage: .*0 to 100/);
  });

  test.each(['70.5', '70%%', ' 70', '70 ', '7 0', '70 %', '0x46', '1e1', '７０', '70\n'])(
    'case 8: %j is refused',
    (text) => {
      expect(() => parseSpotPercentage(text)).toThrow(InvalidValueError);
    },
  );
});

describe('minimum on on-demand', () => {
  test.each([
    ['0', 0],
    ['1', 1],
    ['10000', 10_000],
    ['+2', 2],
    ['002', 2],
  ])('case 7: %j is %d replicas', (text, count) => expect(parseMinOnDemand(text)).toEqual({ kind: 'count', count }));

  test.each([
    ['30%', 30],
    ['0%', 0],
    ['100%', 100],
  ])('%j is a share of the replicas', (text, percent) =>
    expect(parseMinOnDemand(text)).toEqual({ kind: 'percent', percent }),
  );

  test.each(['-1', '10001', 'x', '', '1.5', '101%', '-1%', '30%%', ' 3'])(
    'case 6: %j is refused, naming the key',
    (text) => {
      expect(() => parseMinOnDemand(text)).toThrow(/^spotalis\.io\/min-on-demand: .*10000.*30%/);
    },
  );
});

describe('settings of a workload', () => {
  test('case 1: 70 and 2 are 70 % on spot and 2 on on-demand', () => {
    expect(settingsOf({ [SPOT]: '70', [FLOOR]: '2' })).toEqual({
      ok: true,
      settings: {
        spotPercentage: 70,
        minOnDemand: { kind: 'count', count: 2 },
        window: undefined,
        sources: { spotPercentage: 'workload', minOnDemand: 'workload', window: 'config' },
      },
    });
  });

  test('case 4: the label alone means no spot and no floor', () => {
    expect(settingsOf({})).toMatchObject({
      ok: true,
      settings: { spotPercentage: 0, minOnDemand: { kind: 'count', count: 0 }, window: undefined },
    });
    expect(parseWorkloadSettings({ workload: undefined, namespace: undefined, defaults: noDefaults }).ok).toBe(true);
  });

  test('case 6: two bad values are two problems', () => {
    expect(settingsOf({ [SPOT]: '150', [FLOOR]: 'x' })).toEqual({
      ok: false,
      problems: [
        { key: SPOT, value: '150', where: 'workload', accepted: expect.stringContaining('0 to 100') },
        { key: FLOOR, value: 'x', where: 'workload', accepted: expect.stringContaining('10000') },
      ],
    });
  });

  test('workload before namespace before configuration, key by key', () => {
    const defaults = { spotPercentage: '10', minOnDemand: '1', schedule: '0 1 * * *', duration: '1h' };
    expect(settingsOf({ [SPOT]: '70' }, { [SPOT]: '50', [FLOOR]: '30%' }, defaults)).toMatchObject({
      ok: true,
      settings: {
        spotPercentage: 70,
        minOnDemand: { kind: 'percent', percent: 30 },
        window: { text: '0 1 * * * for 1h' },
        sources: { spotPercentage: 'workload', minOnDemand: 'namespace', window: 'config' },
      },
    });
  });

  test('an invalid value does not fall through to the next level', () => {
    expect(settingsOf({ [SPOT]: '' }, { [SPOT]: '50' })).toMatchObject({
      ok: false,
      problems: [{ key: SPOT, where: 'workload' }],
    });
    expect(settingsOf({}, { [FLOOR]: 'many' })).toMatchObject({
      ok: false,
      problems: [{ key: FLOOR, where: 'namespace' }],
    });
  });

  test('what is overridden does no harm', () => {
    expect(settingsOf({ [SPOT]: '70' }, { [SPOT]: 'nonsense' }).ok).toBe(true);
  });
});

describe('disruption window of a workload', () => {
  test('case 11: one of the pair missing is an error; none means always', () => {
    expect(problemKeys(settingsOf({ [SCHEDULE]: '0 2 * * *' }))).toEqual([DURATION]);
    expect(problemKeys(settingsOf({ [DURATION]: '1h' }))).toEqual([SCHEDULE]);
    expect(settingsOf({ [DURATION]: '1h' })).toMatchObject({
      problems: [{ where: 'workload', accepted: expect.stringContaining('must be specified together') }],
    });
    expect(settingsOf({})).toMatchObject({ ok: true, settings: { window: undefined } });
    expect(settingsOf({ [SCHEDULE]: '', [DURATION]: '' })).toMatchObject({ ok: true, settings: { window: undefined } });
  });

  test('the halves of the pair are never taken from two levels', () => {
    expect(problemKeys(settingsOf({ [SCHEDULE]: '0 2 * * *' }, { [SCHEDULE]: '0 3 * * *', [DURATION]: '1h' }))).toEqual(
      [DURATION],
    );
  });

  test('the namespace gives the window where the workload has none', () => {
    expect(settingsOf({}, { [SCHEDULE]: '0 3 * * *; 0 5 * * *', [DURATION]: '1h' })).toMatchObject({
      ok: true,
      settings: { window: { text: '0 3 * * * for 1h; 0 5 * * * for 1h' }, sources: { window: 'namespace' } },
    });
  });

  test('every problem of both texts is told under its key', () => {
    expect(settingsOf({ [SCHEDULE]: '0 2 * * * *', [DURATION]: '0s', [SPOT]: 'x' })).toMatchObject({
      ok: false,
      problems: [
        { key: SPOT, value: 'x' },
        { key: SCHEDULE, value: '0 2 * * * *' },
        { key: DURATION, value: '0s' },
      ],
    });
  });

  test('a remembering parser gives the same window for the same texts', () => {
    const parser = createWindowParser(2);
    const first = parser('0 2 * * *', '1h');
    expect(parser('0 2 * * *', '1h')).toBe(first);
    expect(parser('0 2 * * *', '2h')).not.toBe(first);
    parser('0 3 * * *', '1h');
    expect(parser('0 2 * * *', '1h')).not.toBe(first);
    expect(parser('0 2 * * *', '1h')).toMatchObject({ ok: true, window: { text: '0 2 * * * for 1h' } });
    const texts = { workload: { [SCHEDULE]: '0 2 * * *', [DURATION]: '1h' }, namespace: {}, defaults: noDefaults };
    expect(parseWorkloadSettings(texts, parser)).toMatchObject({
      ok: true,
      settings: { window: { text: '0 2 * * * for 1h' } },
    });
  });
});

describe('stamps', () => {
  test('for any stamps what is written reads back', () => {
    const stamps = fc.record({
      slot: fc.integer({ min: 1, max: 100_000 }),
      capacity: fc.constantFrom('spot' as const, 'on-demand' as const),
      admissionId: fc.uuid(),
      unconfirmed: fc.boolean(),
      pinned: fc.constantFrom(undefined, true),
    });
    fc.assert(
      fc.property(stamps, (value) => {
        expect(parseStamps(formatStamps(value))).toEqual(value);
        expect(parseDeletionCost({ [placementKeys.podDeletionCost]: formatDeletionCost(value.slot) })).toBe(
          -value.slot,
        );
      }),
    );
  });

  test('an unconfirmed stamp is written only when it holds', () => {
    const stamps = { slot: 3, capacity: 'spot', admissionId: 'u', unconfirmed: false } as const;
    expect(formatStamps(stamps)).toEqual({
      'spotalis.io/slot': '3',
      'spotalis.io/capacity': 'spot',
      'spotalis.io/admission-id': 'u',
    });
    expect(formatStamps({ ...stamps, unconfirmed: true })).toHaveProperty(['spotalis.io/unconfirmed'], 'true');
  });

  test.each(['0', '-1', '01', '+1', '1.0', '', 'x', ' 1', '1000000000'])('slot %j is no slot', (text) => {
    expect(parseSlot({ [placementKeys.slot]: text })).toBeUndefined();
  });

  test.each(['Spot', 'ondemand', ''])('capacity %j is no side', (text) => {
    expect(parseCapacity({ [placementKeys.capacity]: text })).toBeUndefined();
  });

  test.each([
    ['-7', -7],
    ['0', 0],
    ['2147483647', 2_147_483_647],
    ['-2147483648', -2_147_483_648],
    ['2147483648', 0],
    ['-2147483649', 0],
    ['+5', 0],
    ['05', 0],
    ['-0', 0],
    ['1.5', 0],
    ['', 0],
  ])('deletion cost %j counts as %d', (text, cost) => {
    expect(parseDeletionCost({ [placementKeys.podDeletionCost]: text })).toBe(cost);
  });

  test('a pod without complete stamps has none', () => {
    expect(parseStamps(undefined)).toBeUndefined();
    expect(parseStamps({ [placementKeys.slot]: '1', [placementKeys.capacity]: 'spot' })).toBeUndefined();
    expect(
      parseStamps({ [placementKeys.slot]: '1', [placementKeys.capacity]: 'both', [placementKeys.admissionId]: 'u' }),
    ).toBeUndefined();
    expect(parseDeletionCost(undefined)).toBe(0);
  });
});
