/** Draws a row of requests about the objects of one kind, some of them wrong: the same for the same seed. */
import type { Json } from '../endpoint.ts';
import { drawPatch } from './draw-patch.ts';
import { drawRead } from './draw-read.ts';
import { drawSubresource } from './draw-subresource.ts';
import { spoil, withValueAt } from './spoil.ts';
import type { Sequence, Step } from './step.ts';
import { drawWriteQuery, objectOf, type SequenceInput, type Subject, subjectOf } from './subject.ts';

const WRONG_TYPES: readonly Json[] = [
  { kind: 'Wrong' },
  { apiVersion: 'v2' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { kind: undefined },
  { apiVersion: undefined },
  { apiVersion: undefined, kind: undefined },
  { kind: 7 },
];

function oddMetadata({ draw, names, namespace }: Subject): { readonly how: string; readonly metadata: Json } {
  return draw.pick([
    { how: 'generateName', metadata: { name: undefined, generateName: `${names[0]}-` } },
    { how: 'name and generateName', metadata: { generateName: 'gen-' } },
    { how: 'long generateName', metadata: { name: undefined, generateName: 'g'.repeat(80) } },
    { how: 'bad generateName', metadata: { name: undefined, generateName: 'Not_Good' } },
    { how: 'no name', metadata: { name: undefined } },
    { how: 'other namespace', metadata: { namespace: 'elsewhere' } },
    { how: 'same namespace', metadata: { namespace } },
    { how: 'resourceVersion', metadata: { resourceVersion: '1' } },
    { how: 'uid', metadata: { uid: '00000000-0000-4000-8000-000000000000' } },
    { how: 'creationTimestamp', metadata: { creationTimestamp: '2020-01-01T00:00:00Z', generation: 7 } },
    { how: 'null creationTimestamp', metadata: { creationTimestamp: null } },
    { how: 'bad creationTimestamp', metadata: { creationTimestamp: 'yesterday' } },
    { how: 'deletionTimestamp', metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } },
    { how: 'selfLink', metadata: { selfLink: '/x' } },
    { how: 'empty collections', metadata: { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] } },
    { how: 'null labels', metadata: { labels: null, annotations: null } },
    { how: 'null label', metadata: { labels: { a: null } } },
    { how: 'bad label', metadata: { labels: { 'bad key': 'x', ok: 'bad value' } } },
    { how: 'long label', metadata: { labels: { a: 'x'.repeat(64) } } },
    { how: 'bad annotation', metadata: { annotations: { '/x': 'y' } } },
    { how: 'bad finalizer', metadata: { finalizers: ['notqualified'] } },
    { how: 'twice a finalizer', metadata: { finalizers: ['example.com/a', 'example.com/a'] } },
    { how: 'foreground finalizer', metadata: { finalizers: ['foregroundDeletion'] } },
    {
      how: 'owner',
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u', controller: true, blockOwnerDeletion: true },
        ],
      },
    },
    {
      how: 'two controllers',
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u', controller: true },
          { apiVersion: 'v1', kind: 'Pod', name: 'y', uid: 'v', controller: true },
        ],
      },
    },
    { how: 'owner without uid', metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x' }] } },
    {
      how: 'managedFields',
      metadata: {
        managedFields: [
          { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
        ],
      },
    },
    {
      how: 'bad name',
      metadata: {
        name: draw.pick(['UPPER', 'a_b', '-a', 'a..b', 'ä', 'x'.repeat(254), 'y'.repeat(64), 'a/b', '..', 'a%b', '']),
      },
    },
  ]);
}

const withMetadata = (body: Json, more: Json): Json => {
  const { metadata } = body;
  return { ...body, metadata: { ...(typeof metadata === 'object' ? metadata : {}), ...more } };
};

