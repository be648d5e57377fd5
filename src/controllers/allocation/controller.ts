/**
 * The allocation loop: a node is worked through when an allocation on it, one of its pods, or what bounds them changes.
 */
import type { BackoffPolicy } from '../../lib/backoff.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Random } from '../../lib/random.ts';
import type { Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadOfKey } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { LiveSizingView } from '../../observe/sizing/live-sizing-view.ts';
import { createEngineQueue, type Look } from '../engine-queue.ts';
import type { AllocationActuator } from './actuator.ts';
import type { AllocationAgents } from './agents.ts';
import type { AllocationPass, PodReport } from './pass.ts';
import type { AllocationReports } from './reports.ts';

export interface AllocationControllerOptions {
  readonly view: LiveSizingView;
  readonly stores: AllocationStores;
  readonly agents: AllocationAgents;
  readonly pass: AllocationPass;
  readonly reports: AllocationReports;
  readonly actuator: AllocationActuator;
  readonly onPodGone: (podUid: string) => void;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Nodes worked on at the same time. */
  readonly workers: number;
}

/**
 * One key a node in its queue, so that passes over one node never overlap; beside it one for the statuses of a node,
 * and one for an allocation whose pod is not there.
 */
export interface AllocationController {
  /** Runs until `signal` aborts; then waits for what is running and resolves. May be run again. */
  run(signal: AbortSignal): Promise<void>;
  wakeNode(name: string, delayMillis?: Millis): void;
  wakeAll(): void;
}

/** Changes come in bursts: a node is looked at once for all that happens within this time. */
const COALESCE: Millis = 30;
/** A status is written once for all that happens within this time. */
const STATUS: Millis = 300;
/** What bounds pods is looked at a little later: it comes in storms, and admission checks it again anyway. */
const BOUNDS: Millis = 2000;
/** A status that could not be written is tried again. */
const RETRY_STATUS: Millis = 2000;
/** How often resizes under way and agents are looked after; also the pause while nothing may be decided. */
const REVIEW: Millis = 1000;
/** Grace, cooldowns of autoscalers and the like change with time alone. */
const RESYNC: Millis = 15_000;
/** An agent may see its pod before we do. */
const LOST: Millis = 5000;
const retryPolicy: BackoffPolicy = { initialMillis: 500, factor: 2, maxMillis: 60_000, jitter: 0.2 };

