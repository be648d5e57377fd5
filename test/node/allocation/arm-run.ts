/** One arm, once, on a real node: pods made anew, traffic, and what became of everybody. */
import { readFileSync } from 'node:fs';
import { parseProcStat } from '../../../src/agent/cgroup/parse.ts';

import type { Pod } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { resources } from '../../../src/api/resources.ts';
import { type PodFigures, podFigures } from '../../../src/lab/pod-figures.ts';
import { type Clock, sleep } from '../../../src/lib/clock.ts';
import type { EpochMillis, Millicores, Millis } from '../../../src/lib/units.ts';
import { type OperatorProcess, podWith, startOperatorProcess } from '../../cluster/operator-process.ts';
import { isReady } from '../pod-access.ts';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';
import { type NodeArm, nodePods, type RequestKind, rateOf } from './arms.ts';
import { type PodWatch, watchPods } from './pod-watch.ts';
import type { PriorityGroup } from './priority-group.ts';
import { createPods, type KernelCounters, kernelCounters, type PodSize, sharedPod } from './shared-pods.ts';
import { startTraffic } from './traffic.ts';

export interface ArmRunOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly node: { readonly name: string; readonly cgroup: string };
  readonly kubeconfigPath: string;
  readonly directory: string;
  /** Path of the load program. */
  readonly load: string;
  readonly drivers: PriorityGroup;
  readonly arm: NodeArm;
  readonly requests: RequestKind;
  readonly seed: number;
  /** Not counted. */
  readonly warmUpMillis: Millis;
  readonly measuredMillis: Millis;
  /** All rates are multiplied by it. */
  readonly rate: number;
  /** The agent takes the machine for the node's alone. */
  readonly isAlone: boolean;
}

export interface ArmRun {
  readonly arm: string;
  readonly requests: RequestKind;
  readonly seed: number;
  readonly pods: readonly PodFigures[];
  readonly highestSum: Millicores;
  readonly restarts: number;
  /** What everything but these pods took of the machine; beyond some hundred, the run is of something else as well. */
  readonly rest: Millicores;
  /** Of the rest, what agent and operator took themselves. */
  readonly own: Millicores;
  /** Of the measured time, of a pod that had most of them. */
  readonly writesPerMinute: number;
  /** Sizes over time, from the first request on. */
  readonly sizes: readonly { readonly atMillis: Millis; readonly pod: string; readonly to: PodSize }[];
}

const POLL: Millis = 100;
const START_TIMEOUT: Millis = 60_000;
const SETTLED: Millis = 60_000;
const MINUTE: Millis = 60_000;

interface Controller {
  readonly pid: number;
  stop(): Promise<void>;
}

export async function runArm(options: ArmRunOptions): Promise<ArmRun> {
  const { api, clock, node, arm, requests, seed } = options;
  const namespace = `${arm.name}-${requests}-${seed}`;
  await api.create(resources.namespaces, { metadata: { name: namespace, labels: { 'mbcas.io/managed': 'true' } } });
  const watch = await watchPods(api, node.name, clock);
  const controllers: Controller[] = [];
  try {
    const pods = nodePods(requests).map((pod) => {
      const limit = arm.limitOf(pod);
      // A request may not be above its limit.
      return { ...pod, limit, request: Math.min(pod.request, limit ?? pod.request) };
    });
    // The hog last: it would slow down the start of the others.
    for (const pod of pods) {
      await createPods(api, namespace, [sharedPod(node.name, pod)]);
      await until(clock, () => {
        const found = watch.pods.get(`${namespace}/${pod.name}`);
        return found !== undefined && isReady(found);
      });
    }
    if (arm.agent !== undefined) {
      // A pod that became ready a moment ago gives nothing up; those of the field have run for long.
      await sleep(clock, SETTLED);
      controllers.push(...(await startStowage(options, arm.agent, namespace)));
    }
    return await measure(options, namespace, watch, controllers);
  } finally {
    for (const each of controllers) await each.stop();
    await api.delete(resources.namespaces, namespace);
    await until(clock, () => ![...watch.pods.keys()].some((key) => key.startsWith(`${namespace}/`)));
    await watch.stop();
  }
}

