import { describe, expect, test } from 'vitest';
import type { Freshness } from '../../model/cluster-view.ts';
import { inspect } from '../guard.ts';
import { evict, restamp, scene } from '../testing/scene.ts';

describe('freshness', () => {
  test('what may not be read is not taken to be harmless', () => {
    const context = scene({ records: { freshness: { synced: true, stale: [], hidden: ['poddisruptionbudgets'] } } });
    expect(inspect(evict(), context)).toMatchObject({
      block: { rule: 'fresh', reason: 'NotSeen', message: expect.stringContaining('poddisruptionbudgets') },
    });
  });

  test('a namespace that may not be read is left alone, and no other', () => {
    const context = scene({});
    const without = (unread: string) => {
      const freshness = (namespace?: string): Freshness => ({
        synced: true,
        stale: namespace === unread ? ['pods'] : [],
      });
      return { ...context, view: { ...context.view, freshness } };
    };
    expect(inspect(evict(), without('mail')).kind).toBe('approved');
    expect(inspect(evict(), without('shop'))).toMatchObject({ block: { rule: 'fresh', reason: 'CachesStale' } });
  });

  test.each<[Freshness, string]>([
    [{ synced: true, stale: ['pods', 'nodes'] }, 'pods, nodes'],
    [{ synced: false, stale: [] }, 'the cluster'],
  ])('hazard H34: bug 39: %j: nothing is disrupted and the store is named', (freshness, named) => {
    const context = scene({ records: { freshness } });
    expect(inspect(evict(), context)).toMatchObject({
      block: {
        rule: 'fresh',
        reason: 'CachesStale',
        message: expect.stringContaining(named),
        retryAfterMillis: 10_000,
      },
    });
    expect(inspect(restamp(), context).kind).toBe('blocked');
  });
});
