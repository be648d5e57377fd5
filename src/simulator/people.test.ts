/** What others do, as scenarios say it: played on the embedded cluster with the real operator. */
import { describe, expect, test } from 'vitest';
import { startOperator } from '../wire.ts';
import { parseScenario } from './scenario/load-scenario.ts';
import { simulate } from './simulate.ts';

const run = (events: string, more = '') =>
  simulate({
    scenario: parseScenario(
      `
name: shop
duration: 30m
pools:
  - { name: on-demand, class: on-demand, type: m6i.xlarge, min: 2 }
  - { name: spot, class: spot, type: m6i.xlarge, interruptions: 0 }
workloads:
  - { name: web, namespace: shop, spot: 50, floor: 2, replicas: 8, pdb: { maxUnavailable: 1 } }
${more}
events: ${events}
`,
      'test.yaml',
    ),
    folder: '.',
    startOperator,
  });

describe('others', () => {
  test('who drain nodes cost no eviction of ours: what they evict comes back on its side', async () => {
    const { figures, violations, problems } = await run('[{ at: 5m, do: drain-nodes, pools: spot, for: 5m }]');
    expect([violations, problems]).toEqual([[], []]);
    expect(figures.admissions).toBeGreaterThan(8);
    expect(figures.evictions).toBe(0);
  });

  test('who drain nodes leave the pods there that the API server will not evict at all', async () => {
    const budget = `{ maxUnavailable: 1, selector: { matchLabels: { app: web } } }`;
    const second = `{ apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: { name: second, namespace: shop }, spec: ${budget} }`;
    const drain = '[{ at: 5m, do: drain-nodes, pools: spot, for: 5m }]';
    const { figures, problems } = await run(drain, `objects: [${second}]`);
    expect(problems).toEqual([]);
    expect(figures.admissions).toBe(8);
  });

  test('who delete pods, or a workload and make it anew, are followed exactly', async () => {
    const events = `[{ at: 5m, do: delete-pods, workload: shop/web, count: 3 }, { at: 10m, do: recreate, workload: shop/web }]`;
    const { figures, violations, problems } = await run(events);
    expect([violations, problems]).toEqual([[], []]);
    expect(figures).toMatchObject({ admissions: 8 + 3 + 8, unsteered: 0, evictions: 0 });
    // The deleted one is wanted no more when the new one is.
    expect(figures.podsPeak).toBe(8);
  });

  test('whose answers come too late: the pods are repaired, and no place is kept for who never came', async () => {
    const events = `[{ at: 5m, do: webhook-down, share: 50%, loses: answers, for: 2m }, { at: 5m10s, do: rollout, workload: shop/web }]`;
    const { figures, violations, problems } = await run(events);
    expect([violations, problems]).toEqual([[], []]);
    expect(figures.unsteered).toBeGreaterThan(0);
    expect(figures.evictions).toBeLessThanOrEqual(figures.evictionsBound);
  });

  test('who tighten a budget or end management stop every move', async () => {
    const annotate = `{ at: 10m, do: annotate, target: shop/web, annotations: { spotalis.io/spot-percentage: "0" } }`;
    const budget = `{ at: 9m, do: patch, kind: PodDisruptionBudget, object: shop/web, body: { spec: { maxUnavailable: 0 } } }`;
    const label = `{ at: 9m, do: patch, kind: Deployment, object: shop/web, body: { metadata: { labels: { spotalis.io/enabled: "false" } } } }`;
    for (const held of [budget, label]) {
      const { figures, violations, problems } = await run(`[${held}, ${annotate}]`);
      expect([violations, problems]).toEqual([[], []]);
      expect(figures.evictions).toBe(0);
    }
  });

  test('a reload reaches the replicas it is to reach, and may not change what simulations judge by', async () => {
    const reload = `{ at: 5m, do: reload-config, operator: { controllers: { workloadTiming: { cooldownPeriod: 10s } } } }`;
    const forbidden = `{ at: 6m, do: reload-config, operator: { operator: { readOnlyMode: true } } }`;
    const judged = `{ at: 7m, do: reload-config, operator: { placement: { defaults: { spotPercentage: 10 } } } }`;
    const { violations, problems } = await run(`[${reload}, ${forbidden}, ${judged}]`, 'replicas: 2\nclockSkew: 90s\n');
    expect(violations).toEqual([]);
    const told = expect.stringMatching(/^event reload-config: read-only and dry-run mode, engines/);
    expect(problems).toEqual([told, told]);
  });

  test('a kind that is not known is told', async () => {
    const { problems } = await run('[{ at: 1m, do: patch, kind: Unknown, object: shop/web, body: {} }]');
    expect(problems).toEqual(['event patch: the kind Unknown is not known here']);
  });
});
