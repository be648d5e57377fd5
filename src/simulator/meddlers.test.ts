import { describe, expect, test } from 'vitest';
import { startVirtualCluster } from '../cluster/testing/virtual-cluster.ts';
import { beginMeddling, changesOf, mostRoundedUp } from './meddlers.ts';

const podWith = (resources: object, more = {}) => ({
  kind: 'Pod',
  spec: { containers: [{ name: 'app', resources }], ...more },
});

describe('changesOf', () => {
  test('a sidecar comes behind the containers that are there', () => {
    expect(changesOf('sidecar', podWith({}))).toMatchObject([{ op: 'add', path: '/spec/containers/-' }]);
  });

  test.each([
    ['is rounded up', { requests: { cpu: '120m' } }, ['150m']],
    ['is a multiple already', { requests: { cpu: '1' } }, []],
    ['would reach the limit', { requests: { cpu: '120m' }, limits: { cpu: '150m' } }, []],
    ['is missing', {}, []],
  ])('a CPU request that %s', (_name, resources, values) => {
    expect(changesOf('round-sizes', podWith(resources)).map(({ value }) => value)).toEqual(values);
  });

  test('in a template, too', () => {
    const deployment = { kind: 'Deployment', spec: { template: podWith({ requests: { cpu: '10m' } }) } };
    expect(changesOf('round-sizes', deployment)).toEqual([
      { op: 'replace', path: '/spec/template/spec/containers/0/resources/requests/cpu', value: '50m' },
    ]);
  });

  test('affinity is removed where there is one', () => {
    expect(changesOf('drop-affinity', podWith({}, { affinity: {} }))).toEqual([
      { op: 'remove', path: '/spec/affinity' },
    ]);
    expect(changesOf('drop-affinity', podWith({}))).toEqual([]);
  });
});

test('a resize may be rounded up by less than a step for each container, as long as somebody rounds', async () => {
  const { cluster } = await startVirtualCluster();
  const pod = { spec: { containers: [{ name: 'app' }, { name: 'proxy' }] } };
  const end = await beginMeddling(cluster, 'round-sizes');
  const endOther = await beginMeddling(cluster, 'sidecar');
  expect(mostRoundedUp(cluster, pod)).toBe(98);
  await end();
  expect(mostRoundedUp(cluster, pod)).toBe(0);
  await endOther();
  await cluster.stop();
});
