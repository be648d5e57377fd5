/** Gauges of the informers, set when somebody scrapes. */
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { LiveStores } from '../observe/live-stores.ts';

/**
 * Age is counted from the last word of the API server, and is 0 while the watch stands: a type of which nothing changes
 * is as fresh as any.
 */
export function reportStores(metrics: Metrics, stores: LiveStores, clock: Clock): void {
  metrics.onRender(() => {
    for (const [resource, informer] of Object.entries(stores)) {
      metrics.set('stowage_informer_objects', { resource }, informer.store.size);
      // Before the first answer there is no age.
      if (informer.lastContactMillis() === 0) continue;
      const ageMillis = informer.freshness() === 'fresh' ? 0 : clock.now() - informer.lastContactMillis();
      metrics.set('stowage_informer_age_seconds', { resource }, ageMillis / 1000);
    }
  });
}