/** A body and what is odd about it. */
function drawBody(subject: Subject, name: string): { readonly how: string; readonly body: unknown } {
  const { draw } = subject;
  const body = objectOf(subject, name);
  if (draw.chance(0.4)) return { how: '', body };
  if (draw.chance(0.35)) {
    const { how, metadata } = oddMetadata(subject);
    return { how, body: withMetadata(body, metadata) };
  }
  if (draw.chance(0.1)) {
    const wrong = draw.pick(WRONG_TYPES);
    return { how: `type ${JSON.stringify(wrong)} ${Object.keys(wrong)}`, body: { ...body, ...wrong } };
  }
  return spoil(body, draw);
}

function drawCreate(subject: Subject): Step {
  const { kind, draw, collection, names } = subject;
  const what = `${kind.plural} create`;
  const step = { what, method: 'POST', path: `${collection}${drawWriteQuery(draw)}` } as const;
  if (draw.chance(0.05)) {
    const [how, text, contentType] = draw.pick([
      ['empty body', '', 'application/json'],
      ['cut JSON', '{"metadata":', 'application/json'],
      ['a list', '[]', 'application/json'],
      ['null', 'null', 'application/json'],
      ['a number', '5', 'application/json'],
      [
        'YAML',
        `apiVersion: ${kind.apiVersion}\nkind: ${kind.kind}\nmetadata:\n  name: ${names[0]}\n`,
        'application/yaml',
      ],
      ['bad YAML', 'a: b: c', 'application/yaml'],
      [
        'twice a key',
        `{"apiVersion":"${kind.apiVersion}","kind":"${kind.kind}","metadata":{"name":"${names[0]}","name":"${names[1]}"}}`,
        'application/json',
      ],
      ['text', 'hello', 'text/plain'],
      ['form', 'a=b', 'application/x-www-form-urlencoded'],
      ['no object', `{"apiVersion":"${kind.apiVersion}","kind":"${kind.kind}"}`, 'application/json'],
    ] as const);
    return { ...step, how, text, contentType };
  }
  return { ...step, ...drawBody(subject, draw.pick(names)) };
}

const VERSIONS = ['{{rv NAME}}', '{{rv NAME}}', undefined, undefined, '{{oldrv NAME}}', '0', '1', 'abc', ''];

function drawReplace(subject: Subject): Step {
  const { kind, draw, collection, names } = subject;
  const name = draw.pick(names);
  const { how, body } = drawBody(subject, name);
  const version = draw.pick(VERSIONS)?.replace('NAME', name);
  const uid = draw.chance(0.1) ? draw.pick([`{{uid ${name}}}`, '00000000-0000-4000-8000-000000000000']) : undefined;
  const versioned = version === undefined ? body : withValueAt(body, ['metadata', 'resourceVersion'], version);
  return {
    what: `${kind.plural} replace`,
    how: [
      how,
      version?.includes('oldrv') ? 'old version' : version === undefined ? '' : version.slice(0, 5),
      uid === undefined ? '' : 'uid',
    ]
      .filter((text) => text !== '')
      .join(', '),
    method: 'PUT',
    path: `${collection}/${draw.chance(0.05) ? draw.pick(names) : name}${drawWriteQuery(draw)}`,
    body: uid === undefined ? versioned : withValueAt(versioned, ['metadata', 'uid'], uid),
  };
}

