/** What is taken away and made again, and who dies at a write: played on the embedded cluster with the real operator. */
import { describe, expect, test } from 'vitest';
import { startOperator } from '../wire.ts';
import { parseScenario } from './scenario/load-scenario.ts';
import { simulate } from './simulate.ts';

const run = (events: string, replicas = 1) =>
  simulate({
    scenario: parseScenario(
      `
name: shop
duration: 12m
replicas: ${replicas}
pools:
  - { name: on-demand, class: on-demand, type: m6i.xlarge, min: 2 }
  - { name: spot, class: spot, type: m6i.xlarge, interruptions: 0 }
workloads:
  - { name: web, namespace: shop, spot: 50, floor: 2, replicas: 6 }
events: ${events}
`,
      'test.yaml',
    ),
    folder: '.',
    startOperator,
  });

describe('upheavals', () => {
  test('a namespace that is deleted and made again is placed as if it were new', async () => {
    const { figures, violations, problems } = await run('[{ at: 5m, do: recreate-namespace, namespace: shop }]');
    expect([violations, problems]).toEqual([[], []]);
    expect(figures).toMatchObject({ admissions: 12, unsteered: 0, evictions: 0 });
  });

  test.each(['before', 'after'])(
    'a replica that is gone %s its eviction leaves no trace: each pod is moved once',
    async (moment) => {
      const events = `[{ at: 5m, do: annotate, target: shop/web, annotations: { spotalis.io/spot-percentage: "0" } }, { at: 5m, do: crash-at-write, resource: pods/eviction, moment: ${moment} }]`;
      const { figures, violations, problems } = await run(events, 2);
      expect([violations, problems]).toEqual([[], []]);
      expect(figures.evictions).toBe(3);
    },
  );

  test('a house rule that takes the affinity away does not make pods be moved without end', async () => {
    const events = `[{ at: 2m, do: meddle, how: drop-affinity, for: 10m }, { at: 5m, do: rollout, workload: shop/web }]`;
    const { violations, problems } = await run(events);
    expect([violations, problems]).toEqual([[], []]);
  });
});
