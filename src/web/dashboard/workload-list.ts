/** `GET /api/workloads`: filtered, sorted and cut into pages here, so that a page of a table is all that travels. */
import { worthOf } from '../../decide/rightsizing/savings.ts';
import { ascending } from '../../lib/ascending.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { WorkloadPage, WorkloadRow, WorkloadStateTold } from './answers.ts';
import { countRows, isManaged } from './fleet-counts.ts';
import type { Fleet } from './fleet-scan.ts';
import { oneOf, pageOf, pageRequest, searchWords } from './page-of.ts';

const PAGE_SIZE = 50;
const filters = ['all', 'managed', 'blocked', 'invalid', 'drifted', 'incomplete', 'balanced', 'unmanaged'] as const;
const sortKeys = ['attention', 'name', 'namespace', 'kind', 'replicas', 'drift', 'cost', 'saving'] as const;
type SortKey = (typeof sortKeys)[number];

/** What wants somebody comes first. */
const urgency: Readonly<Record<WorkloadStateTold, number>> = {
  invalid: 0,
  drifted: 2,
  incomplete: 3,
  balanced: 4,
  unmanaged: 5,
};
const BLOCKED = 1;

/**
 * As the scan saw them, which may be up to a minute ago: `scannedAt` says. Ties are in the order of namespace, kind and
 * name.
 */
export function workloadPage(fleet: Fleet, query: URLSearchParams, now: EpochMillis): WorkloadPage {
  const rows = fleet.workloads.map(({ row }) => row);
  const state = oneOf(query.get('state'), filters);
  const words = searchWords(query);
  const matching = rows.filter((row) => isIn(row, state) && matches(row, words));
  const direction = query.get('order') === 'desc' ? -1 : 1;
  const compare = comparisons[oneOf(query.get('sort'), sortKeys)];
  matching.sort((a, b) => direction * compare(a, b) || byPlace(a, b));
  const asked = pageRequest(query, PAGE_SIZE);
  const { page, items } = pageOf(matching, asked);
  return {
    at: now,
    scannedAt: fleet.at,
    counts: countRows(rows),
    matching: matching.length,
    page,
    pageSize: asked.pageSize,
    rows: items,
  };
}

function isIn(row: WorkloadRow, filter: (typeof filters)[number]): boolean {
  if (filter === 'all') return true;
  if (filter === 'blocked') return row.blockedBy !== undefined;
  if (filter === 'managed') return isManaged(row);
  return row.state === filter;
}

function matches({ kind, namespace, name, blockedBy, size }: WorkloadRow, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text =
    `${kind}/${namespace}/${name} ${blockedBy?.reason ?? ''} ${size?.status ?? ''} ${size?.reason ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

type Compare = (a: WorkloadRow, b: WorkloadRow) => number;
const byText =
  (of: (row: WorkloadRow) => string): Compare =>
  (a, b) =>
    ascending(of(a), of(b));
const byNumber =
  (of: (row: WorkloadRow) => number | undefined): Compare =>
  (a, b) =>
    ascending(of(a) ?? -Infinity, of(b) ?? -Infinity);

const attention = ({ state, blockedBy }: WorkloadRow): number =>
  state === 'drifted' && blockedBy !== undefined ? BLOCKED : urgency[state];
const saving = ({ size }: WorkloadRow): number | undefined => size?.saving && worthOf(size.saving);

const comparisons: Readonly<Record<SortKey, Compare>> = {
  attention: byNumber(attention),
  name: byText(({ name }) => name),
  namespace: byText(({ namespace }) => namespace),
  kind: byText(({ kind }) => kind),
  replicas: byNumber(({ replicas }) => replicas),
  drift: byNumber(({ drift }) => drift),
  cost: byNumber(({ cost }) => cost?.actual),
  saving: byNumber(saving),
};

const byPlace = byText(({ namespace, kind, name }) => `${namespace}\0${kind}\0${name}`);
