/** The sizes that replicas have each for itself, beside each other. */
import type { ReplicaSizeTold } from '../workload-answer.ts';
import { dataTable } from './data-table.ts';
import { type Child, h } from './dom.ts';
import { bytes, cpu } from './format.ts';
import { badge, bar, timeAgo } from './parts.ts';

type Container = ReplicaSizeTold['containers'][number];
type Resource = 'cpu' | 'memory';

const formats: Readonly<Record<Resource, (amount: number) => string>> = { cpu, memory: bytes };
/** More would hide what comes after them. */
const MAX_OPEN = 20;

/** @param summary all of them in a sentence. @param now of the operator's clock. */
export function replicasPart(summary: string, replicas: readonly ReplicaSizeTold[], now: number): Child {
  if (replicas.length === 0) return h('p', {}, `${summary}.`);
  const most: Readonly<Record<Resource, number>> = { cpu: mostOf(replicas, 'cpu'), memory: mostOf(replicas, 'memory') };
  const table = dataTable(
    'Sizes by replica',
    ['Replica', 'Container', 'CPU request', 'advised', 'Memory request', 'advised', 'Size'],
    replicas.flatMap((replica) => rowsOf(replica, most, now)),
  );
  return [
    h('h3', {}, 'By replica'),
    h('p', {}, `${summary}.`),
    replicas.length <= MAX_OPEN
      ? table
      : h('details', { 'data-key': 'replicas' }, h('summary', {}, `All ${replicas.length} of them`), table),
  ];
}

function rowsOf(replica: ReplicaSizeTold, most: Readonly<Record<Resource, number>>, now: number): HTMLElement[] {
  const { containers, pod, replica: name } = replica;
  const span = containers.length;
  return containers.map((container, index) =>
    h(
      'tr',
      {},
      index === 0 && h('th', { scope: 'rowgroup', rowspan: span }, name, h('span', { class: 'kind' }, pod)),
      h('td', {}, container.container),
      amountCells(container, 'cpu', most.cpu),
      amountCells(container, 'memory', most.memory),
      index === 0 && h('td', { rowspan: span }, stateOf(replica, now)),
    ),
  );
}

function amountCells(container: Container, resource: Resource, most: number): Child {
  const format = formats[resource];
  const is = container[resource];
  const advised = resource === 'cpu' ? container.cpuAdvised : container.memoryAdvised;
  const text = is === undefined ? 'none' : format(is);
  return [
    h(
      'td',
      {},
      h(
        'span',
        { class: 'with-bar' },
        bar([{ size: is ?? 0, look: 'share', label: text }], most, `requests ${text}`),
        h('span', {}, text),
      ),
    ),
    h('td', {}, advised === undefined ? '-' : h('strong', {}, format(advised))),
  ];
}

function stateOf({ size, changedAt, isWatched, floors }: ReplicaSizeTold, now: number): Child {
  return [
    size === 'own' ? badge('its own', 'good') : badge('of all', 'muted'),
    size === 'unknown' && ' its own history is too short',
    isWatched && [' ', badge('watched', 'info', 'It has less of late; what does harm is taken back.')],
    changedAt !== undefined && h('span', { class: 'kind' }, 'changed ', timeAgo(changedAt, now)),
    floors.length > 0 &&
      h(
        'ul',
        { class: 'notes' },
        floors.map((floor) => h('li', {}, floor)),
      ),
  ];
}

/** All bars of a resource are to one scale, so that replicas can be compared. */
export function mostOf(replicas: readonly Pick<ReplicaSizeTold, 'containers'>[], resource: Resource): number {
  return Math.max(1, ...replicas.flatMap(({ containers }) => containers.map((container) => container[resource] ?? 0)));
}
