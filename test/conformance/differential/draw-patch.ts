/** Patches of all four kinds, and bodies that are none. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';
import { spoil } from './spoil.ts';
import type { Step } from './step.ts';
import { drawWriteQuery, objectOf, type Subject } from './subject.ts';

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Some of the members of an object, down to its leaves. */
function partOf(value: unknown, draw: Draw, share: number): unknown {
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(() => draw.chance(share));
  return Object.fromEntries(kept.map(([key, member]) => [key, partOf(member, draw, share)]));
}

const METADATA_PATCHES: readonly (readonly [string, Json])[] = [
  ['label', { labels: { extra: 'x' } }],
  ['no label', { labels: { app: null } }],
  ['no labels', { labels: null }],
  ['annotation', { annotations: { 'spotalis.io/note': 'y' } }],
  ['finalizer', { finalizers: ['example.com/keep'] }],
  ['no finalizers', { finalizers: null }],
  ['empty finalizers', { finalizers: [] }],
  ['strategic finalizer', { '$deleteFromPrimitiveList/finalizers': ['example.com/keep'] }],
  ['name', { name: 'another' }],
  ['namespace', { namespace: 'another' }],
  ['uid', { uid: '00000000-0000-4000-8000-000000000000' }],
  ['old version', { resourceVersion: '1' }],
  ['no managedFields', { managedFields: [] }],
  ['one empty managedFields', { managedFields: [{}] }],
  ['no name', { name: null }],
  ['creationTimestamp', { creationTimestamp: null }],
  ['generation', { generation: 77 }],
  ['deletionTimestamp', { deletionTimestamp: '2020-01-01T00:00:00Z' }],
];

const SPEC_PATCHES: readonly (readonly [string, Json])[] = [
  ['replicas', { spec: { replicas: 2 } }],
  ['replicas -1', { spec: { replicas: -1 } }],
  ['no replicas', { spec: { replicas: null } }],
  ['replicas text', { spec: { replicas: '2' } }],
  ['template annotation', { spec: { template: { metadata: { annotations: { a: 'b' } } } } }],
  ['container by name', { spec: { template: { spec: { containers: [{ name: 'main', image: 'other:2' }] } } } }],
  ['container added', { spec: { template: { spec: { containers: [{ name: 'added', image: 'other:2' }] } } } }],
  ['container away', { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } }],
  ['container without name', { spec: { template: { spec: { containers: [{ image: 'other:2' }] } } } }],
  ['pod image', { spec: { containers: [{ name: 'main', image: 'other:2' }] } }],
  [
    'pod container order',
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
        containers: [{ name: 'main', image: 'z:1' }],
      },
    },
  ],
  ['pod requests', { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '150m' } } }] } }],
  ['pod toleration', { spec: { tolerations: [{ key: 'x', operator: 'Exists' }] } }],
  ['grace', { spec: { terminationGracePeriodSeconds: 1 } }],
  ['node', { spec: { nodeName: 'other' } }],
  ['strategy', { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }],
  ['strategy to recreate', { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } }],
  ['selector', { spec: { selector: { matchLabels: { app: 'b' } } } }],
  ['replace spec', { spec: { $patch: 'replace', replicas: 1 } }],
  ['bad directive', { spec: { $patch: 'confuse' } }],
  ['unschedulable', { spec: { unschedulable: null } }],
  ['taint', { spec: { taints: [{ key: 'new', effect: 'NoExecute' }] } }],
  ['data', { data: { key: 'other', more: '1' } }],
  ['data away', { data: { key: null } }],
  ['data number', { data: { key: 5 } }],
  ['no data', { data: null }],
  ['unknown', { unknownField: { a: 1 } }],
  ['unknown in spec', { spec: { unknownField: 1 } }],
  ['status', { status: { phase: 'Failed', replicas: 9 } }],
  ['kind', { kind: 'Other' }],
  ['apiVersion', { apiVersion: 'v9' }],
  ['minAvailable', { spec: { minAvailable: 2, maxUnavailable: null } }],
  ['holder', { spec: { holderIdentity: 'three' } }],
  ['empty', {}],
  ['spec text', { spec: 'text' }],
  ['no spec', { spec: null }],
];

