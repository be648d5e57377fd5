/**
 * What the operator knows about one allocated pod beyond what its node's agent does: facts for hints, admission and
 * restoring.
 */

import type { AdmissionFacts } from '../../decide/allocation/admit.ts';
import { type AllocationPod, allocationPodOf, requestWith } from '../../decide/allocation/allocation-pod.ts';
import type { PodHistory } from '../../decide/allocation/eligibility.ts';
import type { PodFacts } from '../../decide/allocation/hints.ts';
import { hpasOf } from '../../decide/allocation/integrations/horizontal-pod-autoscaler.ts';
import type { NodeCondition } from '../../decide/allocation/integrations/node-conditions.ts';
import type { QuotaLedger } from '../../decide/allocation/integrations/resource-quota.ts';
import { managedOf } from '../../decide/allocation/marks.ts';
import type { AllocationRules } from '../../decide/allocation/rules.ts';
import { pdbsOf } from '../../guard/rules/pdb.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import type { FailedChange } from '../../guard/size/size-history.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import { actingVpa } from '../../model/acting-vpa.ts';
import { hasEnded } from '../../model/owners.ts';
import { heldRequests, type SizeChange, sumOf } from '../../model/pod-size.ts';
import { runningOf } from '../../model/predecessors.ts';
import type { NodeRecord } from '../../model/records.ts';
import { workloadRef } from '../../model/refs.ts';
import { isTarget, type ScaleTarget } from '../../model/scale-target.ts';
import { isOwnManager } from '../../model/size-managers.ts';
import type { QuotaRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { AllocationAgents } from './agents.ts';
import type { AllocationMemory } from './memory.ts';
import { type CpuGrowth, cpuGrowth, type QuotaReading } from './quota-readings.ts';
import type { AllocationSettings } from './settings.ts';
import { medianShareOf, spreadFactsOf } from './spread.ts';

/** All that is known of one pod. */
export interface AllocatedPod {
  readonly found: SizedPod;
  readonly pod: AllocationPod;
  readonly workload: SizedWorkload | undefined;
  readonly node: NodeRecord | undefined;
  readonly facts: PodFacts;
  readonly history: PodHistory;
  /** Its resizes fail one after the other, for a reason of its own, and none is tried for now. */
  readonly isRefused: boolean;
}

/** Asked at each pass: nothing is kept in between. */
export interface AllocationFacts {
  of(found: SizedPod): AllocatedPod;
  admission(known: AllocatedPod, reading: QuotaReading): AdmissionFacts;
  /** Quotas of a namespace as the view has them. */
  quotas(namespace: string): readonly QuotaRecord[] | undefined;
  /** Growth in a namespace that was asked for and is not in the specs the view has, by uid of the pod. */
  growthUnderWay(namespace: string): ReadonlyMap<string, CpuGrowth>;
}

export interface AllocationFactsOptions {
  readonly view: SizingView;
  readonly agents: AllocationAgents;
  readonly memory: AllocationMemory;
  readonly settings: () => AllocationSettings;
  /** Of both engines. */
  readonly resizes: () => readonly InFlightResize[];
  readonly lastWriteAt: (podUid: string) => EpochMillis | undefined;
  /** What the node said it can never give this pod. */
  readonly infeasible: (podUid: string, nodeName: string) => readonly SizeChange[] | undefined;
  /** How its last resizes failed, where nothing has worked since. */
  readonly failed: (podUid: string) => FailedChange | undefined;
  readonly clock: Clock;
}

/** One may fail for any reason; from so many in a row on, what the pod has is taken to be what it keeps. */
const REFUSED = 2;

export function createAllocationFacts(options: AllocationFactsOptions): AllocationFacts {
  const { view, agents, memory, settings, resizes, clock } = options;
  /** Nothing bounds a pod that is not known, and unknown is not nothing. */
  const isKnown = (): boolean => {
    const { synced, stale } = view.freshness();
    return synced && stale.length === 0;
  };

  const of = (found: SizedPod): AllocatedPod => {
    const { pod: record } = found;
    const { namespace } = record;
    const pod = allocationPodOf(found);
    const workload = view.workloadOf(record);
    const node = record.nodeName === undefined ? undefined : view.node(record.nodeName);
    const known = isKnown();
    const { rules } = settings();
    const { weight } = rules;
    const facts: PodFacts = {
      limitRanges: known ? view.limitRanges(namespace) : 'unknown',
      hpas: known ? hpasOf({ workload, owner: record.owner }, view.hpas(namespace), isWorkload(namespace)) : 'unknown',
      pdbs: known ? pdbsOf(view.pdbs(namespace), record) : 'unknown',
      ...(node !== undefined && { node }),
      ...(workload !== undefined && { template: sumOf(workload.containers, 'cpuRequest') }),
      ...(weight.topologySpread && workload !== undefined && { spread: spreadFactsOf(view, found, workload) }),
      ...(weight.spreadCeiling && workload !== undefined && known && medianFact(view, workload, rules)),
      ...(weight.nodeAffinity && {
        affinity: {
          required: record.template.requiredNodeTerms,
          preferred: record.template.preferences?.nodeTerms ?? [],
        },
      }),
    };
    return { found, pod, workload, node, facts, history: historyOf(found, workload), isRefused: isRefused(record.uid) };
  };

  const isWorkload =
    (namespace: string) =>
    ({ kind, name, apiVersion }: ScaleTarget): boolean => {
      const found = view.workload({ kind, namespace, name });
      return found !== undefined && isTarget({ kind, name, apiVersion }, found);
    };

  const isRefused = (podUid: string): boolean => {
    const { count, retryAt } = options.failed(podUid) ?? { count: 0, retryAt: 0 };
    return count >= REFUSED && clock.now() < retryAt;
  };

  const historyOf = ({ pod, sizing }: SizedPod, workload: SizedWorkload | undefined): PodHistory => {
    const scaled = workload ?? pod.owner;
    return {
      namespaceManaged: managedOf(view.namespace(pod.namespace)?.labels),
      // MBCAS writes whatever a PodAllocation says, under the name that we have taken over.
      hasForeignWriter:
        sizing.sizeManagers.some((manager) => !isOwnManager(manager)) || runningOf(view, 'MBCAS') !== undefined,
      isVpaOwned: scaled !== undefined && actingVpa(view.vpas(pod.namespace), scaled) !== undefined,
      restartedOnResize: memory.hasRestarted(pod.uid),
      // What its node would not grant is taken back first.
      ...(memory.isPinned(pod.uid) && sizing.resize.pending === undefined && { hasStaticCpuManager: true }),
    };
  };

  /** What all pods of the node take, raises that were asked for and are not in the view yet included. */
  const chargedOn = (node: NodeRecord): Millicores => {
    const asked = new Map(resizes().map((resize) => [resize.pod.uid, resize.changes]));
    return view
      .podsOnNode(node.name)
      .filter(({ pod }) => !hasEnded(pod))
      .reduce((sum, each) => sum + heldRequests(each, asked.get(each.pod.uid)).cpuMillis, 0);
  };

  const growthUnderWay = (namespace: string): ReadonlyMap<string, CpuGrowth> => {
    const growth = new Map<string, CpuGrowth>();
    for (const { pod, changes } of resizes()) {
      const found = pod.namespace === namespace ? view.pod(namespace, pod.name) : undefined;
      if (found?.pod.uid === pod.uid) growth.set(pod.uid, cpuGrowth(found.sizing.containers, changes));
    }
    return growth;
  };

  /** What the quotas' figures do not show yet, of all pods but this one. */
  const ledgerOf = ({ namespace, uid }: AllocationPod, unseen: QuotaReading['unseen']): QuotaLedger => {
    const underWay = new Map(growthUnderWay(namespace));
    // What it asks for now replaces what it asked for last.
    underWay.delete(uid);
    const growth = [...new Map([...underWay, ...unseen]).values()];
    return {
      cpuRequest: growth.reduce((sum, { cpuRequest }) => sum + cpuRequest, 0),
      cpuLimit: growth.reduce((sum, { cpuLimit }) => sum + cpuLimit, 0),
      denied: memory.isQuotaDenied(namespace, view.quotas(namespace), clock.now()),
    };
  };

  return {
    of,
    quotas: (namespace) => (isKnown() ? view.quotas(namespace) : undefined),
    growthUnderWay,
    admission({ pod, workload, node, facts, history, found }, { quotas, unseen }) {
      const { rules, size } = settings();
      const { nodeName = '' } = found.pod;
      return {
        pod,
        workload: workload && workloadRef(workload),
        workloadUid: workload?.uid,
        facts,
        history,
        quotas,
        // Of all resizes under way, for each pod: only where one grows.
        get ledger() {
          return ledgerOf(pod, unseen);
        },
        node: {
          allocatable: node?.allocatable.cpuMillis ?? 0,
          conditions: node === undefined ? undefined : conditionsOf(node),
          // Of all pods of the node, for each of them: only where one grows.
          get charged() {
            return node === undefined ? undefined : chargedOn(node);
          },
        },
        isStale: agents.stateOf(nodeName) !== 'alive',
        isOutdated: !agents.isUpToDate(nodeName),
        lastWriteAt: options.lastWriteAt(pod.uid),
        infeasible: requestWith(pod.containers, options.infeasible(pod.uid, nodeName)),
        isDryRun: size.dryRun || size.readOnly,
        rules,
        now: clock.now(),
      };
    },
  };
}

function medianFact(
  view: SizingView,
  workload: SizedWorkload,
  rules: Pick<AllocationRules, 'apply'>,
): Pick<PodFacts, 'median'> {
  const median = medianShareOf(view, workload, rules);
  return median === undefined ? {} : { median };
}

/**
 * Conditions from what node records keep. Pressure is told by the taints that the node lifecycle controller puts for
 * it; the agent reads the conditions themselves, so this is the second look.
 */
export function conditionsOf({ ready, taints }: Pick<NodeRecord, 'ready' | 'taints'>): readonly NodeCondition[] {
  const pressed = PRESSURES.filter(([, key]) => taints.some((taint) => taint.key === key));
  return [
    { type: 'Ready', status: ready ? 'True' : 'False', since: undefined },
    ...pressed.map(([type]): NodeCondition => ({ type, status: 'True', since: undefined })),
  ];
}

const PRESSURES = [
  ['MemoryPressure', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'node.kubernetes.io/pid-pressure'],
] as const;
