import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import { nodeClassProfile } from './node-profiles.ts';
import { createSides } from './sides.ts';
import { aNode } from './testing/records.ts';

describe('createSides', () => {
  const settings = nodeClassProfile(['aks'], { provisionable: { spot: true, onDemand: false } });
  const sides = createSides(settings);
  const spotNode = aNode('n', undefined, { labels: { 'kubernetes.azure.com/scalesetpriority': 'spot' } });

  test('speaks about nodes', () => {
    expect(sides.classOf(spotNode)).toBe('spot');
    expect(sides.isCapacity(spotNode)).toBe(true);
    expect(sides.leavingCause(spotNode)).toBeUndefined();
    expect(sides.leavingCause({ ...spotNode, deleting: true })).toBe('it is being deleted');
  });

  test('speaks about pods', () => {
    const nodeSelector = { 'kubernetes.azure.com/scalesetpriority': 'spot' };
    expect(sides.pinnedSide({ nodeSelector, requiredNodeTerms: undefined })).toBe('spot');
  });

  test('tells what a pod asks for besides a side, whichever profile its pin is of', () => {
    const spot = [{ matchLabels: { lifecycle: 'spot' } }];
    const own = createSides(nodeClassProfile(['aks'], { spot }));
    for (const key of ['kubernetes.azure.com/scalesetpriority', 'karpenter.sh/capacity-type', 'lifecycle']) {
      const constraints = { nodeSelector: { [key]: 'spot', disk: 'ssd' }, requiredNodeTerms: undefined };
      expect(own.besidesSide(constraints).nodeSelector).toEqual({ disk: 'ssd' });
    }
  });

  test('speaks about each side', () => {
    expect(sides.pinOf('spot')).toBe(settings.pins.spot);
    expect(sides.pinOf('on-demand')).toBe(settings.pins.onDemand);
    expect(sides.tolerationsOf('spot')).toHaveLength(1);
    expect(sides.tolerationsOf('on-demand')).toEqual([]);
    expect(sides.isProvisionable('spot')).toBe(true);
    expect(sides.isProvisionable('on-demand')).toBe(false);
  });

  test('does not come to be with an empty selector', () => {
    expect(() => createSides({ ...settings, spot: [{}] })).toThrow(InvalidValueError);
  });
});