async function startStowage(
  { node, kubeconfigPath, directory, clock, drivers, isAlone }: ArmRunOptions,
  settings: Readonly<Record<string, string>>,
  namespace: string,
): Promise<[AgentProcess, OperatorProcess]> {
  const operator = await startOperatorProcess({
    name: 'operator',
    directory,
    kubeconfigPath,
    clock,
    pod: podWith({
      engines: { placement: false, allocation: true },
      operator: { leaderElection: { namespace } },
      allocation: { warmUp: '0s' },
    }),
  });
  const agent = await startAgentProcess({
    nodeName: node.name,
    cgroup: node.cgroup,
    kubeconfigPath,
    directory,
    clock,
    isAlone,
    wrap: drivers.wrap,
    // The pods have only just started; in the field they run for long.
    settings: { MBCAS_STARTUP_GRACE_PERIOD: '0s', ...settings },
  });
  return [agent, operator];
}

async function measure(
  options: ArmRunOptions,
  namespace: string,
  watch: PodWatch,
  controllers: readonly Controller[],
): Promise<ArmRun> {
  const { clock, node, load, drivers, arm, requests, seed, warmUpMillis, measuredMillis, rate } = options;
  const podOf = (name: string): Pod => {
    const pod = watch.pods.get(`${namespace}/${name}`);
    if (pod === undefined) throw new Error(`pod ${name} is gone`);
    return pod;
  };
  const names = nodePods(requests).map(({ name }) => name);
  const countersNow = (): ReadonlyMap<string, KernelCounters> =>
    new Map(names.map((name) => [name, kernelCounters(node.cgroup, podOf(name))]));
  const targets = names
    .filter((name) => rateOf(name, 0) > 0)
    .map((name) => ({
      name,
      address: `${podOf(name).status?.podIP}:8080`,
      ratePerSecond: (millis: Millis) => rate * rateOf(name, millis),
    }));
  const lengthMillis = warmUpMillis + measuredMillis;
  const traffic = await startTraffic({ load, targets, lengthMillis, seed, wrap: drivers.wrap });
  try {
    const start: EpochMillis = clock.now();
    await sleep(clock, warmUpMillis);
    const ownMicros = (): number => controllers.reduce((sum, { pid }) => sum + processMicros(pid), 0);
    const [before, machineBefore, ownBefore] = [countersNow(), machineMicros(), ownMicros()];
    const from = clock.now() - start;
    await sleep(clock, measuredMillis);
    const [after, machineAfter, ownAfter] = [countersNow(), machineMicros(), ownMicros()];
    const until_ = clock.now() - start;
    const replies = await traffic.replies;
    const writesOf = (name: string): number =>
      watch.changes.filter(({ pod, at }) => pod === name && at - start >= from && at - start < until_).length;
    const figures = names.map((name) =>
      podFigures(
        { name },
        {
          counters: labCounters(after.get(name)),
          before: labCounters(before.get(name)),
          replies: replies.get(name) ?? [],
          from,
          until: lengthMillis,
          writes: writesOf(name),
        },
      ),
    );
    return {
      arm: arm.name,
      requests,
      seed,
      pods: figures,
      highestSum: watch.highestSum,
      rest: Math.round(
        (machineAfter - machineBefore) / (until_ - from) - figures.reduce((sum, { usage }) => sum + usage, 0),
      ),
      own: Math.round((ownAfter - ownBefore) / (until_ - from)),
      restarts: names.reduce((sum, name) => sum + (podOf(name).status?.containerStatuses?.[0]?.restartCount ?? 0), 0),
      writesPerMinute: (Math.max(...names.map(writesOf)) * MINUTE) / (until_ - from),
      sizes: watch.changes.map(({ at, pod, to }) => ({ atMillis: at - start, pod, to })),
    };
  } finally {
    traffic.stop();
  }
}

/** CPU time of all processes so far. */
const machineMicros = (): number => parseProcStat(readFileSync('/proc/stat', 'utf8')) ?? 0;

/** CPU time of one process: fields 14 and 15, in hundredths of a second, after a name that may hold anything (proc_pid_stat(5)). */
function processMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

const labCounters = (counters: KernelCounters | undefined) => ({
  usedMillis: (counters?.usedMicros ?? 0) / 1000,
  periods: counters?.periods ?? 0,
  throttledPeriods: counters?.throttledPeriods ?? 0,
  throttledMillis: (counters?.throttledMicros ?? 0) / 1000,
  waitedMillis: 0,
});

async function until(clock: Clock, holds: () => boolean): Promise<void> {
  const deadline = clock.now() + START_TIMEOUT;
  while (!holds()) {
    if (clock.now() > deadline) throw new Error('the pods are not ready, or not gone, after a minute');
    await sleep(clock, POLL);
  }
}
