/** Usage for tests: settings, series and a book. */
import { createSeededRandom } from '../../lib/random.ts';
import { UsageBook } from '../usage-book.ts';
import type { ProfileOptions } from '../usage-profile.ts';
import type { UsageSeries } from '../usage-series.ts';
import type { UsageSettings } from '../usage-settings.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export const profileOptions: ProfileOptions = {
  usualHalfLifeMillis: 8 * HOUR,
  startupExclusionMillis: 120_000,
};

export function usageSettings(changes: Partial<UsageSettings> = {}): UsageSettings {
  return {
    policy: { group: 'optipod.io', namespace: 'shop', name: 'small' },
    provider: 'prometheus',
    rollingWindowMillis: DAY,
    profile: profileOptions,
    needsWindow: false,
    ...changes,
  };
}

/** Points given as [instant, value]. */
export function aSeries(
  pod: string,
  points: { readonly cpu?: readonly [number, number][]; readonly memory?: readonly [number, number][] },
  container = 'app',
): UsageSeries {
  const list = (pairs: readonly [number, number][] = []) => pairs.map(([at, value]) => ({ at, value }));
  return { pod, container, cpu: list(points.cpu), memory: list(points.memory) };
}

export function aBook(retentionMillis = 8 * DAY, seed = 1): UsageBook {
  return new UsageBook({ random: createSeededRandom(seed), retentionMillis });
}
