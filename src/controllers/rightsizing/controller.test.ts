import { expect, test } from 'vitest';
import { sleep } from '../../lib/clock.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PolicyRecord, ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createRightsizingController, type RightsizingControllerOptions } from './controller.ts';
import { brokenResult } from './result.ts';
import { createResultStore } from './result-store.ts';

const policy = validPolicy({
  namespace: 'shop',
  spec: { selector: { workloadSelector: { matchLabels: { optimize: 'true' } } } },
});

const known: readonly PolicyRecord[] = [policy];

interface Meanwhile {
  readonly wake: (key: string) => void;
  readonly pass: (millis: number) => Promise<void>;
}

/** A pass over these workloads; what else happens during a look is up to the test. */
async function passOver(
  workloads: readonly SizedWorkload[],
  during: (
    looked: SizedWorkload,
    become: (now: readonly SizedWorkload[]) => void,
    meanwhile: Meanwhile,
  ) => void | Promise<void>,
  breathing: (become: (now: readonly SizedWorkload[]) => void) => void = () => {},
  policies: () => readonly PolicyRecord[] = () => known,
  lookedBy: ValidPolicy[] = [],
  again?: () => number | undefined,
): Promise<readonly SizedWorkload[]> {
  const clock = createVirtualClock(NOON);
  let snapshot = createSizingSnapshot({ workloads });
  const become = (now: readonly SizedWorkload[]): void => {
    snapshot = createSizingSnapshot({ workloads: now });
  };
  const looked: SizedWorkload[] = [];
  const book = { results: createResultStore(), discovered: {}, owned: 0 };
  const controller = createRightsizingController({
    view: new Proxy({ onChange: () => () => {} } as unknown as SizingView, {
      get: (own, key: keyof SizingView) => own[key] ?? snapshot[key],
    }),
    policies: { policies, isFresh: () => true, onSynced: Promise.resolve(), onChange: () => () => {} },
    usage: { onChange: () => () => {}, healthOf: () => undefined },
    handBack: { giveBack: async () => undefined, isNeeded: () => false },
    reconciler: {
      async reconcile(workload: SizedWorkload, by: ValidPolicy) {
        looked.push(workload);
        lookedBy.push(by);
        await during(workload, become, { wake: controller.wakeForTurn, pass: (millis) => sleep(clock, millis) });
        if (again === undefined) throw new Error('no result is needed');
        return { ...brokenResult(workload, 'none is needed', undefined), againAfterMillis: again() };
      },
    },
    books: { of: () => book, write: async () => {} },
    settings: () => ({
      minIntervalMillis: 3_600_000,
      tenancy: { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set<string>() },
    }),
    events: { onPolicy: () => {} },
    metrics: createMetrics(),
    clock: {
      ...clock,
      setTimer(delayMillis: number, callback: () => void) {
        if (delayMillis === 0) breathing(become);
        return clock.setTimer(delayMillis, callback);
      },
    },
    random: createSeededRandom(1),
    log: createSilentLogger(),
    workers: 2,
  } as unknown as RightsizingControllerOptions);
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  await clock.advance(1_000);
  stop.abort();
  await running;
  return looked;
}

const labels = { optimize: 'true' };
const web = aSizedWorkload({ name: 'web', uid: 'web', labels });
const api = aSizedWorkload({ name: 'api', uid: 'api', labels });

test('a workload that changes during a pass is looked at as it is by then', async () => {
  const scaled = { ...api, replicas: 9 };
  const looked = await passOver([web, api], (_, become) => become([web, scaled]));
  expect(looked).toEqual([web, scaled]);
});

test('nor as it was before others had their turn', async () => {
  const scaled = { ...api, replicas: 9 };
  expect(
    await passOver(
      [api],
      () => {},
      (become) => become([scaled]),
    ),
  ).toEqual([scaled]);
});

test.each<[string, SizedWorkload[]]>([
  ['goes', [web]],
  ['is being deleted', [web, { ...api, deleting: true }]],
  ['becomes nobody’s', [web, { ...api, labels: {}, annotations: {} }]],
])('one that %s during a pass is not looked at', async (_, now) => {
  const looked = await passOver([web, api], (__, become) => become(now));
  expect(looked).toEqual([web]);
});

test('a policy that changes during a pass is carried out as it is by then', async () => {
  let now: readonly PolicyRecord[] = [policy];
  const passWith = async (spec: Partial<ValidPolicy['spec']>) => {
    const by: ValidPolicy[] = [];
    const change = (): void => {
      now = [{ ...policy, spec: { ...policy.spec, ...spec } }];
    };
    const policies = () => now;
    await passOver([web, api], change, () => {}, policies, by);
    return by.map(({ spec: { mode } }) => mode);
  };
  expect(await passWith({ mode: 'Recommend' })).toEqual([policy.spec.mode, 'Recommend']);
  now = [policy];
  // Whoever switches it off in the middle of a pass has nothing more done in its name.
  expect(await passWith({ mode: 'Disabled' })).toEqual([policy.spec.mode]);
});

test('who changes while it is looked at is looked at once more after that, as it and its policy are by then', async () => {
  let now: readonly PolicyRecord[] = [policy];
  const by: ValidPolicy[] = [];
  const scaled = { ...web, replicas: 9 };
  let looks = 0;
  const during = async (
    _: SizedWorkload,
    become: (now: readonly SizedWorkload[]) => void,
    { wake, pass }: Meanwhile,
  ) => {
    if (looks++ > 0) return;
    wake('Deployment/shop/web');
    await pass(100);
    expect(looks).toBe(1);
    now = [{ ...policy, spec: { ...policy.spec, mode: 'Recommend' } }];
    become([scaled]);
  };
  expect(
    await passOver(
      [web],
      during,
      () => {},
      () => now,
      by,
    ),
  ).toEqual([web, scaled]);
  expect(by.map(({ spec: { mode } }) => mode)).toEqual([policy.spec.mode, 'Recommend']);
});

test('who would be looked at again at once, each time it is looked at, leaves others their turn', async () => {
  let looks = 0;
  const again = () => (looks++ < 50 ? 0 : undefined);
  const looked = await passOver(
    [web],
    () => {},
    () => {},
    () => known,
    [],
    again,
  );
  expect(looked.length).toBeGreaterThan(1);
  expect(looked.length).toBeLessThanOrEqual(6);
});
