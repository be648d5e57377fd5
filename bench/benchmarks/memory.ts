/**
 * Resident memory of the real operator process against an API server with 1,000 and with 10,000 pods (about 6 KB each on the
 * wire), once its caches are full and it has seen two passes; and the heap a pod record takes. `placement` is the operator as
 * installed, `all` the one with all engines, a policy over all workloads and a PodAllocation for each pod; both in the packaged
 * form, as the image runs it, the median of three starts. `source` is placement from a checkout.
 * The baseline of the same run is a process that lists the same pods and keeps them whole.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchResult, quantile } from '../bench-result.ts';
import { createBenchWorld } from '../bench-world.ts';
import {
  type EngineSet,
  measureOperator,
  type OperatorMemory,
  packageOperator,
  readMemory,
  sourceLauncher,
  stopProcess,
} from '../operator-process.ts';
import { serveCluster } from '../served-cluster.ts';

const STARTS = 3;

async function measureWhole(kubeconfig: string): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../whole-objects.ts'), kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((done) => child.stdout?.once('data', done));
  const { rss } = readMemory(child);
  await stopProcess(child);
  return rss;
}

/** Heap per pod record, by the difference two sizes of the same world make. */
function heapPerPod(): number {
  const heapOf = (pods: number): [number, unknown] => {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const world = createBenchWorld({ pods, podsPerWorkload: 10, nodes: 100 });
    globalThis.gc?.();
    return [process.memoryUsage().heapUsed - before, world];
  };
  heapOf(100);
  const [small, keepSmall] = heapOf(1000);
  const [large, keepLarge] = heapOf(11_000);
  if (keepSmall === keepLarge) throw new Error('unreachable: both worlds are kept until here');
  return (large - small) / 10_000;
}

const figures: Record<string, number> = { heap_bytes_per_pod: heapPerPod() };
const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
try {
  const packaged = packageOperator(folder);
  for (const [pods, nodes] of [
    [1000, 50],
    [10_000, 500],
  ] as const) {
    const cluster = await serveCluster(pods, nodes, folder);
    const measure = async (engines: EngineSet): Promise<number> => {
      const starts: OperatorMemory[] = [];
      for (let start = 0; start < STARTS; start++)
        starts.push(await measureOperator(packaged, cluster.kubeconfig, folder, engines));
      const median = (key: keyof OperatorMemory) =>
        quantile(
          starts.map((one) => one[key]),
          0.5,
        );
      figures[`${engines}_rss_${pods}_pods_mb`] = median('rss');
      figures[`${engines}_anonymous_${pods}_pods_mb`] = median('anonymous');
      figures[`${engines}_peak_rss_${pods}_pods_mb`] = median('peak');
      figures[`${engines}_cpu_seconds_${pods}_pods`] = median('cpuSeconds');
      return median('rss');
    };
    const rss = await measure('placement');
    const source = await measureOperator(sourceLauncher, cluster.kubeconfig, folder, 'placement');
    const whole = await measureWhole(cluster.kubeconfig);
    figures[`source_rss_${pods}_pods_mb`] = source.rss;
    figures[`whole_objects_rss_${pods}_pods_mb`] = whole;
    figures[`placement_to_whole_objects_${pods}_pods_ratio`] = rss / whole;
    await cluster.addEngines();
    await measure('all');
    await cluster.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const result: BenchResult = {
  name: 'memory',
  figures,
  bars: [
    { key: 'placement_rss_10000_pods_mb', op: '<=', value: 100 },
    { key: 'all_rss_10000_pods_mb', op: '<=', value: 100 },
    { key: 'heap_bytes_per_pod', op: '<=', value: 1024 },
  ],
};
console.log(JSON.stringify(result));
