/** A week of usage of every container, saved as the operator saves it: what it finds when it starts anew where it has worked. */
import { createProfileStore } from '../src/act/save-profiles.ts';
import type { Pod } from '../src/api/core.ts';
import type { KubeApi } from '../src/api/kube-api.ts';
import { defaultProfileOptions } from '../src/decide/rightsizing/policy.ts';
import { createSilentLogger } from '../src/lib/log.ts';
import { createSeededRandom } from '../src/lib/random.ts';
import type { EpochMillis } from '../src/lib/units.ts';
import type { SavedUsage } from '../src/model/saved-usage.ts';
import { UsageBook } from '../src/model/usage-book.ts';
import type { UsageSeries } from '../src/model/usage-series.ts';
import type { UsageSettings } from '../src/model/usage-settings.ts';
import { benchNamespace, operatorNamespace } from './bench-world.ts';

const DAY_MILLIS = 86_400_000;
const DAYS = 7;
const STEP_MILLIS = 1_800_000;
const STEPS_A_DAY = DAY_MILLIS / STEP_MILLIS;
const MIB = 1024 ** 2;

/** As the operator makes them of a policy that names no strategy. */
const settings: UsageSettings = {
  policy: { group: 'optipod.io', namespace: benchNamespace, name: 'all' },
  provider: 'metrics-server',
  rollingWindowMillis: DAY_MILLIS,
  profile: defaultProfileOptions,
  needsWindow: true,
};

/** @param pods one of each workload, by its name. */
export async function saveRememberedUsage(
  api: KubeApi,
  pods: ReadonlyMap<string, Pod>,
  now: EpochMillis,
): Promise<void> {
  const random = createSeededRandom(1);
  const book = new UsageBook({ random, retentionMillis: 30 * DAY_MILLIS });
  for (const [name, pod] of pods) {
    const ref = { kind: 'Deployment', namespace: benchNamespace, name };
    const series = (pod.spec?.containers ?? []).map(({ name: container }): UsageSeries => {
      const level = 5 + 200 * random.next();
      const points = (unit: number) =>
        Array.from({ length: DAYS * STEPS_A_DAY }, (_, step) => {
          const wave = 1 + 0.6 * Math.sin((2 * Math.PI * step) / STEPS_A_DAY) + 0.3 * random.next();
          return { at: now - (DAYS * STEPS_A_DAY - step) * STEP_MILLIS, value: Math.round(level * wave * unit) };
        });
      return { pod: pod.metadata?.name ?? '', container, cpu: points(1), memory: points(MIB) };
    });
    const readTo = { cpu: now - STEP_MILLIS, memory: now - STEP_MILLIS };
    book.take(ref, settings, { series, readTo, takenOf: () => undefined, startedAt: () => undefined }, now);
  }
  const items: SavedUsage[] = [...book.save()].flat();
  const store = createProfileStore({
    api,
    namespace: operatorNamespace,
    isLeader: () => true,
    log: createSilentLogger(),
  });
  const { failed } = await store.save(items, new AbortController().signal);
  if (failed > 0) throw new Error(`${failed} parts of the remembered usage could not be saved`);
}
