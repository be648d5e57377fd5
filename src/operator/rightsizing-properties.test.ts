import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import { createMetrics } from '../lib/metrics.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { type AnyWorkload, manyWorkloads } from './testing/many-workloads.ts';
import { readPolicy, sizedEvents, workloadWrites } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

const COUNT = 110;
const TIMEOUT = 60_000;

/** Workloads of any size and use; limits, where there are any, leave room for what is used. */
function anyWorkloads(seed: number): readonly AnyWorkload[] {
  const amounts = fc.record({
    cpu: fc.integer({ min: 20, max: 200 }),
    memory: fc.integer({ min: 20, max: 200 }),
    cpuRequest: fc.integer({ min: 10, max: 400 }),
    memoryRequest: fc.integer({ min: 16, max: 400 }),
    hasLimits: fc.boolean(),
  });
  return fc
    .sample(amounts, { numRuns: COUNT, seed })
    .map(({ cpu, memory, cpuRequest, memoryRequest, hasLimits }, index) => ({
      name: `w${index}`,
      cpu,
      memory,
      requests: { cpu: `${cpuRequest}m`, memory: `${memoryRequest}Mi` },
      limits: hasLimits
        ? { cpu: `${Math.max(cpu, cpuRequest) + 300}m`, memory: `${Math.max(memory, memoryRequest) + 300}Mi` }
        : undefined,
    }));
}

const podsByApp = async (world: EmbeddedWorld) => {
  const { items } = await world.api.list(resources.pods, inShop);
  return new Map(items.map((pod) => [pod.metadata?.labels?.['app'] ?? '', pod]));
};
const entries = async (world: EmbeddedWorld) => (await readPolicy(world)).status?.workloads ?? [];
const allHave = async (world: EmbeddedWorld, status: string) => {
  const all = await entries(world);
  return all.length === COUNT && all.every((entry) => entry.status === status);
};