const OPERATIONS: readonly (readonly [string, unknown])[] = [
  ['add label', [{ op: 'add', path: '/metadata/labels/extra', value: 'x' }]],
  ['add labels', [{ op: 'add', path: '/metadata/labels', value: { only: 'this' } }]],
  ['replace missing', [{ op: 'replace', path: '/metadata/annotations/none', value: 'x' }]],
  ['remove missing', [{ op: 'remove', path: '/spec/none' }]],
  ['remove label', [{ op: 'remove', path: '/metadata/labels/app' }]],
  [
    'test right',
    [
      { op: 'test', path: '/kind', value: 'Pod' },
      { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
    ],
  ],
  ['test wrong', [{ op: 'test', path: '/metadata/name', value: 'nobody' }]],
  ['replicas', [{ op: 'replace', path: '/spec/replicas', value: 3 }]],
  ['replicas text', [{ op: 'replace', path: '/spec/replicas', value: 'x' }]],
  ['append', [{ op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'new', image: 'y' } }]],
  ['beyond', [{ op: 'add', path: '/spec/containers/9', value: { name: 'new', image: 'y' } }]],
  ['copy', [{ op: 'copy', from: '/metadata/name', path: '/metadata/labels/copy' }]],
  ['move', [{ op: 'move', from: '/metadata/labels/app', path: '/metadata/labels/moved' }]],
  ['unknown operation', [{ op: 'spoil', path: '/x' }]],
  ['no path', [{ op: 'add', value: 1 }]],
  ['no value', [{ op: 'add', path: '/metadata/labels/x' }]],
  ['bad pointer', [{ op: 'add', path: 'metadata', value: 1 }]],
  ['no list', { op: 'add', path: '/x', value: 1 }],
  ['empty', []],
  ['whole', [{ op: 'replace', path: '', value: {} }]],
  ['spec null', [{ op: 'replace', path: '/spec', value: null }]],
  ['escaped', [{ op: 'add', path: '/metadata/annotations/a.b~1c', value: 'x' }]],
  ['image', [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'new:3' }]],
  ['unknown field', [{ op: 'add', path: '/spec/unknownField', value: 'x' }]],
];

function drawMergeBody({ draw, ...rest }: Subject, name: string): readonly [string, unknown] {
  if (draw.chance(0.3)) {
    const [how, metadata] = draw.pick(METADATA_PATCHES);
    return [how, { metadata }];
  }
  if (draw.chance(0.65)) return draw.pick(SPEC_PATCHES);
  const part = partOf(objectOf({ draw, ...rest }, name), draw, 0.6);
  if (draw.chance(0.5)) return ['part', part];
  const { how, body } = spoil(part, draw);
  return [`part, ${how}`, body];
}

function drawApply(subject: Subject, name: string): Step {
  const { kind, draw, collection } = subject;
  const whole = objectOf(subject, name);
  const part = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...partOfObject(whole, draw) };
  const { how, body } = draw.chance(0.25) ? spoil(part, draw) : { how: '', body: part };
  const query = [
    ...(draw.chance(0.95) ? [`fieldManager=${draw.pick(['one', 'two', 'three'])}`] : []),
    ...(draw.chance(0.3) ? ['force=true'] : []),
    ...(draw.chance(0.08) ? ['dryRun=All'] : []),
    ...(draw.chance(0.1) ? [`fieldValidation=${draw.pick(['Strict', 'Warn', 'Ignore'])}`] : []),
  ];
  return {
    what: `${kind.plural} apply`,
    how: `${how}${query.includes('force=true') ? ' force' : ''}`,
    method: 'PATCH',
    path: `${collection}/${name}?${query.join('&')}`,
    body,
    contentType: 'application/apply-patch+yaml',
  };
}

function partOfObject(whole: Json, draw: Draw): Json {
  const part = partOf(whole, draw, 0.85);
  const { metadata, ...rest } = isMap(part) ? part : {};
  const { metadata: own } = whole;
  return { ...rest, metadata: { ...(isMap(metadata) ? metadata : {}), name: isMap(own) ? own['name'] : '' } };
}

export function drawPatch(subject: Subject): Step {
  const { kind, draw, collection, names } = subject;
  const name = draw.pick(names);
  const path = `${collection}/${name}${drawWriteQuery(draw)}`;
  const type = draw.pick(['merge', 'strategic', 'json', 'apply', 'apply', 'odd']);
  if (type === 'apply') return drawApply(subject, name);
  if (type === 'json') {
    const [how, body] = draw.pick(OPERATIONS);
    return {
      what: `${kind.plural} json patch`,
      how,
      method: 'PATCH',
      path,
      body,
      contentType: 'application/json-patch+json',
    };
  }
  if (type === 'odd') {
    const [how, text, contentType] = draw.pick([
      ['plain JSON', '{}', 'application/json'],
      ['cut JSON', '{"a":', 'application/merge-patch+json'],
      ['list', '[]', 'application/merge-patch+json'],
      ['empty', '', 'application/merge-patch+json'],
      ['empty apply', '', 'application/apply-patch+yaml'],
      ['null', 'null', 'application/strategic-merge-patch+json'],
      ['no type', '{}', ''],
      ['text', 'x', 'text/plain'],
      ['cut list', '[{', 'application/json-patch+json'],
    ] as const);
    return { what: `${kind.plural} odd patch`, how: `${how} ${contentType}`, method: 'PATCH', path, text, contentType };
  }
  const [how, body] = drawMergeBody(subject, name);
  return {
    what: `${kind.plural} ${type} patch`,
    how,
    method: 'PATCH',
    path,
    body,
    contentType: type === 'merge' ? 'application/merge-patch+json' : 'application/strategic-merge-patch+json',
  };
}