export function createAllocationController(options: AllocationControllerOptions): AllocationController {
  const { view, stores, agents, pass, reports, actuator, metrics, clock, log } = options;
  const queue = createEngineQueue<'node' | 'status' | 'lost'>({ ...options, name: 'allocation', retryPolicy });
  /** Of each node what the last pass found out, until it is written. */
  const unwritten = new Map<string, readonly PodReport[]>();

  const nodeOf = ({ podName, namespace }: AllocationRecord): string | undefined =>
    view.pod(namespace, podName)?.pod.nodeName;
  const wakeNode = (name: string, delayMillis: Millis = COALESCE): void => queue.wake('node', name, delayMillis);
  const wakeRecord = (record: AllocationRecord): void => {
    const node = nodeOf(record);
    if (node !== undefined) wakeNode(node);
    if (node === undefined || isLost(record)) queue.wake('lost', `${record.namespace}/${record.name}`, LOST);
  };
  /** Its pod is not there, or another pod has taken the name. */
  const isLost = ({ namespace, podName, podUID }: AllocationRecord): boolean => {
    const found = view.pod(namespace, podName);
    return found === undefined || (podUID !== undefined && found.pod.uid !== podUID);
  };
  const wakeAll = (): void => {
    for (const { name } of view.nodes()) if (view.podsOnNode(name).length > 0) wakeNode(name);
    for (const record of stores.all()) if (isLost(record)) wakeRecord(record);
  };
  /** Workloads as they were when their pods were woken. */
  const looked = new WeakSet<SizedWorkload>();
  const wakePods = (ref: WorkloadRef): void => {
    const workload = view.workload(ref);
    // A change of one of its pods is told as one of the workload: what of it concerns the others waits for the resync.
    if (workload === undefined || looked.has(workload)) return;
    looked.add(workload);
    for (const { pod } of view.podsOf(workload)) if (pod.nodeName !== undefined) wakeNode(pod.nodeName, BOUNDS);
  };
  /** Of a quota, limit range or autoscaler: all allocated pods of its namespace may be bounded anew. */
  const wakeNamespace = (namespace: string): void => {
    for (const record of stores.allIn(namespace)) {
      const node = nodeOf(record);
      if (node !== undefined) wakeNode(node, BOUNDS);
    }
  };

  const lookAtNode: Look = async (name, signal) => {
    const startedAt = clock.now();
    await actuator.review(signal);
    const report = await pass.over(name, signal);
    if (report.pods.length === 0) unwritten.delete(name);
    else unwritten.set(name, report.pods);
    metrics.observe('mbcas_controller_reconcile_duration_seconds', {}, (clock.now() - startedAt) / 1000);
    if (report.pods.length > 0) queue.wake('status', name, STATUS);
    return report.againAfterMillis;
  };
  const writeStatuses: Look = async (node, signal) => {
    const found = unwritten.get(node) ?? [];
    if (!(await reports.write(found, signal))) return RETRY_STATUS;
    // Another pass may have been made meanwhile.
    if (unwritten.get(node) === found) unwritten.delete(node);
    return undefined;
  };
  const writeLost: Look = async (key, signal) => {
    const [namespace = '', name = ''] = key.split('/');
    const record = stores.get(namespace, name);
    if (record === undefined || !isLost(record)) return undefined;
    return (await reports.writeLost(record, signal)) ? undefined : RETRY_STATUS;
  };
  /** Nothing is decided on what may be out of date; it is looked at again rather than dropped. */
  const whenFresh =
    (look: Look): Look =>
    async (key, signal) =>
      stores.isFresh() && view.freshness().synced ? await look(key, signal) : REVIEW;

  /** Also the node it left: what it held there is free. */
  const notePod = (before: PodRecord | undefined, after: PodRecord | undefined): void => {
    if (before !== undefined && before.uid !== after?.uid) options.onPodGone(before.uid);
    for (const node of new Set([before?.nodeName, after?.nodeName])) if (node !== undefined) wakeNode(node);
  };

  const tick = async (signal: AbortSignal): Promise<void> => {
    let dueMillis = clock.now();
    while (!signal.aborted) {
      await actuator.review(signal).catch((error: unknown) => {
        if (!signal.aborted) log.error({ error }, 'Resizes under way could not be looked after');
      });
      for (const node of agents.review((name) => view.node(name) !== undefined)) {
        log.info({ node, state: agents.stateOf(node) }, 'The agent of a node came or went');
        wakeNode(node);
      }
      if (clock.now() >= dueMillis) {
        dueMillis = clock.now() + RESYNC;
        wakeAll();
      }
      await pause(clock, REVIEW, signal);
    }
  };

  return {
    wakeNode,
    wakeAll,
    async run(signal) {
      const unsubscribe = [
        stores.onChange((before, after) => {
          agents.note(before, after);
          // A status is as a rule our own word.
          if (after !== undefined && before?.uid === after.uid && before.generation === after.generation) return;
          const record = after ?? before;
          if (record !== undefined) wakeRecord(record);
        }),
        view.onPod(notePod),
        view.onChange((change) => {
          if (change.kind === 'bounds') wakeNamespace(change.namespace);
          else if (change.kind === 'workload') wakePods(workloadOfKey(change.key));
        }),
      ];
      agents.begin(stores.all());
      try {
        const looks = { node: whenFresh(lookAtNode), status: whenFresh(writeStatuses), lost: whenFresh(writeLost) };
        const work = queue.run(looks, signal);
        wakeAll();
        await Promise.all([work, tick(signal)]);
      } finally {
        for (const end of unsubscribe) end();
      }
    },
  };
}
