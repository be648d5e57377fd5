import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isPaused,
  isWrittenByOptipod,
  isWrittenByRightsizing,
  recommendationKey,
  rightsizingKeys,
} from './annotations-rightsizing.ts';

describe('annotation keys', () => {
  test('are those of OptiPod', () => {
    expect(recommendationKey('nginx', 'cpu-request')).toBe('optipod.io/recommendation.nginx.cpu-request');
    expect(recommendationKey('nginx', 'memory-limit')).toBe('optipod.io/recommendation.nginx.memory-limit');
  });

  test('optipod defect B15: a container name too long for a key is cut and made unique', () => {
    const key = recommendationKey('a'.repeat(63), 'memory-request');
    expect(key.split('/')[1]?.length).toBe(63);
    expect(key).not.toBe(recommendationKey(`${'a'.repeat(62)}b`, 'memory-request'));
  });

  test('optipod defect B15: for any container name, the key is one the API server takes', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/),
        fc.constantFrom('cpu-request', 'memory-request', 'cpu-limit', 'memory-limit'),
        (container, field) => {
          const [prefix, name = ''] = recommendationKey(container, field).split('/');
          expect(prefix).toBe('optipod.io');
          expect(name).toMatch(/^[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?$/);
          expect(isWrittenByRightsizing(`optipod.io/${name}`)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    ['true', true],
    ['True', false],
    ['false', false],
    ['', false],
  ])('paused: %j is %s', (paused, expected) => {
    expect(isPaused({ 'optipod.io/paused': paused })).toBe(expected);
    expect(isPaused({})).toBe(false);
  });

  test('OptiPod writes whose it is and what it recommends, and nothing of what is in force', () => {
    const shared = Object.values<string>(rightsizingKeys).filter(isWrittenByOptipod);
    expect(shared).toEqual(['optipod.io/managed', 'optipod.io/policy', 'optipod.io/last-recommendation']);
    expect(isWrittenByOptipod(recommendationKey('app', 'cpu-request'))).toBe(true);
  });

  test('what people write is not taken away', () => {
    expect(isWrittenByRightsizing(rightsizingKeys.paused)).toBe(false);
    expect(isWrittenByRightsizing('optipod.io/owner')).toBe(false);
    expect(isWrittenByRightsizing(rightsizingKeys.lastApplied)).toBe(true);
  });
});