describe('Auto', () => {
  // Feature: k8s-workload-rightsizing, Property 2: with enough data and a policy in Auto, requests are updated as the policy says.
  // Feature: k8s-workload-rightsizing, Property 3: only requests change, limits stay.
  // Feature: k8s-workload-rightsizing, Property 17: in Auto recommendations are applied within the interval.
  // Feature: k8s-workload-rightsizing, Property 23: status tells when the last recommendation and the last change were.
  // Feature: k8s-workload-rightsizing, Property 32: nothing is asked or written twice.
  test(
    'Property 2, Property 3, Property 17, Property 23, Property 32: any workload gets what its policy says, in place, and a second pass writes nothing',
    async () => {
      const cases = anyWorkloads(2);
      const world = await manyWorkloads(cases, { mode: 'Auto', updates: { minChange: '1%' } });
      const uids = new Map([...(await podsByApp(world))].map(([app, { metadata }]) => [app, metadata?.uid]));
      await world.until('all are applied', () => allHave(world, 'Applied'), 5 * MINUTE);
      const pods = await podsByApp(world);
      for (const entry of await entries(world)) {
        const pod = pods.get(entry.name);
        const [recommended] = entry.recommendations ?? [];
        const { requests, limits } = pod?.spec?.containers[0]?.resources ?? {};
        const given = cases.find(({ name }) => name === entry.name);
        // Whoever differs by less than a percent stays.
        const isNear = (is: string | undefined, wanted: string | undefined): boolean =>
          Math.abs(amountOf(is) - amountOf(wanted)) <= Math.max(0.011 * amountOf(is), 5);
        expect([entry.name, isNear(requests?.['cpu'], recommended?.cpu)]).toEqual([entry.name, true]);
        expect(amountOf(requests?.['memory']) / amountOf(recommended?.memory)).toBeCloseTo(1, 1);
        expect(limits).toEqual(given?.limits);
        expect(pod?.metadata?.uid).toBe(uids.get(entry.name));
        expect(Date.parse(entry.lastRecommendation ?? '')).toBeGreaterThan(0);
        if (requests?.['cpu'] !== given?.requests.cpu) {
          expect(Date.parse(entry.lastApplied ?? '')).toBeGreaterThanOrEqual(
            Date.parse(entry.lastRecommendation ?? '') - MINUTE,
          );
        }
        const { spec } = await world.api.get(resources.deployments, entry.name, inShop);
        expect(spec?.template?.spec?.containers[0]?.resources?.requests).toEqual(given?.requests);
      }
      await world.clock.advance(2 * MINUTE);
      const before = world.operatorWrites.length;
      await world.clock.advance(3 * MINUTE);
      const later = world.operatorWrites.slice(before).filter((write) => !/leases|events/.test(write));
      // What is remembered of usage is saved from time to time.
      expect(later.filter((write) => !write.endsWith('configmaps'))).toEqual([]);
    },
    TIMEOUT,
  );

  // Feature: k8s-workload-rightsizing, Property 25: metrics tell of workloads, of those that are skipped and why, and of errors.
  // Feature: k8s-workload-rightsizing, Property 28: where RBAC forbids it nothing is changed, and conditions and events say so.
  test(
    'Property 25, Property 28: any workload that may not be changed is left alone, told and counted; the others go on',
    async () => {
      const metrics = createMetrics();
      const isForbidden = (name: string): boolean => Number(name.slice(1).split('-')[0]) % 3 === 0;
      const world = await manyWorkloads(
        anyWorkloads(28),
        { mode: 'Auto', updates: { minChange: '1%' } },
        {
          metrics,
          onWrite({ verb, resource, name }) {
            if (verb !== 'patch' || resource !== 'pods' || !isForbidden(name)) return;
            const message = `pods "${name}" is forbidden: User "stowage" cannot patch resource "pods/resize" in API group "" in the namespace "shop"`;
            throw new KubeError(403, { status: 'Failure', code: 403, reason: 'Forbidden', message }, message);
          },
        },
      );
      const isSettled = async (): Promise<boolean> => {
        const all = await entries(world);
        const isRight = ({ name, status, reason }: (typeof all)[number]): boolean =>
          status === 'Applied' || (isForbidden(name) && reason === 'RBACError');
        return all.length === COUNT && all.every(isRight);
      };
      await world.until('the others are applied', isSettled, 5 * MINUTE);
      const applied = (await entries(world)).filter(({ status }) => status === 'Applied').length;
      expect(applied).toBeLessThan(COUNT);
      const text = await metrics.render();
      expect(text).toContain(`optipod_workloads_updated{namespace="shop",policy="sizes"} ${applied}\n`);
      expect(text).toContain(
        `optipod_workloads_skipped{namespace="shop",policy="sizes",reason="RBACError"} ${COUNT - applied}\n`,
      );
      expect(text).toMatch(/optipod_reconciliation_errors_total\{policy="sizes",error_type="processing_error"\} [1-9]/);
      expect(text).toMatch(/optipod_applications_total\{policy="sizes",method="InPlace"\} [1-9]/);
      const pods = await podsByApp(world);
      const cases = anyWorkloads(28);
      for (const { name, requests } of cases.filter((each) => isForbidden(each.name))) {
        expect(pods.get(name)?.spec?.containers[0]?.resources?.requests).toEqual(requests);
      }
      const { status } = await readPolicy(world);
      expect(status?.conditions?.find(({ type }) => type === 'PermissionsSufficient')).toMatchObject({
        status: 'False',
        reason: 'RBACError',
      });
      const told = (await sizedEvents(world)).filter(({ reason }) => reason === 'RBACError');
      expect(told.length).toBeGreaterThan(0);
      expect(
        told.every(({ note }) => /insufficient permissions/.test(note ?? '') && /Suggestion: /.test(note ?? '')),
      ).toBe(true);
    },
    TIMEOUT,
  );
});

