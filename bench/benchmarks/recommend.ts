/**
 * 10,000 containers with eight days of history: one pass of the whole pipeline over all of them, the heap each profile
 * takes, what saving and loading them all costs, and what is asked of Prometheus for as many. The baseline of the same run only reads one percentile of each.
 * Then what others are promised of a quota, asked by workload after workload of a large namespace.
 */
import { encodeAll } from '../../src/act/save-profiles.ts';
import { defaultPolicy, defaultProfileOptions } from '../../src/decide/rightsizing/policy.ts';
import { recommend } from '../../src/decide/rightsizing/recommend.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import type { SavedUsage } from '../../src/model/saved-usage.ts';
import { UsageProfile } from '../../src/model/usage-profile.ts';
import type { BenchResult } from '../bench-result.ts';
import { measureCollectedUsage } from '../collected-usage.ts';
import { measureQuotaPromises } from '../quota-promises.ts';

const CONTAINERS = 10_000;
const SAMPLES = 8 * 48;
const STEP_MILLIS = 1_800_000;
const MIB = 1024 * 1024;

const heapUsed = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
};

const before = heapUsed();
const random = createSeededRandom(1);
const profiles = Array.from({ length: CONTAINERS }, (): UsageProfile => {
  const profile = new UsageProfile(defaultProfileOptions);
  const level = 5 + 1500 * random.next();
  for (let sample = 0; sample < SAMPLES; sample++) {
    const wave = 1 + 0.6 * Math.sin((2 * Math.PI * sample) / 48) + 0.3 * random.next();
    profile.add({ at: sample * STEP_MILLIS, cpu: level * wave, memory: level * MIB * (1 + 0.2 * random.next()) });
  }
  return profile;
});
const bytesPerProfile = (heapUsed() - before) / CONTAINERS;

const now = (SAMPLES - 1) * STEP_MILLIS;
const current = { request: 100, limit: undefined, lastChangeAt: undefined };
let due = 0;
const startedAt = performance.now();
for (const profile of profiles) {
  const advice = recommend({
    profile,
    cpu: current,
    memory: { ...current, request: 100 * MIB },
    policy: defaultPolicy,
    now,
  });
  if (advice.cpu.isDue) due++;
}
const passMillis = performance.now() - startedAt;
if (due < CONTAINERS / 2) throw new Error('most containers of this benchmark need another request');

const baselineAt = performance.now();
let sum = 0;
for (const profile of profiles) sum += profile.cpu.usual.percentile(0.9);
const baselineMillis = performance.now() - baselineAt;
if (!(sum > 0)) throw new Error('the profiles of this benchmark are empty');

const savingAt = performance.now();
const saved = profiles.map((profile) => profile.save());
const saveMillis = performance.now() - savingAt;
const loadingAt = performance.now();
for (const text of saved) new UsageProfile(defaultProfileOptions, text);
const loadMillis = performance.now() - loadingAt;
const savedBytes = saved.reduce((total, text) => total + text.length, 0) / CONTAINERS;

const storingAt = performance.now();
const items = saved.map((profile, index): SavedUsage => {
  const workload = { kind: 'Deployment', namespace: 'shop', name: `workload-${Math.floor(index / 10)}` };
  const container = `container-${index % 10}`;
  return {
    workload,
    container,
    profile,
    options: defaultProfileOptions,
    readTo: { cpu: now, memory: now },
    seenAt: now,
    kills: [],
  };
});
const { encoded } = await encodeAll(items, 1);
const storeMillis = performance.now() - storingAt;
const storedBytes = encoded.map(({ length }) => length);
const collected = await measureCollectedUsage();
const promises = measureQuotaPromises();

const result: BenchResult = {
  name: 'recommend',
  figures: {
    containers: CONTAINERS,
    pass_ms: passMillis,
    percentile_baseline_ms: baselineMillis,
    pass_to_baseline_ratio: passMillis / baselineMillis,
    heap_bytes_per_profile: bytesPerProfile,
    saved_bytes_per_profile: savedBytes,
    save_all_ms: saveMillis,
    load_all_ms: loadMillis,
    store_all_ms: storeMillis,
    stored_bytes_per_container: storedBytes.reduce((sum, bytes) => sum + bytes, 0) / CONTAINERS,
    largest_shard_bytes: Math.max(...storedBytes),
    ...collected,
    ...promises,
  },
  bars: [
    { key: 'pass_ms', op: '<=', value: 5000 },
    { key: 'heap_bytes_per_profile', op: '<=', value: 3072 },
    { key: 'saved_bytes_per_profile', op: '<=', value: 3072 },
    { key: 'first_requests_per_workload', op: '<=', value: 2 },
    { key: 'later_requests_per_workload', op: '<=', value: 2 },
    { key: 'max_points_per_range', op: '<=', value: 11_000 },
    { key: 'max_query_bytes', op: '<=', value: 8192 },
    { key: 'heap_bytes_per_collected_container', op: '<=', value: 3072 },
    { key: 'largest_shard_bytes', op: '<=', value: 600_000 },
    { key: 'quota_later_to_first_ratio', op: '<=', value: 0.1 },
  ],
};
console.log(JSON.stringify(result));
