/** The judge must see what a careless operator does: one that resizes and retemplates as it is told. */
import { expect, test } from 'vitest';
import type { KubeObject, Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { startOperator } from '../wire.ts';
import type { Invariant } from './invariant-names.ts';
import { parseScenario } from './scenario/load-scenario.ts';
import { simulate } from './simulate.ts';
import { newOomKills } from './size-judge.ts';

const shop = `
name: shop
duration: 8m
pools: [{ name: on-demand, class: on-demand, type: m6i.xlarge, min: 1, max: 1 }]
workloads:
  - name: web
    namespace: shop
    enabled: false
    replicas: 1
    cpu: 500m
    memory: 300Mi
    limits: { memory: 1Gi }
    use: { cpu: 100m, memory: 200Mi }
    restartOnResize: RESTARTS
    labels: { size: web }
  - { name: zoo, namespace: shop, enabled: false, replicas: 1, memory: 8Gi }
operator: { engines: { rightsizing: ENGINE } }
policies:
  - name: sizes
    namespace: shop
    spec:
      mode: MODE
      selector: { workloadSelector: { matchLabels: { size: web } } }
      metricsConfig: { provider: metrics-server, minHistory: 10h }
      resourceBounds: { cpu: { min: 10m, max: "2" }, memory: { min: 16Mi, max: 2Gi } }
      updateStrategy: { allowRecreate: false }
`;

type Sizes = Readonly<Record<string, Readonly<Record<string, string>>>>;
type Deed = (api: KubeApi) => Promise<unknown>;

const inShop = { namespace: 'shop' };

async function podOf(api: KubeApi): Promise<Pod | undefined> {
  return (await api.list(resources.pods, inShop)).items[0];
}

function resize(sizes: Sizes): Deed {
  return async (api) => {
    const name = (await podOf(api))?.metadata?.name ?? '';
    const body = { spec: { containers: [{ name: 'app', resources: sizes }] } };
    await api.patch(resources.pods, name, { type: 'strategic', body }, { ...inShop, subresource: 'resize' });
  };
}

function retemplate(sizes: Sizes): Deed {
  const type: ResourceType<KubeObject> = resources.deployments;
  const body = { spec: { template: { spec: { containers: [{ name: 'app', resources: sizes }] } } } };
  return async (api) => await api.patch(type, 'web', { type: 'strategic', body }, inShop);
}

interface Circumstances {
  readonly mode?: 'Auto' | 'Recommend';
  readonly restarts?: string;
  readonly engine?: boolean;
}

/** Names of the invariants that are broken when these things are done, one every so often. */
async function brokenBy(
  deeds: readonly Deed[],
  { mode = 'Auto', restarts = '[]', engine = true }: Circumstances = {},
  everyMillis = 20_000,
): Promise<readonly Invariant[]> {
  const text = shop.replace('MODE', mode).replace('RESTARTS', restarts).replace('ENGINE', String(engine));
  const failures: unknown[] = [];
  const { violations, problems } = await simulate({
    scenario: parseScenario(engine ? text : text.slice(0, text.indexOf('policies:')), 'test.yaml'),
    folder: '.',
    async startOperator(options) {
      const operator = await startOperator(options);
      deeds.forEach((deed, index) => {
        options.clock.setTimer(180_000 + index * everyMillis, () => {
          deed(options.api).catch((error: unknown) => failures.push(error));
        });
      });
      return operator;
    },
  });
  expect([failures, problems]).toEqual([[], []]);
  return [...new Set(violations.map(({ invariant }) => invariant))];
}

test('what a policy allows breaks nothing', async () => {
  expect(await brokenBy([resize({ requests: { cpu: '600m' } }), resize({ limits: { memory: '900Mi' } })])).toEqual([]);
});

test.each<[Invariant, Deed, Circumstances]>([
  ['consent', resize({ requests: { cpu: '600m' } }), { mode: 'Recommend' }],
  ['consent', resize({ requests: { cpu: '600m' } }), { engine: false }],
  ['memory', resize({ requests: { memory: '100Mi' }, limits: { memory: '150Mi' } }), {}],
  ['bounds', resize({ requests: { cpu: '2500m' } }), {}],
  ['restarts', resize({ limits: { memory: '900Mi' } }), { restarts: '[memory]' }],
  ['restarts', retemplate({ requests: { cpu: '600m' } }), {}],
])('%s is seen to be broken (%#)', async (invariant, deed, circumstances) => {
  expect(await brokenBy([deed], circumstances)).toEqual([invariant]);
});

test('capacity is seen to be broken', async () => {
  expect(await brokenBy([resize({ requests: { memory: '12Gi' }, limits: { memory: '12Gi' } })])).toContain('capacity');
});

test('another QoS class of a template is seen', async () => {
  const full = { cpu: '1', memory: '1Gi' };
  expect(await brokenBy([retemplate({ requests: full, limits: full })])).toContain('qos');
});

test('a second rollout a moment after the first is seen, unless it turns that back', async () => {
  const first = retemplate({ requests: { cpu: '600m' } });
  expect(await brokenBy([first, retemplate({ requests: { cpu: '700m' } })], {}, 3_000)).toContain('cooldown');
  expect(await brokenBy([first, retemplate({ requests: { cpu: '500m' } })], {}, 3_000)).not.toContain('cooldown');
});

test('a resize while another is under way is seen', async () => {
  const both = [resize({ requests: { cpu: '600m' } }), resize({ requests: { cpu: '700m' } })];
  expect(await brokenBy(both, {}, 20)).toEqual(['oneResize']);
});

test('up and down and up again is seen', async () => {
  const back = Array.from({ length: 10 }, (_, index) =>
    resize({ requests: { cpu: index % 2 === 0 ? '600m' : '400m' } }),
  );
  expect(await brokenBy(back, {}, 10_000)).toEqual(['steady']);
});

test.each<[string, readonly [number, string], readonly [number, string], number]>([
  ['the first', [0, ''], [1, 'OOMKilled'], 1],
  ['after another end', [4, 'Error'], [5, 'OOMKilled'], 1],
  ['before another end', [5, 'OOMKilled'], [6, 'Error'], 0],
  ['once more', [5, 'OOMKilled'], [6, 'OOMKilled'], 1],
  ['told again', [5, 'OOMKilled'], [5, 'OOMKilled'], 0],
])('kills for want of memory are counted one by one: %s', (_, before, after, expected) => {
  const pod = ([restartCount, reason]: readonly [number, string]): Pod => ({
    status: {
      containerStatuses: [
        {
          name: 'app',
          image: '',
          imageID: '',
          ready: true,
          restartCount,
          lastState: reason === '' ? {} : { terminated: { exitCode: 1, reason } },
        },
      ],
    },
  });
  expect(newOomKills(pod(before), pod(after))).toBe(expected);
});
