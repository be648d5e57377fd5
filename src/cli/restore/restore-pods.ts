/** Gives pods back what they had, through the guard as everything else: decreases first, each followed until it is in force. */

import { createResize } from '../../act/resize.ts';
import { createForgetOriginals } from '../../act/restore.ts';
import { originalsKeys } from '../../api/annotations-sizing.ts';
import type { KubeObject } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { planRestore, type RestorePlan } from '../../decide/restore-size.ts';
import type { SizingEngine } from '../../decide/size-decision.ts';
import type { SizeGuardContext } from '../../guard/size/context.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import { createSizeLog } from '../../guard/size/size-history.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import { severalAtOnce } from '../../lib/several-at-once.ts';
import type { Millis } from '../../lib/units.ts';
import { isInForce } from '../../model/granted-size.ts';
import { isLive } from '../../model/owners.ts';
import type { NodeRecord } from '../../model/records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import { createProjections } from '../../observe/project.ts';
import { createSizingInterners } from '../../observe/sizing/sizing-interners.ts';
import { createSizingProjections } from '../../observe/sizing/sizing-projections.ts';
import { type Reader, readAllowed, type Selection } from '../input/read-allowed.ts';
import { inRestoreOrder } from './restore-order.ts';
import { withoutRightsized } from './without-rightsized.ts';

/** Whose changes are taken back, and where. */
export interface RestoreRequest {
  readonly engines: readonly SizingEngine[];
  /** Left out, the whole cluster. */
  readonly namespace: string | undefined;
  /** Labels of pods, as `kubectl -l` has them; left out, all. */
  readonly selector?: string | undefined;
  readonly isDryRun: boolean;
  /** Told once how many pods there are to be given something back, before any is. */
  readonly onFound?: (pods: number) => void;
  /** Told of each pod at once: of a large cluster it takes minutes. */
  readonly onTold?: (pod: RestoredPod) => void;
}

/** What became of one pod; a pod that both engines changed is told twice. */
export interface RestoredPod {
  readonly pod: string;
  readonly engine: SizingEngine;
  /** `would` in a dry run; `asked`: sent, and not in force in the time that was waited for it; `gone`: deleted meanwhile. */
  readonly result: 'restored' | 'would' | 'asked' | 'kept' | 'refused' | 'gone';
  readonly message: string;
}

const WAIT: Millis = 20_000;
const LOOK: Millis = 250;
const MANY = 1_000_000;

/** Of one node one pod at a time, so that each is judged by what those before it have left. */
const NODES_AT_ONCE = 8;

/**
 * Gives pods back what they had before, first all that shrink: they make room for the others. Each is waited for.
 * @throws KubeError where pods cannot be listed; what one pod is refused is told in the result.
 */
