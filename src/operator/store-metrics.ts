/** Gauges of the informers and of what they tell of clocks, set when somebody scrapes. */
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { OddClocks } from '../observe/odd-clocks.ts';

/** What an informer follows, for people, and what of it is told. */
export type NamedInformer = readonly [
  string,
  Pick<Informer<unknown>, 'freshness' | 'lastContactMillis'> & { readonly store: { readonly size: number } },
];

/**
 * Age is counted from the last word of the API server, and is 0 while the watch stands: a type of which nothing changes
 * is as fresh as any.
 * @param informers of all engines; asked at each scrape, as types come and go.
 */
export function reportStores(metrics: Metrics, informers: () => Iterable<NamedInformer>, clock: Clock): void {
  metrics.onRender(() => {
    metrics.clear('stowage_informer_objects');
    metrics.clear('stowage_informer_age_seconds');
    for (const [resource, informer] of informers()) {
      metrics.set('stowage_informer_objects', { resource }, informer.store.size);
      // Before the first answer there is no age.
      if (informer.lastContactMillis() === 0) continue;
      const ageMillis = informer.freshness() === 'fresh' ? 0 : clock.now() - informer.lastContactMillis();
      metrics.set('stowage_informer_age_seconds', { resource }, ageMillis / 1000);
    }
  });
}

export function reportClocks(metrics: Metrics, clocks: Pick<OddClocks, 'counts'>): void {
  metrics.onRender(() => {
    for (const [teller, count] of Object.entries(clocks.counts())) metrics.set('stowage_clocks_off', { teller }, count);
  });
}
