/** Gauges of the informers and of what they tell of clocks, set when somebody scrapes. */
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { OddClocks } from '../observe/odd-clocks.ts';

/** What an informer follows, for people, and what of it is told. */
export type NamedInformer = readonly [
  string,
  Pick<Informer<unknown>, 'freshness' | 'lastContactMillis'> & { readonly store: { readonly size: number } },
];

/**
 * Age is counted from the last word of the API server, and is 0 while the watch stands: a type of which nothing changes
 * is as fresh as any. One that was never answered for, as after a restart, grows old from the first scrape on.
 * @param informers of all engines; asked at each scrape, as types come and go.
 */
export function reportStores(metrics: Metrics, informers: () => Iterable<NamedInformer>, clock: Clock): void {
  /** Types that were never answered for, and when they were told first. */
  let unheard: ReadonlyMap<string, EpochMillis> = new Map();
  metrics.onRender(() => {
    metrics.clear('stowage_informer_objects');
    metrics.clear('stowage_informer_age_seconds');
    const still = new Map<string, EpochMillis>();
    for (const [resource, informer] of informers()) {
      metrics.set('stowage_informer_objects', { resource }, informer.store.size);
      const isFresh = informer.freshness() === 'fresh';
      const contactMillis = informer.lastContactMillis();
      const isUnheard = contactMillis === 0;
      if (isUnheard && !isFresh) still.set(resource, unheard.get(resource) ?? clock.now());
      // The first time there is no age yet; of what may not be read, and is assumed, there is none ever.
      const sinceMillis = isUnheard ? unheard.get(resource) : contactMillis;
      if (sinceMillis === undefined) continue;
      metrics.set('stowage_informer_age_seconds', { resource }, isFresh ? 0 : (clock.now() - sinceMillis) / 1000);
    }
    unheard = still;
  });
}

export function reportClocks(metrics: Metrics, clocks: Pick<OddClocks, 'counts'>): void {
  metrics.onRender(() => {
    for (const [teller, count] of Object.entries(clocks.counts())) metrics.set('stowage_clocks_off', { teller }, count);
  });
}
