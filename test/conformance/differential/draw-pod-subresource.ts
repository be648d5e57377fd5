/** Requests on the subresources of pods alone: resizes, evictions, bindings, ephemeral containers. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';
import type { Step } from './step.ts';
import { drawWriteQuery, type Subject } from './subject.ts';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

function amounts(draw: Draw): Json {
  const cpu = draw.pick(['50m', '100m', '150m', '0.2', '1', '0', '-1', 'x']);
  const memory = draw.pick(['64Mi', '128Mi', '100Mi', '1.5Gi']);
  return draw.pick<Json>([
    { requests: { cpu } },
    { requests: { cpu, memory } },
    { limits: { cpu } },
    { limits: { memory } },
    { requests: { cpu, memory }, limits: { cpu, memory } },
    { requests: { cpu: null } },
    { requests: null },
    { requests: { 'ephemeral-storage': '1Gi' } },
    { requests: { 'example.com/gpu': '1' } },
    {},
  ]);
}

export function drawResize({ draw, collection }: Subject, name: string): Step {
  const path = `${collection}/${name}/resize${drawWriteQuery(draw)}`;
  const container = draw.pick(['main', 'main', 'main', 'side', 'init', 'nobody']);
  const resources = amounts(draw);
  const how = `${container} ${JSON.stringify(resources)}`;
  return draw.pick<Step>([
    {
      what: 'pods resize strategic patch',
      how,
      method: 'PATCH',
      path,
      body: { spec: { containers: [{ name: container, resources }] } },
      contentType: STRATEGIC,
    },
    {
      what: 'pods resize strategic patch',
      how,
      method: 'PATCH',
      path,
      body: { spec: { containers: [{ name: container, resources }] } },
      contentType: STRATEGIC,
    },
    {
      what: 'pods resize strategic patch',
      how: 'image',
      method: 'PATCH',
      path,
      body: { spec: { containers: [{ name: 'main', image: 'z' }] } },
      contentType: STRATEGIC,
    },
    {
      what: 'pods resize strategic patch',
      how: 'labels',
      method: 'PATCH',
      path,
      body: { metadata: { labels: { x: 'y' } } },
      contentType: STRATEGIC,
    },
    {
      what: 'pods resize strategic patch',
      how: 'policy',
      method: 'PATCH',
      path,
      body: {
        spec: {
          containers: [{ name: 'main', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }],
        },
      },
      contentType: STRATEGIC,
    },
    {
      what: 'pods resize strategic patch',
      how: 'version',
      method: 'PATCH',
      path,
      body: { metadata: { resourceVersion: '1' }, spec: { containers: [{ name: container, resources }] } },
      contentType: STRATEGIC,
    },
    {
      what: 'pods resize merge patch',
      how: 'bare container',
      method: 'PATCH',
      path,
      body: { spec: { containers: [{ name: 'main', resources }] } },
      contentType: MERGE,
    },
    {
      what: 'pods resize json patch',
      how,
      method: 'PATCH',
      path,
      body: [{ op: 'add', path: '/spec/containers/0/resources', value: resources }],
      contentType: 'application/json-patch+json',
    },
    {
      what: 'pods resize apply',
      how,
      method: 'PATCH',
      path: `${collection}/${name}/resize?fieldManager=${draw.pick(['one', 'two'])}&force=true`,
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { containers: [{ name: container, resources }] },
      },
      contentType: 'application/apply-patch+yaml',
    },
    { what: 'pods resize get', how: '', method: 'GET', path },
  ]);
}

export function drawEviction({ draw, collection }: Subject, name: string): Step {
  const deleteOptions = draw.pick<unknown>([
    undefined,
    undefined,
    { gracePeriodSeconds: 0 },
    { preconditions: { uid: `{{uid ${name}}}` } },
    { preconditions: { uid: 'other' } },
    { preconditions: { resourceVersion: `{{rv ${name}}}` } },
    { preconditions: { resourceVersion: '1' } },
    { dryRun: ['All'] },
    { dryRun: ['Some'] },
    { gracePeriodSeconds: 'x' },
    { propagationPolicy: 'Bad' },
  ]);
  const whole = {
    apiVersion: draw.pick(['policy/v1', 'policy/v1', 'policy/v1', 'policy/v1beta1', 'v1']),
    kind: draw.pick(['Eviction', 'Eviction', 'Eviction', 'Pod']),
    metadata: {
      name: draw.pick([name, name, name, 'other', undefined]),
      ...(draw.chance(0.1) ? { namespace: 'elsewhere' } : {}),
    },
    ...(deleteOptions === undefined ? {} : { deleteOptions }),
  };
  const { apiVersion, kind, metadata } = whole;
  return {
    what: 'pods eviction',
    how: `${JSON.stringify(deleteOptions) ?? ''} ${apiVersion} ${kind} ${metadata.name === name ? '' : 'other name'}`,
    method: draw.chance(0.95) ? 'POST' : 'GET',
    path: `${collection}/${name}/eviction${drawWriteQuery(draw)}`,
    body: whole,
  };
}

export function drawBinding({ draw, collection }: Subject, name: string): Step {
  const target = draw.pick<unknown>([
    { kind: 'Node', name: 'node-y' },
    { kind: 'Node', name: 'node-y' },
    { name: 'node-y' },
    { kind: 'Pod', name: 'x' },
    { kind: 'Node', name: '' },
    { kind: 'Node', name: 'UPPER_' },
    undefined,
  ]);
  const metadata = draw.pick<unknown>([
    { name },
    { name: 'other' },
    {},
    { name, uid: `{{uid ${name}}}` },
    { name, uid: 'other' },
    { name, annotations: { a: 'b' }, labels: { c: 'd' } },
    { name, resourceVersion: '1' },
  ]);
  return {
    what: 'pods binding',
    how: `${JSON.stringify(target)} ${JSON.stringify(metadata)?.replaceAll(name, 'NAME')}`,
    method: 'POST',
    path: `${collection}/${name}/binding${drawWriteQuery(draw)}`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata, target },
  };
}

export function drawEphemeral({ draw, collection }: Subject, name: string): Step {
  const containers = draw.pick<unknown>([
    [{ name: 'debug', image: 'busybox' }],
    [{ name: 'main', image: 'busybox' }],
    [{ name: 'debug' }],
    [],
  ]);
  return {
    what: 'pods ephemeralcontainers',
    how: JSON.stringify(containers),
    method: 'PATCH',
    path: `${collection}/${name}/ephemeralcontainers`,
    body: { spec: { ephemeralContainers: containers } },
    contentType: STRATEGIC,
  };
}
