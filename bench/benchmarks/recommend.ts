/**
 * 10,000 containers with eight days of history: one pass of the whole pipeline over all of them, the heap each profile
 * takes, and what saving and loading them all costs. The baseline of the same run only reads one percentile of each.
 */
import { defaultPolicy, defaultProfileOptions } from '../../src/decide/rightsizing/policy.ts';
import { recommend } from '../../src/decide/rightsizing/recommend.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import { UsageProfile } from '../../src/model/usage-profile.ts';
import type { BenchResult } from '../bench-result.ts';

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
  },
  bars: [
    { key: 'pass_ms', op: '<=', value: 5000 },
    { key: 'heap_bytes_per_profile', op: '<=', value: 3072 },
    { key: 'saved_bytes_per_profile', op: '<=', value: 3072 },
  ],
};
console.log(JSON.stringify(result));
