/** Requests on subresources: status, scale, and those of pods. */
import type { Json } from '../endpoint.ts';
import { drawBinding, drawEphemeral, drawEviction, drawResize } from './draw-pod-subresource.ts';
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
