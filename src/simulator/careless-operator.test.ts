/** The judges must see what a careless operator does: one that evicts and writes as it is told, whenever it is told. */
import { expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import { startOperator } from '../wire.ts';
import type { Invariant } from './invariant-names.ts';
import { parseScenario } from './scenario/load-scenario.ts';
import { simulate } from './simulate.ts';

const shop = `
name: shop
duration: 6m
replicas: 2
pools:
  - { name: on-demand, class: on-demand, type: m6i.xlarge, min: 1 }
  - { name: spot, class: spot, type: m6i.xlarge, interruptions: 0 }
workloads:
  - { name: web, namespace: shop, replicas: 4, spot: 50, floor: 0, annotations: ANNOTATIONS }
  - { name: other, namespace: shop, enabled: false, replicas: 1 }
`;

type Deed = (api: KubeApi, clock: Clock) => Promise<unknown>;

const inShop = { namespace: 'shop' };

/** A pod of the side, by the name of its node. */
async function podOn(side: 'spot' | 'on-demand', api: KubeApi): Promise<string> {
  const { items } = await api.list(resources.pods, { ...inShop, labelSelector: 'app=web' });
  const isThere = ({ metadata, spec }: Pod): boolean =>
    metadata?.deletionTimestamp === undefined && (spec?.nodeName ?? '').startsWith(side);
  return items.find(isThere)?.metadata?.name ?? '';
}

function evictPod(name: string, api: KubeApi): Promise<unknown> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, ...inShop } };
  return api.createSubresource(resources.pods, name, 'eviction', eviction, inShop);
}

function evict(side: 'spot' | 'on-demand'): Deed {
  return async (api) => evictPod(await podOn(side, api), api);
}

/** Evicts two pods, the second so long after it heard that the answer about the first is lost. */
function evictTwice(pauseMillis: Millis): Deed {
  return async (api, clock) => {
    const [first, second] = [await podOn('spot', api), await podOn('on-demand', api)];
    await expect(evictPod(first, api)).rejects.toThrow();
    await sleep(clock, pauseMillis);
    await evictPod(second, api);
  };
}

function annotate(value: string): Deed {
  const body = { metadata: { annotations: { told: value } } };
  return (api) => api.patch(resources.deployments, 'web', { type: 'merge', body }, inShop);
}

interface Circumstances {
  /** The replica that does it; the first one leads. */
  readonly who?: 'simulated_1' | 'simulated_2';
  readonly annotations?: string;
  readonly everyMillis?: number;
  readonly events?: string;
}

/** Names of the invariants that are broken when these things are done, one every so often. */
async function brokenBy(deeds: readonly Deed[], circumstances: Circumstances = {}): Promise<readonly Invariant[]> {
  const { who = 'simulated_1', annotations = '{}', everyMillis = 60_000, events = '[]' } = circumstances;
  const failures: unknown[] = [];
  const { violations, problems, checks } = await simulate({
    scenario: parseScenario(`${shop.replace('ANNOTATIONS', annotations)}events: ${events}\n`, 'test.yaml'),
    folder: '.',
    async startOperator(options) {
      const operator = await startOperator(options);
      if (options.identity !== who) return operator;
      deeds.forEach((deed, index) => {
        options.clock.setTimer(180_000 + index * everyMillis, () => {
          deed(options.api, options.clock).catch((error: unknown) => failures.push(error));
        });
      });
      return operator;
    },
  });
  expect([failures, problems]).toEqual([[], []]);
  const broken = [...new Set(violations.map(({ invariant }) => invariant))];
  for (const each of broken) expect(checks[each]).toBeGreaterThan(0);
  // It is not in the journal, and nothing explains it; that is not what is looked for here.
  return broken.filter((each) => each !== 'journal' && each !== 'bounded');
}

const closed = '{ spotalis.io/disruption-schedule: "0 12 * * *", spotalis.io/disruption-duration: 1h }';
const open = '{ spotalis.io/disruption-schedule: "0 0 * * *", spotalis.io/disruption-duration: 1h }';

test.each<[readonly Invariant[], readonly Deed[], Circumstances]>([
  [['aim'], [evict('spot')], {}],
  [['window', 'aim'], [evict('spot')], { annotations: closed }],
  [['aim'], [evict('spot')], { annotations: open }],
  [['leader'], [annotate('once')], { who: 'simulated_2' }],
  [['idle'], [annotate('the same'), annotate('the same')], {}],
  [[], [annotate('one'), annotate('another'), annotate('one')], {}],
])('%j is seen to be broken (%#)', async (invariants, deeds, circumstances) => {
  expect(await brokenBy(deeds, circumstances)).toEqual(invariants);
});

test('a second eviction within the cooldown is seen', async () => {
  expect(await brokenBy([evict('spot'), evict('on-demand')], { everyMillis: 8000 })).toContain('cooldown');
});

test.each([
  [10_000, false],
  [9_999, true],
])('an eviction without an answer counts from when that was known: another %i ms later', async (pause, isSeen) => {
  const lost =
    '{ at: 2m, do: api-fault, for: 60s, resources: [pods/eviction], probability: 1, effect: { kind: drop-after } }';
  const broken = await brokenBy([evictTwice(pause)], { events: `[${lost}]` });
  expect(broken.includes('cooldown')).toBe(isSeen);
});

test('one eviction after the other that each gain nothing are seen to get nowhere', async () => {
  const often = Array.from({ length: 40 }, () => evict('spot'));
  expect(await brokenBy(often, { everyMillis: 4000 })).toContain('progress');
  expect(await brokenBy(often.slice(0, 15), { everyMillis: 4000 })).not.toContain('progress');
});

test('what is written again and again is seen', async () => {
  const often = Array.from({ length: 70 }, (_, index) => annotate(String(index)));
  expect(await brokenBy(often, { everyMillis: 500 })).toEqual(['quiet']);
});

/** An event about the workload, in the namespace of this name. */
function tell(namespace: string, index: number): Deed {
  const regarding = { kind: 'Deployment', namespace, name: 'web', uid: 'web' };
  const event = {
    metadata: { name: `told-${index}`, namespace },
    eventTime: '2026-06-01T00:00:00.000000Z',
    reportingController: 'stowage.io/operator',
    reportingInstance: 'simulated_1',
    type: 'Normal',
    reason: 'Told',
    action: 'Place',
    regarding,
  };
  return (api) => api.create(resources.events, event, { namespace });
}

test.each([
  ['shop', ['quiet']],
  ['nowhere', []],
])('what is told again and again is seen where it is heard: in %s', async (namespace, invariants) => {
  const often = Array.from({ length: 30 }, (_, index): Deed => {
    const deed = tell(namespace, index);
    return (api, clock) => deed(api, clock).catch(() => {});
  });
  expect(await brokenBy(often, { everyMillis: 500 })).toEqual(invariants);
});
