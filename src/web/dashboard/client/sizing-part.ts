/** What rightsizing makes of a workload: what each container requests, what it should, and stage by stage why. */
import type { StageTold, WorkloadAnswer } from '../workload-answer.ts';
import { dataTable } from './data-table.ts';
import { type Child, h } from './dom.ts';
import { bytes, cores, cpu } from './format.ts';
import { badge, card, empty } from './parts.ts';
import { replicasPart } from './replicas-part.ts';
import { usagePicture } from './usage-part.ts';

type Sizing = NonNullable<WorkloadAnswer['sizing']>;
type Container = Sizing['containers'][number];

/** @param now of the operator's clock. */
export function sizingPart(
  {
    policy,
    mode,
    others,
    status,
    reason,
    message,
    lastRecommendation,
    lastApplied,
    containers,
    replicaSizes,
    replicas,
    isForNobody,
    ongoing,
  }: Sizing,
  now: number,
): HTMLElement {
  return card(
    'Size',
    h(
      'p',
      {},
      status !== undefined && [badge(status, status === 'Applied' ? 'good' : status === 'Error' ? 'bad' : 'info'), ' '],
      reason !== undefined && [badge(reason, 'muted'), ' '],
      message,
    ),
    h(
      'p',
      { class: 'muted' },
      `Policy ${policy}, mode ${mode}.`,
      others.length > 0 && ` These match as well and would take over: ${others.join(', ')}.`,
      lastRecommendation !== undefined && ` Advice of ${new Date(lastRecommendation).toLocaleString()}.`,
      lastApplied !== undefined && ` Last applied ${new Date(lastApplied).toLocaleString()}.`,
    ),
    ongoing !== undefined &&
      h(
        'p',
        { class: 'notice' },
        `${ongoing.method}: ${ongoing.phase}, since ${new Date(ongoing.since).toLocaleString()}.`,
        ongoing.note !== undefined && ` ${ongoing.note}`,
      ),
    containers.length === 0
      ? empty('No advice yet.')
      : dataTable(
          'Sizes by container',
          ['Container', 'CPU request', 'advised', 'CPU limit', 'Memory request', 'advised', 'Memory limit'],
          containers.map(containerRow),
        ),
    isForNobody && h('p', { class: 'muted' }, 'No replica has this size now: it is for new ones.'),
    replicaSizes !== undefined && replicasPart(replicaSizes, replicas ?? [], now),
    containers.map((container) => containerUsage(container, now)),
    containers.map(containerStages),
  );
}

function containerRow({
  container,
  cpuRequest,
  cpuLimit,
  memoryRequest,
  memoryLimit,
  cpu: cpuAdvice,
  memory,
  memoryUsage,
}: Container): HTMLElement {
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, container),
    h('td', {}, amount(cpuRequest, cpu)),
    h('td', {}, cpuAdvice === undefined ? '-' : h('strong', {}, cpuAdvice)),
    h('td', {}, amount(cpuLimit, cpu)),
    h('td', {}, amount(memoryRequest, bytes)),
    h(
      'td',
      {},
      memory === undefined ? '-' : h('strong', { title: memory }, amount(memoryUsage?.advised, bytes, memory)),
    ),
    h('td', {}, amount(memoryLimit, bytes)),
  );
}

const amount = (value: number | undefined, format: (value: number) => string, otherwise = 'none'): string =>
  value === undefined ? otherwise : format(value);

function containerUsage({ container, cpuUsage, memoryUsage }: Container, now: number): Child {
  if (cpuUsage === undefined && memoryUsage === undefined) return undefined;
  return h(
    'div',
    { class: 'columns' },
    cpuUsage !== undefined && usagePicture(`CPU used by ${container}`, cpuUsage, cores, now),
    memoryUsage !== undefined && usagePicture(`Memory used by ${container}`, memoryUsage, bytes, now),
  );
}

function containerStages({ container, explanation, cpuStages, memoryStages }: Container): HTMLElement {
  return h(
    'details',
    { 'data-key': `stages ${container}` },
    h('summary', {}, `How the advice for ${container} came about`),
    explanation !== undefined && h('p', {}, explanation),
    h('div', { class: 'columns' }, stages('CPU', cpuStages), stages('Memory', memoryStages)),
  );
}

function stages(title: string, list: readonly StageTold[]): Child {
  return h(
    'div',
    {},
    h('h3', {}, title),
    list.length === 0
      ? empty('Nothing yet.')
      : h(
          'ol',
          { class: 'stages' },
          list.map(({ stage, text }) => h('li', {}, h('strong', {}, stage), ' ', text)),
        ),
  );
}
