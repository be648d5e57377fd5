/** What `stowage status` shows where only the running operator can be asked: no view of the cluster, but what it makes of each workload. */
import type { CliContext } from '../cli-context.ts';
import type { OperatorFleet } from '../operator-client.ts';
import { DOCUMENT_VERSION } from '../output.ts';
import { counted } from '../plural.ts';
import { type Column, renderTable } from '../table.ts';
import type { WorkloadStatusRow } from './fleet-status.ts';
import { blockTold, operatorProblems } from './with-operator.ts';

export interface OperatorOnlyStatus {
  readonly apiVersion: typeof DOCUMENT_VERSION;
  readonly kind: 'OperatorStatus';
  readonly at: string;
  readonly isLeader: boolean;
  readonly workloads: readonly OperatorOnlyRow[];
  /** Why that is not the whole truth of now. */
  readonly problems: readonly string[];
}

interface OperatorOnlyRow {
  /** `Deployment/shop/web`. */
  readonly workload: string;
  /** Where its replicas are and should be, in one sentence. */
  readonly headline: string;
  readonly blockedBy?: WorkloadStatusRow['blockedBy'];
  /** What happens next, in one sentence. */
  readonly next: string;
  readonly lastDisruption?: string;
}

/** @param namespace only of this one; undefined: all. */
export function operatorOnly(fleet: OperatorFleet, namespace?: string): OperatorOnlyStatus {
  const { at, isLeader, workloads } = fleet;
  const own = workloads.filter(({ workload }) => namespace === undefined || workload.split('/')[1] === namespace);
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'OperatorStatus',
    at: new Date(at).toISOString(),
    isLeader,
    workloads: own.map(({ workload, headline, why = [], blocks, next, lastDisruption }) => ({
      workload,
      headline: [headline, ...why].join('; '),
      ...blockTold(blocks, at),
      next,
      ...(lastDisruption !== undefined && { lastDisruption: new Date(lastDisruption).toISOString() }),
    })),
    problems: operatorProblems(fleet),
  };
}

export function renderOperatorOnly({ workloads }: OperatorOnlyStatus, { style, global, io }: CliContext): string[] {
  const blocked = workloads.filter(({ blockedBy }) => blockedBy !== undefined).length;
  const options = { style, wide: global.output === 'wide', width: io.out.size()?.columns };
  return [
    `The operator looks after ${counted(workloads.length, 'workload')}: ${blocked} blocked`,
    ...(workloads.length === 0 ? [] : ['', ...renderTable(columns, workloads, options)]),
  ];
}

const columns: readonly Column<OperatorOnlyRow>[] = [
  { header: 'WORKLOAD', value: ({ workload }) => workload },
  { header: 'LAST-MOVE', value: ({ lastDisruption }) => lastDisruption ?? '-', wide: true },
  {
    header: 'STATE',
    value: ({ headline, blockedBy }) =>
      blockedBy === undefined
        ? headline
        : { text: `${headline}; ${blockedBy.reason}: ${blockedBy.message}`, style: 'warning' },
  },
];