describe('Recommend', () => {
  // Feature: k8s-workload-rightsizing, Property 8: in Recommend mode no workload is ever modified.
  // Feature: k8s-workload-rightsizing, Property 9: recommendations are brought up to date on each cycle.
  // Feature: k8s-workload-rightsizing, Property 10: recommendations are complete and structured.
  // Feature: k8s-workload-rightsizing, Property 18: recommendations are stored and not applied.
  // Feature: k8s-workload-rightsizing, Property 25: metrics tell of workloads, skips, durations and errors.
  test(
    'Property 8, Property 9, Property 10, Property 18, Property 25: any workload is advised, again when its use changes, and never touched',
    async () => {
      const metrics = createMetrics();
      const world = await manyWorkloads(anyWorkloads(8), { mode: 'Recommend' }, { metrics });
      await world.until('all are recommended', () => allHave(world, 'Recommended'), 5 * MINUTE);
      const first = await entries(world);
      for (const { recommendations = [] } of first) {
        expect(recommendations).toHaveLength(1);
        expect(recommendations[0]).toMatchObject({
          container: 'app',
          cpu: expect.stringMatching(/^\d+m?$/),
          memory: expect.stringMatching(/^\d+([KMG]i)?$/),
          explanation: expect.stringContaining('target: '),
        });
      }
      const text = await metrics.render();
      expect(text).toContain(`optipod_workloads_monitored{namespace="shop",policy="sizes"} ${COUNT}`);
      expect(text).toContain('optipod_workloads_updated{namespace="shop",policy="sizes"} 0');
      expect(text).toMatch(/optipod_reconciliation_duration_seconds_count\{policy="sizes"\} [1-9]/);
      expect(text).toMatch(/optipod_metrics_collection_duration_seconds_count\{provider="metrics-server"\} [1-9]/);
      expect(text).toMatch(/optipod_recommendations_total\{policy="sizes"\} \d{3}/);
      expect(text).toMatch(
        /optipod_recommended_cpu_cores\{namespace="shop",workload="w1",kind="Deployment",container="app"\} 0\.\d+/,
      );
      for (const pod of (await podsByApp(world)).values()) {
        const annotations = { 'stowage.test/cpu': '250m', 'stowage.test/memory': '300Mi' };
        await world.api.patch(
          resources.pods,
          pod.metadata?.name ?? '',
          { type: 'merge', body: { metadata: { annotations } } },
          inShop,
        );
      }
      await world.until(
        'all are advised anew',
        async () => {
          const all = await entries(world);
          return all.every(({ recommendations }) => amountOf(recommendations?.[0]?.memory) >= 300 * 2 ** 20);
        },
        10 * MINUTE,
      );
      const again = await entries(world);
      for (const entry of again) {
        const before = first.find(({ name }) => name === entry.name);
        expect(Date.parse(entry.lastRecommendation ?? '')).toBeGreaterThan(
          Date.parse(before?.lastRecommendation ?? ''),
        );
      }
      expect(workloadWrites(world)).toEqual([]);
      await world.api.delete(policyType('optipod.io'), 'sizes', inShop);
      await world.clock.advance(5_000);
      expect(await metrics.render()).not.toContain('policy="sizes"');
    },
    TIMEOUT,
  );

  // Feature: k8s-workload-rightsizing, Property 19: a disabled policy stops and keeps what was known.
  test(
    'Property 19: any workload of a policy that is disabled keeps its entry, and nothing is advised any more',
    async () => {
      const world = await manyWorkloads(anyWorkloads(19), { mode: 'Recommend' });
      await world.until('all are recommended', () => allHave(world, 'Recommended'), 5 * MINUTE);
      await world.api.patch(
        policyType('optipod.io'),
        'sizes',
        { type: 'merge', body: { spec: { mode: 'Disabled' } } },
        inShop,
      );
      await world.clock.advance(MINUTE);
      const before = await entries(world);
      expect(before).toHaveLength(COUNT);
      const events = (await sizedEvents(world)).length;
      for (const pod of (await podsByApp(world)).values()) {
        const body = { metadata: { annotations: { 'stowage.test/memory': '390Mi' } } };
        await world.api.patch(resources.pods, pod.metadata?.name ?? '', { type: 'merge', body }, inShop);
      }
      await world.clock.advance(5 * MINUTE);
      expect(await entries(world)).toEqual(before);
      expect((await sizedEvents(world)).length).toBe(events);
      expect(workloadWrites(world)).toEqual([]);
    },
    TIMEOUT,
  );
});

// Feature: k8s-workload-rightsizing, Property 29: with dry-run everything is advised, nothing applied, and the status says so.
test(
  'Property 29: any workload is advised in dry-run and none is touched',
  async () => {
    const world = await manyWorkloads(anyWorkloads(29), { mode: 'Auto' }, { rightsizing: '  dryRun: true' });
    await world.until(
      'all are advised',
      async () => {
        const all = await entries(world);
        return (
          all.length === COUNT &&
          all.every(
            ({ recommendations, reason }) => recommendations?.[0]?.cpu !== undefined && reason === 'DryRunActive',
          )
        );
      },
      5 * MINUTE,
    );
    expect(workloadWrites(world)).toEqual([]);
    const { status } = await readPolicy(world);
    expect(status?.conditions?.find(({ type }) => type === 'DryRun')?.status).toBe('True');
  },
  TIMEOUT,
);

/** Millicores, or bytes. */
function amountOf(text = ''): number {
  const [, digits = 'NaN', suffix = ''] = /^(\d+)([a-zA-Z]*)$/.exec(text) ?? [];
  const factors: Record<string, number> = { m: 1, '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, k: 1000 };
  // A bare number of a CPU is cores; of memory bytes: both are only compared with their like.
  return Number(digits) * (factors[suffix] ?? Number.NaN);
}
