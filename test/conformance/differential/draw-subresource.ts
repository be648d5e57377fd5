/** Requests on subresources: status, scale, resize, eviction, binding, ephemeral containers. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';
import { spoil, withValueAt } from './spoil.ts';
import type { Step } from './step.ts';
import { drawWriteQuery, objectOf, type Subject } from './subject.ts';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

function drawStatus(subject: Subject, name: string): Step {
  const { kind, draw, collection } = subject;
  const what = `${kind.plural} status`;
  const path = `${collection}/${name}/status${drawWriteQuery(draw)}`;
  const status = kind.status?.(draw) ?? {};
  const spoilt = draw.chance(0.4) ? spoil({ status }, draw) : { how: '', body: { status } };
  const { how } = spoilt;
  const body: Json = typeof spoilt.body === 'object' ? { ...spoilt.body } : {};
  switch (draw.pick(['get', 'put', 'merge', 'merge', 'strategic', 'apply'])) {
    case 'get':
      return { what: `${what} get`, how: '', method: 'GET', path };
    case 'put': {
      const whole = { ...objectOf(subject, name), ...body };
      const version = draw.pick([undefined, `{{rv ${name}}}`, '1']);
      return {
        what: `${what} replace`,
        how: `${how} ${version ?? ''}`,
        method: 'PUT',
        path,
        body: version === undefined ? whole : withValueAt(whole, ['metadata', 'resourceVersion'], version),
      };
    }
    case 'apply':
      return {
        what: `${what} apply`,
        how,
        method: 'PATCH',
        path: `${collection}/${name}/status?fieldManager=${draw.pick(['one', 'two'])}${draw.chance(0.3) ? '&force=true' : ''}`,
        body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...body },
        contentType: 'application/apply-patch+yaml',
      };
    case 'strategic':
      return { what: `${what} strategic patch`, how, method: 'PATCH', path, body, contentType: STRATEGIC };
    default: {
      const more = draw.chance(0.2)
        ? { spec: { replicas: 7 }, metadata: { labels: { viaStatus: 'x' }, annotations: { via: 'status' } } }
        : {};
      return {
        what: `${what} merge patch`,
        how: `${how}${'spec' in more ? ' and more' : ''}`,
        method: 'PATCH',
        path,
        body: { ...body, ...more },
        contentType: MERGE,
      };
    }
  }
}

function drawScale({ kind, draw, collection }: Subject, name: string): Step {
  const what = `${kind.plural} scale`;
  const path = `${collection}/${name}/scale${drawWriteQuery(draw)}`;
  const replicas = draw.pick<unknown>([0, 1, 4, -1, '3', 1.5, null, 2_147_483_648]);
  const how = `replicas ${JSON.stringify(replicas)}`;
  const whole = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas } };
  return draw.pick<Step>([
    { what: `${what} get`, how: '', method: 'GET', path },
    { what: `${what} replace`, how, method: 'PUT', path, body: whole },
    {
      what: `${what} replace`,
      how: `${how} version`,
      method: 'PUT',
      path,
      body: withValueAt(whole, ['metadata', 'resourceVersion'], `{{rv ${name}}}`),
    },
    {
      what: `${what} replace`,
      how: 'old version',
      method: 'PUT',
      path,
      body: withValueAt(whole, ['metadata', 'resourceVersion'], '1'),
    },
    {
      what: `${what} replace`,
      how: 'other name',
      method: 'PUT',
      path,
      body: withValueAt(whole, ['metadata', 'name'], 'other'),
    },
    {
      what: `${what} replace`,
      how: 'wrong kind',
      method: 'PUT',
      path,
      body: { ...whole, kind: kind.kind, apiVersion: kind.apiVersion },
    },
    { what: `${what} replace`, how: 'untyped', method: 'PUT', path, body: { metadata: { name }, spec: { replicas } } },
    { what: `${what} merge patch`, how, method: 'PATCH', path, body: { spec: { replicas } }, contentType: MERGE },
    { what: `${what} merge patch`, how: 'no spec', method: 'PATCH', path, body: { spec: null }, contentType: MERGE },
    {
      what: `${what} strategic patch`,
      how,
      method: 'PATCH',
      path,
      body: { spec: { replicas } },
      contentType: STRATEGIC,
    },
    {
      what: `${what} apply`,
      how,
      method: 'PATCH',
      path: `${collection}/${name}/scale?fieldManager=one`,
      body: whole,
      contentType: 'application/apply-patch+yaml',
    },
    {
      what: `${what} json patch`,
      how,
      method: 'PATCH',
      path,
      body: [{ op: 'replace', path: '/spec/replicas', value: replicas }],
      contentType: 'application/json-patch+json',
    },
  ]);
}

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

function drawResize({ draw, collection }: Subject, name: string): Step {
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

function drawEviction({ draw, collection }: Subject, name: string): Step {
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

function drawBinding({ draw, collection }: Subject, name: string): Step {
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

function drawEphemeral({ draw, collection }: Subject, name: string): Step {
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

/** Mostly what the kind has; sometimes what it has not. */
export function drawSubresource(subject: Subject): Step {
  const { kind, draw, collection, names } = subject;
  const name = draw.pick(names);
  const offered = kind.subresources ?? [];
  const chosen = draw.chance(0.04) ? draw.pick(['status', 'scale', 'nonsense']) : draw.pick(offered);
  if (!offered.includes(chosen))
    return {
      what: `${kind.plural} subresource`,
      how: `${chosen} is none`,
      method: draw.pick(['GET', 'PUT']),
      path: `${collection}/${name}/${chosen}`,
      body: {},
    };
  switch (chosen) {
    case 'scale':
      return drawScale(subject, name);
    case 'resize':
      return drawResize(subject, name);
    case 'eviction':
      return drawEviction(subject, name);
    case 'binding':
      return drawBinding(subject, name);
    case 'ephemeralcontainers':
      return drawEphemeral(subject, name);
    default:
      return drawStatus(subject, name);
  }
}
