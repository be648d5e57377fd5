/** Gives pods back what they had, through the guard as everything else: decreases first, each followed until it is in force. */
import { createResize } from '../../act/resize.ts';
import { createForgetOriginals } from '../../act/restore.ts';
import { originalsKeys } from '../../api/annotations-sizing.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { planRestore, type RestorePlan } from '../../decide/restore-size.ts';
import type { SizingEngine } from '../../decide/size-decision.ts';
import type { SizeGuardContext } from '../../guard/size/context.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import { createSizeLog } from '../../guard/size/size-history.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Millis } from '../../lib/units.ts';
import { isInForce } from '../../model/granted-size.ts';
import type { PodRecord } from '../../model/records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import { createProjections } from '../../observe/project.ts';
import { createSizingInterners } from '../../observe/sizing/sizing-interners.ts';
import { createSizingProjections } from '../../observe/sizing/sizing-projections.ts';

/** Whose changes are taken back, and where. */
export interface RestoreRequest {
  readonly engines: readonly SizingEngine[];
  /** Left out, the whole cluster. */
  readonly namespace: string | undefined;
  readonly isDryRun: boolean;
}

/** What became of one pod; a pod that both engines changed is told twice. */
export interface RestoredPod {
  readonly pod: string;
  readonly engine: SizingEngine;
  /** `would` in a dry run; `asked`: sent, and not in force in the time that was waited for it. */
  readonly result: 'restored' | 'would' | 'asked' | 'kept' | 'refused';
  readonly message: string;
}

const WAIT: Millis = 20_000;
const LOOK: Millis = 250;
const MANY = 1_000_000;

/**
 * Gives pods back what they had before, those that shrink first: they make room for the others. One at a time, each waited for.
 * @throws KubeError where pods cannot be listed; what one pod is refused is told in the result.
 */
export async function restorePods(
  api: KubeApi,
  { engines, namespace, isDryRun }: RestoreRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly RestoredPod[]> {
  const view = await readView(api, signal);
  const found = podsOf(view).filter(({ pod }) => namespace === undefined || pod.namespace === namespace);
  const wanted = engines.flatMap((engine) =>
    found.flatMap((pod) => {
      if (pod.sizing.marks[originalsKeys[engine]] === undefined) return [];
      const node = pod.pod.nodeName === undefined ? undefined : view.node(pod.pod.nodeName);
      return [{ engine, pod, plan: planRestore(pod, engine, node, view.workloadOf(pod.pod)) }];
    }),
  );
  wanted.sort((left, right) => growthOf(left) - growthOf(right));
  const done: RestoredPod[] = [];
  for (const { engine, pod, plan } of wanted) {
    signal.throwIfAborted();
    const tell = (result: RestoredPod['result'], message: string): void =>
      void done.push({ pod: `${pod.pod.namespace}/${pod.pod.name}`, engine, result, message });
    if (plan.kind === 'unreadable') tell('kept', `the annotation ${plan.key} is not readable`);
    else if (isDryRun) tell('would', plan.kind === 'resize' ? plan.decision.why.summary : 'has its sizes already');
    else {
      const outcome = await restoreOne({ pod, engine, plan }, { api, clock, signal });
      tell(outcome.result, outcome.message);
    }
  }
  return done;
}

interface Restoring {
  readonly pod: SizedPod;
  readonly engine: SizingEngine;
  readonly plan: Exclude<RestorePlan, { kind: 'unreadable' }>;
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
  const view = await readView(api, signal, before.pod);
  const verdict = inspectSize(plan.decision, contextOf(view, clock));
  if (verdict.kind === 'blocked') return { result: 'kept', message: verdict.block.message };
  const outcome = await createResize({ api, pod: view.pod })(verdict.approved, signal);
  if (outcome.result === 'gone') return { result: 'kept', message: 'the pod is gone' };
  if (outcome.result === 'refused') return { result: 'refused', message: outcome.message };
  const deadline = clock.now() + WAIT;
  while (clock.now() < deadline) {
    const pod = await readPod(api, before, signal);
    if (pod === undefined) return { result: 'kept', message: 'the pod is gone' };
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

/** @param around only what the guards look at for this pod: in a large cluster a look at all of it for each pod takes hours. */
async function readView(api: KubeApi, signal: AbortSignal, around?: PodRecord): Promise<SizingView> {
  const project = createProjections(ignore, { sizing: true });
  const sizing = createSizingProjections(createSizingInterners(MANY), ignore);
  const node = around?.nodeName;
  const onNode = { signal, ...(node !== undefined && { fieldSelector: `spec.nodeName=${node}` }) };
  const theNode = { signal, ...(node !== undefined && { fieldSelector: `metadata.name=${node}` }) };
  const within = { signal, ...(around !== undefined && { namespace: around.namespace }) };
  const [pods, nodes, limitRanges, quotas] = await Promise.all([
    api.list(resources.pods, onNode),
    api.list(resources.nodes, theNode),
    api.list(resources.limitRanges, within),
    api.list(resources.resourceQuotas, within),
  ]);
  return createSizingSnapshot({
    pods: pods.items.flatMap((each) => project.pod(each) ?? []),
    nodes: nodes.items.flatMap((each) => project.node(each) ?? []),
    limitRanges: limitRanges.items.flatMap((each) => sizing.limitRange(each) ?? []),
    quotas: quotas.items.flatMap((each) => sizing.quota(each) ?? []),
  });
}

async function readPod(api: KubeApi, { pod }: SizedPod, signal: AbortSignal): Promise<SizedPod | undefined> {
  const { items } = await api.list(resources.pods, {
    namespace: pod.namespace,
    fieldSelector: `metadata.name=${pod.name}`,
    signal,
  });
  const [record] = items.flatMap((each) => createProjections(ignore, { sizing: true }).pod(each) ?? []);
  return record?.sizing === undefined || record.uid !== pod.uid ? undefined : { pod: record, sizing: record.sizing };
}

function podsOf(view: SizingView): SizedPod[] {
  return [...view.nodes()].flatMap(({ name }) => view.podsOnNode(name));
}

/** Pods that give come before those that take. */
function growthOf({ pod, plan }: { readonly pod: SizedPod; readonly plan: RestorePlan }): number {
  if (plan.kind !== 'resize') return 0;
  return plan.decision.changes.reduce((sum, { container, to }) => {
    const size = pod.sizing.containers.find(({ name }) => name === container)?.size ?? {};
    return sum + (to.cpuRequest ?? size.cpuRequest ?? 0) - (size.cpuRequest ?? 0);
  }, 0);
}
