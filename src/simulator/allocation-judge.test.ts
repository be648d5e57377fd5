/** An operator that gives back what dead agents had asked for, and one that is kept from it. */
import { expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import { startOperator } from '../wire.ts';
import { parseScenario } from './scenario/load-scenario.ts';
import { simulate } from './simulate.ts';

const shop = `
name: shop
duration: 11m
pools: [{ name: on-demand, class: on-demand, type: m6i.xlarge, min: 1, max: 1 }]
workloads:
  - { name: idle, namespace: shop, enabled: false, replicas: 2, cpu: "1", use: { cpu: 50m }, podLabels: { mbcas.io/managed: "true" } }
  - { name: busy, namespace: shop, enabled: false, replicas: 1, cpu: 200m, use: { cpu: "2" }, podLabels: { mbcas.io/managed: "true" } }
operator: { engines: { allocation: true }, allocation: { staleAfter: 10s } }
events: [{ at: 5m, do: kill-agents, after: 1h }]
`;

/** @param untilMillis from then on no pod can be resized. */
async function returned(untilMillis: number) {
  const scenario = parseScenario(shop, 'test.yaml');
  const { violations, problems, checks, figures } = await simulate({
    scenario,
    folder: '.',
    async startOperator(options) {
      const endsAt = options.clock.now() + untilMillis;
      return await startOperator({
        ...options,
        api: {
          ...options.api,
          async patch(type, name, patch, how) {
            if (how?.subresource === 'resize' && options.clock.now() > endsAt)
              throw new KubeError(403, undefined, 'forbidden');
            return await options.api.patch(type, name, patch, how);
          },
        },
      });
    },
  });
  expect(problems).toEqual([]);
  expect(figures.resizes).toBeGreaterThan(0);
  return { broken: [...new Set(violations.map(({ invariant }) => invariant))], judged: checks.returned };
}

test('what was given up is had again once the agent is gone', async () => {
  expect((await returned(Number.POSITIVE_INFINITY)).broken).toEqual([]);
});

test('that it is not is seen', async () => {
  const { broken, judged } = await returned(5 * 60_000);
  expect(judged).toBeGreaterThan(0);
  expect(broken).toEqual(['returned']);
});
