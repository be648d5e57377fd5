/** Says why something wanted was not done: journal and metric each time, event once per reason and hour. */
import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { EvictDecision, FallbackDecision } from '../../decide/decision.ts';
import type { WorkloadPlan } from '../../decide/placement/plan.ts';
import type { Block } from '../../guard/context.ts';
import { pdbsOf } from '../../guard/rules/pdb.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { describeReason, renderReason } from '../../lib/reasons.ts';
import { type ClusterView, workloadKey } from '../../model/cluster-view.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import { workloadLabels } from './metrics.ts';

export interface BlockReporter {
  /** @param block the objection that is told: the first, in the order of the guards. */
  report(workload: WorkloadRecord, decision: EvictDecision | FallbackDecision, block: Block): void;
  /** The settings of the workload cannot be understood. */
  reportInvalid(workload: WorkloadRecord, message: string): void;
  /**
   * What the plan found that no decision says. Beside its own notes: pods that wait for an on-demand node, as the floor
   * is never met with spot (hazard H7).
   */
  reportNotes(workload: WorkloadRecord, plan: WorkloadPlan): void;
}

export interface BlockReporterOptions {
  readonly view: ClusterView;
  readonly events: Pick<Events, 'onWorkload'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
}

/** The normal pace of work; an event for each would drown those that matter. */
const unremarkable: ReadonlySet<Block['reason']> = new Set([
  'CooldownActive',
  'LeaderWarmup',
  'NotLeader',
  'PodTerminating',
  'PreconditionFailed',
  'GenerationNotObserved',
  'SpotProbing',
  'ReturnPaced',
  'AwaitingTurn',
  'FallbackBusy',
]);

export function createBlockReporter({ view, events, journal, metrics }: BlockReporterOptions): BlockReporter {
  const countPdbs = (decision: EvictDecision | FallbackDecision): void => {
    const { namespace, name } = decision.pod;
    const pod = view.pod(namespace, name);
    if (pod === undefined) return;
    for (const pdb of pdbsOf(view.pdbs(namespace), pod)) {
      const labels = { ...workloadLabels(decision.workload), pdb_name: pdb.name };
      metrics.inc('spotalis_rebalancing_blocked_by_pdb_total', labels);
    }
  };

  return {
    report(workload, decision, { reason, message, advice, isBrief }) {
      const pod = decision.pod.name;
      metrics.inc('spotalis_disruptions_blocked_total', { reason });
      journal.record(workloadKey(workload), { kind: 'blocked', reason, message, pod, numbers: decision.why.numbers });
      if (reason === 'BlockedByPdb' || reason === 'MultiplePdbs') countPdbs(decision);
      if (reason === 'ReadOnly') {
        // Each decision once an hour: `WouldEvict` is the event that read-only mode is for.
        metrics.inc('spotalis_evictions_total', { result: 'dry-run' });
        const { why } = decision;
        const from = decision.kind === 'evict' ? decision.from : 'spot';
        const would = renderReason('WouldEvict', { pod, from, reason: why.summary });
        events.onWorkload(workload, { reason: 'WouldEvict', message: would, lasts: true });
      } else if (!unremarkable.has(reason) && isBrief !== true) {
        // The normal course of things needs no advice.
        const suggestion = describeReason(reason).eventType === 'Warning' ? advice : undefined;
        events.onWorkload(workload, { reason, message, suggestion, lasts: true });
      }
    },
    reportInvalid(workload, message) {
      metrics.inc('spotalis_disruptions_blocked_total', { reason: 'InvalidConfiguration' });
      journal.record(workloadKey(workload), { kind: 'blocked', reason: 'InvalidConfiguration', message });
      events.onWorkload(workload, { reason: 'InvalidConfiguration', message, lasts: true, about: message });
    },
    reportNotes(workload, plan) {
      for (const { reason, text } of plan.notes) {
        journal.record(workloadKey(workload), { kind: 'seen', reason: reason ?? 'Note', message: text });
        if (reason !== undefined) events.onWorkload(workload, { reason, message: text, lasts: true, about: text });
      }
      const waiting = plan.pods.filter(
        ({ ref, actualSide, node }) =>
          node === undefined &&
          actualSide === 'on-demand' &&
          view.pod(ref.namespace, ref.name)?.unschedulableSince !== undefined,
      );
      if (waiting.length === 0) return;
      const message = renderReason('OnDemandCapacityMissing', { count: waiting.length });
      journal.record(workloadKey(workload), { kind: 'seen', reason: 'OnDemandCapacityMissing', message });
      events.onWorkload(workload, { reason: 'OnDemandCapacityMissing', message, lasts: true });
    },
  };
}
