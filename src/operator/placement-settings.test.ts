import { describe, expect, test } from 'vitest';
import { configOf } from '../config/testing/load-text.ts';
import { compilePlacementRules } from '../controllers/placement/rules.ts';
import { placementSettingsOf } from './placement-settings.ts';

const settingsFrom = (text: string) => placementSettingsOf(configOf(text));

describe('placementSettingsOf', () => {
  test('the defaults are those the documentation tells, and compile', () => {
    const settings = settingsFrom('');
    expect(settings).toMatchObject({
      enabled: true,
      readOnly: false,
      steersNewPods: true,
      rounding: 'ceil',
      basis: 'total',
      allowSingleReplica: false,
      maxConcurrentEvictions: 5,
      cooldownMillis: 10_000,
      disruptionRetryMillis: 60_000,
      claimTtlMillis: 120_000,
      stuckRolloutMillis: 900_000,
      moveBackoffMillis: { initial: 180_000, max: 3_600_000 },
      defaults: { spotPercentage: 0, minOnDemand: '0' },
      window: undefined,
      namespaceSelector: undefined,
    });
    expect(() => compilePlacementRules(settings)).not.toThrow();
  });

  test.each([
    ['engines:\n  placement: false', { enabled: false }],
    ['operator:\n  readOnlyMode: true', { readOnly: true }],
    ['webhook:\n  enabled: false', { steersNewPods: false }],
    ['placement:\n  rounding: floor', { rounding: 'floor' }],
    ['placement:\n  defaults:\n    spotPercentage: 70%', { defaults: { spotPercentage: 70, minOnDemand: '0' } }],
    [
      'operator:\n  disruptionWindow:\n    schedule: "0 2 * * *"\n    duration: 4h',
      { window: { schedule: '0 2 * * *', duration: '4h' } },
    ],
    ['controllers:\n  workloadTiming:\n    cooldownPeriod: 1m', { cooldownMillis: 60_000 }],
    [
      'controller:\n  namespaceSelector:\n    matchLabels: {team: a}',
      { namespaceSelector: { matchLabels: { team: 'a' } } },
    ],
  ])('%s', (text, expected) => {
    expect(settingsFrom(text)).toMatchObject(expected);
  });

  test.each([
    [true, ['kubernetes.azure.com/scalesetpriority']],
    [false, []],
  ])('with placement.mutations.tolerations %j room is looked for with %j tolerated', (isOn, keys) => {
    const text = `controllers:\n  nodeClassifier:\n    profiles: [aks]\nplacement:\n  mutations:\n    tolerations: ${isOn}`;
    const { sides } = compilePlacementRules(settingsFrom(text));
    expect(sides.tolerationsOf('spot').map(({ key }) => key)).toEqual(keys);
  });

  test.each([
    ['', [true, true]],
    ['profiles: [gke]', [false, false]],
    ['profiles: [gke, karpenter]', [true, true]],
    ['profiles: [gke], autoscaled: [spot]', [true, false]],
    ['profiles: [eks], autoscaled: [spot, on-demand]', [true, true]],
    ['autoscaled: []', [false, false]],
  ])('with the node classifier "%s" nodes of spot and of on-demand are made: %j', (classifier, made) => {
    const { sides } = compilePlacementRules(settingsFrom(`controllers: { nodeClassifier: { ${classifier} } }`));
    expect((['spot', 'on-demand'] as const).map((side) => sides.isProvisionable(side))).toEqual(made);
  });

  test('case 14: node labels of the file tell the sides apart', () => {
    const labels = (side: string) => `      - matchLabels: {example.com/lifecycle: ${side}}`;
    const text = `controllers:\n  nodeClassifier:\n    spotLabels:\n${labels('spot')}\n    onDemandLabels:\n${labels('normal')}\n`;
    const { sides } = compilePlacementRules(settingsFrom(text));
    expect(sides.pinOf('spot')).toEqual({ kind: 'nodeSelector', key: 'example.com/lifecycle', value: 'spot' });
    expect(sides.pinOf('on-demand')).toEqual({ kind: 'nodeSelector', key: 'example.com/lifecycle', value: 'normal' });
  });
});