function drawDelete({ kind, draw, collection, names }: Subject): Step {
  const name = draw.pick(names);
  const wrong = { kind: 'DeleteOptions', apiVersion: draw.pick(['v1', kind.apiVersion, 'meta.k8s.io/v1', 'x/v9']) };
  const options = draw.pick<readonly [string, unknown]>([
    ['', undefined],
    ['', undefined],
    ['grace 0', { gracePeriodSeconds: 0 }],
    ['grace 5', { gracePeriodSeconds: 5 }],
    ['grace -1', { gracePeriodSeconds: -1 }],
    ['background', { propagationPolicy: 'Background' }],
    ['foreground', { propagationPolicy: 'Foreground' }],
    ['orphan', { propagationPolicy: 'Orphan' }],
    ['orphanDependents', { orphanDependents: true }],
    ['both ways', { orphanDependents: true, propagationPolicy: 'Orphan' }],
    ['bad policy', { propagationPolicy: 'Sideways' }],
    ['uid', { preconditions: { uid: `{{uid ${name}}}` } }],
    ['other uid', { preconditions: { uid: 'other' } }],
    ['version', { preconditions: { resourceVersion: `{{rv ${name}}}` } }],
    ['old version', { preconditions: { resourceVersion: `{{oldrv ${name}}}` } }],
    ['dry run', { dryRun: ['All'] }],
    ['bad dry run', { dryRun: ['Some'] }],
    ['typed', wrong],
    ['wrong kind', { kind: 'Pod', apiVersion: 'v1' }],
    ['unknown', { unknown: 1 }],
    ['bad grace', { gracePeriodSeconds: 'soon' }],
  ]);
  const query = draw.chance(0.15)
    ? draw.pick([
        '?gracePeriodSeconds=0',
        '?propagationPolicy=Foreground',
        '?gracePeriodSeconds=x',
        '?dryRun=All',
        '?propagationPolicy=Bad',
      ])
    : '';
  const isAll = draw.chance(0.12);
  const [how, body] = options;
  return {
    what: `${kind.plural} ${isAll && kind.namespaced ? 'delete all' : 'delete'}`,
    how: `${how}${query}`,
    method: 'DELETE',
    path: isAll && kind.namespaced ? `${collection}${query}` : `${collection}/${name}${query}`,
    ...(body === undefined ? {} : { body }),
  };
}

/** What pods live with: budgets and bounds. */
function drawSurroundings({ draw, namespace }: Subject): Step[] {
  const core = `/api/v1/namespaces/${namespace}`;
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const make = (what: string, path: string, body: unknown): Step => ({
    what: `${what} create`,
    how: '',
    method: 'POST',
    path,
    body,
  });
  const budget = (name: string): Step =>
    make('budgets', budgets, {
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    });
  const allowed = draw.between(0, 2);
  const status = {
    observedGeneration: draw.pick([1, 1, 0]),
    disruptionsAllowed: allowed,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
  };
  return [
    ...(draw.chance(0.4)
      ? [
          budget('guard'),
          {
            what: 'budgets status',
            how: '',
            method: 'PATCH',
            path: `${budgets}/guard/status`,
            body: { status },
            contentType: 'application/merge-patch+json',
          } as const,
        ]
      : []),
    ...(draw.chance(0.05) ? [budget('second')] : []),
    ...(draw.chance(0.15)
      ? [
          make('limitranges', `${core}/limitranges`, {
            metadata: { name: 'bounds' },
            spec: {
              limits: [
                {
                  type: 'Container',
                  default: { cpu: '300m' },
                  defaultRequest: { memory: '32Mi' },
                  max: { memory: '2Gi' },
                },
              ],
            },
          }),
        ]
      : []),
  ];
}

/** @throws RangeError for plurals nobody knows. */
export function drawSequence(input: SequenceInput): Sequence {
  const subject = subjectOf(input);
  const { draw, kind } = subject;
  const steps: Step[] = [
    {
      what: 'namespaces create',
      how: '',
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name: subject.namespace } },
    },
    ...(kind.plural === 'pods' ? drawSurroundings(subject) : []),
  ];
  const before = steps.length;
  for (let left = draw.between(6, 18); left > 0; left--) {
    const dice = draw.between(1, 100);
    if (dice <= 30 || steps.length === before) steps.push(drawCreate(subject));
    else if (dice <= 42) steps.push(drawReplace(subject));
    else if (dice <= 62) steps.push(drawPatch(subject));
    else if (dice <= 75 && kind.subresources !== undefined) steps.push(drawSubresource(subject));
    else if (dice <= 83) steps.push(drawDelete(subject));
    else steps.push(drawRead(subject));
  }
  return { seed: input.seed, steps };
}