export async function restorePods(
  api: KubeApi,
  { engines, namespace, selector, isDryRun, onFound, onTold }: RestoreRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly RestoredPod[]> {
  const { view, pods, hidesNodes } = await readCluster({ api, signal }, { namespace, selector });
  const wanted = engines.flatMap((engine) =>
    pods.flatMap((pod) => {
      const isChanged = pod.sizing.marks[originalsKeys[engine]] !== undefined;
      // What has ended, or is about to, has nothing to get: nodes that were shut down leave such pods behind for days.
      if (!isChanged || pod.pod.nodeName === undefined || !isLive(pod.pod)) return [];
      const found = planRestore(pod, engine, view.node(pod.pod.nodeName), view.workloadOf(pod.pod));
      const isLeftTo = engine === 'allocation' && engines.includes('rightsizing');
      const plan = isLeftTo ? withoutRightsized(found, pod) : found;
      return [{ engine, pod, plan, needsNode: hidesNodes && plan.kind === 'resize' && plan.lifted.length > 0 }];
    }),
  );
  onFound?.(new Set(wanted.map(({ pod }) => pod)).size);
  const done: RestoredPod[] = [];
  const giveBack = async ({ engine, pod, plan, needsNode }: (typeof wanted)[number]): Promise<void> => {
    signal.throwIfAborted();
    const tell = (result: RestoredPod['result'], message: string): void => {
      const told = { pod: `${pod.pod.namespace}/${pod.pod.name}`, engine, result, message };
      done.push(told);
      onTold?.(told);
    };
    if (plan.kind === 'unreadable') tell('kept', `the annotation ${plan.key} is not readable`);
    else if (plan.kind === 'unknown') tell('kept', unknownNode(plan.resource));
    else if (needsNode) tell('kept', NEEDS_NODE);
    else if (isDryRun) tell('would', plan.kind === 'resize' ? plan.decision.why.summary : 'has its sizes already');
    else {
      try {
        const outcome = await restoreOne({ pod, engine, plan }, { api, clock, signal });
        tell(outcome.result, outcome.message);
      } catch (error) {
        if (signal.aborted) throw error;
        tell('refused', describeError(error));
      }
    }
  };
  for (const phase of inRestoreOrder(wanted)) {
    const byNode = [...Map.groupBy(phase, ({ pod }) => pod.pod.nodeName).values()];
    await severalAtOnce(byNode, NODES_AT_ONCE, async (own) => {
      for (const each of own) await giveBack(each);
    });
  }
  return done;
}

interface Restoring {
  readonly pod: SizedPod;
  readonly engine: SizingEngine;
  readonly plan: Exclude<RestorePlan, { kind: 'unreadable' | 'unknown' }>;
}

async function restoreOne(
  { pod: before, engine, plan }: Restoring,
  { api, clock, signal }: { readonly api: KubeApi; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Pick<RestoredPod, 'result' | 'message'>> {
  /** Only when the annotation has gone, too, is the pod nobody's business any more. */
  const finish = async (message: string): Promise<Pick<RestoredPod, 'result' | 'message'>> => {
    const outcome = await createForgetOriginals(api)(before.pod, engine, signal);
    if (outcome.result !== 'refused') return { result: 'restored', message };
    const why = `${message}, but the annotation ${originalsKeys[engine]} cannot be taken off: ${outcome.message}`;
    return { result: 'refused', message: why };
  };
  if (plan.kind === 'nothing') return await finish('has its sizes already');
  // Each stands on what the ones before it have left, on its node and in its namespace; the rest is none of its guards' business.
  const { view } = await readCluster(
    { api, signal },
    { namespace: before.pod.namespace, nodeName: before.pod.nodeName },
  );
  const verdict = inspectSize(plan.decision, contextOf(view, clock));
  if (verdict.kind === 'blocked') return { result: 'kept', message: verdict.block.message };
  const outcome = await createResize({ api, pod: view.pod })(verdict.approved, signal);
  if (outcome.result === 'gone') return GONE;
  if (outcome.result === 'refused') return { result: 'refused', message: outcome.message };
  const deadline = clock.now() + WAIT;
  while (clock.now() < deadline) {
    const pod = await readPod(api, before, signal);
    if (pod === undefined) return GONE;
    if (isInForce(pod.sizing, plan.decision.changes)) return await finish(plan.decision.why.summary);
    await sleep(clock, LOOK, signal);
  }
  return { result: 'asked', message: 'asked for, and not in force yet; run the command again' };
}

function contextOf(view: SizingView, clock: Clock): SizeGuardContext {
  return {
    view,
    settings: {
      enabled: true,
      readOnly: false,
      dryRun: false,
      warmUpMillis: 0,
      maxConcurrentResizes: MANY,
      maxChangesPerMinute: MANY,
      memoryMargin: 0,
    },
    policy: { cooldownMillis: 0, allowRecreate: false },
    leadership: { leader: true, sinceMillis: 0 },
    history: createSizeLog({ backoff: { initial: 1, max: 1 }, giveUpAfter: MANY, giveUpMillis: 1 }),
    resizes: [],
    evictions: [],
    memoryOf: () => undefined,
    isAllocated: () => false,
    servesResize: true,
    now: clock.now(),
  };
}

const ignore = (): void => {};

const GONE = { result: 'gone', message: 'the pod was deleted meanwhile' } as const;
const unknownNode = (resource: 'cpu' | 'memory'): string =>
  `a limit that was not there before can only be raised to the ${resource} of its node, which is not known now; run the command again`;
const NEEDS_NODE =
  'a limit that was not there before can only be raised to what its node has, and nodes may not be read with these credentials';

/**
 * Stands for a node that may not be read: it speaks against no resize, and what is raised to what it has has no end.
 */
function hiddenNode(name: string): NodeRecord {
  const allocatable = { cpuMillis: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY };
  const state = { ready: true, unschedulable: false, deleting: false };
  return { name, uid: `hidden/${name}`, labels: {}, taints: [], ...state, allocatable, maxPods: 0, createdAt: 0 };
}

interface Looked {
  readonly view: SizingView;
  readonly pods: readonly SizedPod[];
  /** Nodes stand for those that may not be read. */
  readonly hidesNodes: boolean;
}

interface Look {
  readonly namespace: string | undefined;
  readonly nodeName?: string | undefined;
  /** Of pods. */
  readonly selector?: string | undefined;
}

/**
 * What the guards look at, as far as it may be read: what is not seen speaks against nothing here, as the API server
 * and the kubelet have the last word on a resize.
 * @param nodeName only what matters to a pod there: in a large cluster a look at all of it for each pod takes hours.
 */
async function readCluster(reader: Reader, { namespace, nodeName, selector }: Look): Promise<Looked> {
  const project = createProjections(ignore, { sizing: true });
  const sizing = createSizingProjections(createSizingInterners(MANY), ignore);
  const onNode = {
    ...(nodeName !== undefined && { fieldSelector: `spec.nodeName=${nodeName}` }),
    ...(selector !== undefined && { labelSelector: selector }),
  };
  const theNode = nodeName === undefined ? {} : { fieldSelector: `metadata.name=${nodeName}` };
  const read = async <T extends KubeObject>(
    type: ResourceType<T>,
    within: string | undefined,
    choice: Selection = {},
  ): Promise<T[] | KubeError> => {
    let items: T[] = [];
    const begin = () => {
      items = [];
      return { add: (item: T) => void items.push(item) };
    };
    return (await readAllowed(reader, type, within, begin, choice)) ?? items;
  };
  const [nodes, limitRanges, quotas] = await Promise.all([
    read(resources.nodes, undefined, theNode),
    read(resources.limitRanges, namespace),
    read(resources.resourceQuotas, namespace),
  ]);
  // Pods of other namespaces matter only to the room on a node that is known.
  const around = nodeName === undefined || isRefusal(nodes) ? namespace : undefined;
  const all = await read(resources.pods, around, onNode);
  const seen = isRefusal(all) && around !== namespace ? await read(resources.pods, namespace, onNode) : all;
  if (isRefusal(seen)) throw seen;
  const pods = seen.flatMap((each) => project.pod(each) ?? []);
  const hidesNodes = isRefusal(nodes);
  const view = createSizingSnapshot({
    pods,
    nodes: isRefusal(nodes)
      ? pods.flatMap((pod) => (pod.nodeName === undefined ? [] : hiddenNode(pod.nodeName)))
      : nodes.flatMap((each) => project.node(each) ?? []),
    limitRanges: orNone(limitRanges).flatMap((each) => sizing.limitRange(each) ?? []),
    quotas: orNone(quotas).flatMap((each) => sizing.quota(each) ?? []),
  });
  return { view, pods: pods.flatMap((pod) => view.pod(pod.namespace, pod.name) ?? []), hidesNodes };
}

const isRefusal = (answer: readonly object[] | KubeError): answer is KubeError => answer instanceof KubeError;
const orNone = <T extends object>(answer: T[] | KubeError): T[] => (answer instanceof KubeError ? [] : answer);

async function readPod(api: KubeApi, { pod }: SizedPod, signal: AbortSignal): Promise<SizedPod | undefined> {
  const { items } = await api.list(resources.pods, {
    namespace: pod.namespace,
    fieldSelector: `metadata.name=${pod.name}`,
    signal,
  });
  const [record] = items.flatMap((each) => createProjections(ignore, { sizing: true }).pod(each) ?? []);
  return record?.sizing === undefined || record.uid !== pod.uid ? undefined : { pod: record, sizing: record.sizing };
}
