/** Gets, lists and watches with everything that can be asked of them. */

import type { Step } from './step.ts';
import type { Subject } from './subject.ts';

const LABEL_SELECTORS = [
  'app=a',
  'app==a',
  'app!=a',
  'app in (a,b)',
  'app notin (a)',
  'app',
  '!app',
  'app=a,extra',
  'app=',
  'a=b=c',
  'app in ()',
  'app in (a',
  'app in a',
  '=a',
  'app=bad value',
  'bad key=a',
  'app>1',
  'app>x',
  ',',
  'app,',
  'x/y/z=1',
  `app=${'v'.repeat(64)}`,
];

const ACCEPTS = [
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/yaml',
  'text/html',
  '*/*',
  '',
  'application/json;as=Nonsense;v=v1;g=meta.k8s.io',
];

function drawSelectors({ kind, draw, names }: Subject): string[] {
  const fields = kind.fields ?? ['metadata.name'];
  const fieldSelectors = [
    `${draw.pick(fields)}=${draw.pick(['a', '', 'node-x', 'Running', 'true', 'Opaque'])}`,
    `${draw.pick(fields)}!=${draw.pick(['a', '', 'node-x', 'Pending'])}`,
    `metadata.name=${draw.pick(names)}`,
    `metadata.namespace=other`,
    'spec.nonsense=1',
    'metadata.name',
    'metadata.name=a,metadata.name=b',
    'metadata.name==a',
    '=',
    ',',
  ];
  return [
    ...(draw.chance(0.45) ? [`labelSelector=${encodeURIComponent(draw.pick(LABEL_SELECTORS))}`] : []),
    ...(draw.chance(0.3) ? [`fieldSelector=${encodeURIComponent(draw.pick(fieldSelectors))}`] : []),
  ];
}

function drawList(subject: Subject): Step {
  const { kind, draw, collection } = subject;
  const parts = [
    ...drawSelectors(subject),
    ...(draw.chance(0.35) ? [`limit=${draw.pick(['1', '2', '0', '-1', 'x'])}`] : []),
    ...(draw.chance(0.2)
      ? [`continue=${draw.pick(['{{continue}}', '{{continue}}', 'garbage', 'eyJ2IjoibWV0YSJ9'])}`]
      : []),
    ...(draw.chance(0.25) ? [`resourceVersion=${draw.pick(['0', '{{listrv}}', '999999999', 'x', '-1', ''])}`] : []),
    ...(draw.chance(0.12) ? [`resourceVersionMatch=${draw.pick(['Exact', 'NotOlderThan', 'Sometimes', ''])}`] : []),
    ...(draw.chance(0.03) ? ['sendInitialEvents=true'] : []),
  ];
  const accept = draw.chance(0.1) ? draw.pick(ACCEPTS) : undefined;
  return {
    what: `${kind.plural} list`,
    how: `${decodeURIComponent(parts.join('&'))} ${accept ?? ''}`,
    method: 'GET',
    path: `${collection}${parts.length === 0 ? '' : `?${parts.join('&')}`}`,
    ...(accept === undefined ? {} : { accept }),
  };
}

function drawWatch(subject: Subject): Step {
  const { kind, draw, collection } = subject;
  const parts = [
    'watch=true',
    'timeoutSeconds=1',
    ...drawSelectors(subject),
    ...(draw.chance(0.7)
      ? [`resourceVersion=${draw.pick(['{{startrv}}', '{{startrv}}', '{{listrv}}', '0', 'x', '999999999'])}`]
      : []),
    ...(draw.chance(0.3) ? ['allowWatchBookmarks=true'] : []),
    ...(draw.chance(0.25)
      ? ['sendInitialEvents=true', 'resourceVersionMatch=NotOlderThan', 'allowWatchBookmarks=true']
      : []),
    ...(draw.chance(0.08)
      ? [draw.pick(['resourceVersionMatch=Exact', 'limit=1', 'continue=x', 'sendInitialEvents=false'])]
      : []),
  ];
  return {
    what: `${kind.plural} watch`,
    how: decodeURIComponent(parts.slice(2).join('&')),
    method: 'GET',
    path: `${collection}?${parts.join('&')}`,
    isWatch: true,
  };
}

/** A kind without a namespace is neither listed nor watched. */
export function drawRead(subject: Subject): Step {
  const { kind, draw, collection, names } = subject;
  const dice = draw.between(1, 10);
  if (kind.namespaced && dice <= 5) return drawList(subject);
  if (kind.namespaced && dice === 6) return drawWatch(subject);
  const accept = draw.chance(0.15) ? draw.pick(ACCEPTS) : undefined;
  return {
    what: `${kind.plural} get`,
    how: accept ?? '',
    method: 'GET',
    path: `${collection}/${draw.pick([...names, 'nobody', 'Bad_Name'])}${draw.chance(0.05) ? '?resourceVersion=0' : ''}`,
    ...(accept === undefined ? {} : { accept }),
  };
}
