/**
 * Resident memory of the real operator process against an API server with 1,000 and with 10,000 pods (about 6 KB each on the
 * wire) that run, once its caches are full and it has seen two passes; and the heap a pod record takes. `placement` is the
 * operator as installed, `all` the one with all engines, a policy over all workloads and a cluster in which allocation has
 * worked: each pod has a share of its own and a PodAllocation, and agents go on writing. Both in the packaged form, as the
 * image runs it: the mean of a quarter of a minute, and of three starts the median. `source` is placement from a checkout.
 * The baseline of the same run is a process that lists the same pods and keeps them whole.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchResult, quantile } from '../bench-result.ts';
import { createBenchWorld } from '../bench-world.ts';
import { type MemoryCase, memoryCases, memoryClusters } from '../memory-cases.ts';
import {
  measureOperator,
  type OperatorMemory,
  packageOperator,
  readMemory,
  sourceLauncher,
  stopProcess,
  workIn,
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

async function measure(isWanted: (name: MemoryCase) => boolean): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  if (isWanted('heap')) figures['heap_bytes_per_pod'] = heapPerPod();
  const clusters = memoryClusters.filter(({ pods }) =>
    memoryCases.some((name) => name.endsWith(`-${pods}`) && isWanted(name)),
  );
  if (clusters.length === 0) return figures;
  const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  try {
    const packaged = packageOperator(folder);
    for (const { pods, nodes } of clusters) {
      const cluster = await serveCluster(pods, nodes, folder);
      const measureStarts = async (engines: 'placement' | 'all'): Promise<void> => {
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
      };
      if (isWanted(`placement-${pods}`)) await measureStarts('placement');
      if (isWanted(`source-${pods}`)) {
        const { rss } = await measureOperator(sourceLauncher, cluster.kubeconfig, folder, 'placement');
        figures[`source_rss_${pods}_pods_mb`] = rss;
      }
      if (isWanted(`whole-${pods}`))
        figures[`whole_objects_rss_${pods}_pods_mb`] = await measureWhole(cluster.kubeconfig);
      const [placement, whole] = [
        figures[`placement_rss_${pods}_pods_mb`],
        figures[`whole_objects_rss_${pods}_pods_mb`],
      ];
      if (placement !== undefined && whole !== undefined)
        figures[`placement_to_whole_objects_${pods}_pods_ratio`] = placement / whole;
      if (isWanted(`all-${pods}`)) {
        await cluster.addEngines();
        await workIn(packaged, cluster.kubeconfig, folder, pods);
        await measureStarts('all');
      }
      await cluster.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

/** Names of cases; none stands for all. */
const wanted: readonly string[] = process.argv.slice(2);
const isWhole = wanted.length === 0;
const figures = await measure((name) => isWhole || wanted.includes(name));
const bars: BenchResult['bars'] = [
  { key: 'placement_rss_10000_pods_mb', op: '<=', value: 100 },
  { key: 'all_rss_10000_pods_mb', op: '<=', value: 100 },
  { key: 'heap_bytes_per_pod', op: '<=', value: 1024 },
];
// What was not asked for has no figure to be held to.
const result: BenchResult = {
  name: 'memory',
  figures,
  bars: isWhole ? bars : bars.filter(({ key }) => key in figures),
};
console.log(JSON.stringify(result));
