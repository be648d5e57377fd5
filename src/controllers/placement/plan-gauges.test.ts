import { describe, expect, test } from 'vitest';
import { createMetrics, type Metrics } from '../../lib/metrics.ts';
import { createPlanGauges } from './plan-gauges.ts';

const NOON = Date.parse('2026-03-02T12:00:00Z');
type Told = Parameters<ReturnType<typeof createPlanGauges>['report']>[0];

const managed = (name: string, changes: Partial<Told> = {}): Told => ({
  workload: { kind: 'Deployment', namespace: 'shop', name },
  actual: { spot: 4, onDemand: 6 },
  target: { spot: 7, onDemand: 3 },
  policy: { state: 'managed', window: undefined },
  spot: { covered: 1, state: { kind: 'closed' } },
  drift: 3,
  ...changes,
});
const invalid = (name: string): Told => ({
  ...managed(name),
  target: undefined,
  policy: { state: 'invalid' },
  spot: { covered: 0, state: { kind: 'open' } },
});
/** Series of workloads, without what they have in common. */
const seriesOf = async (metrics: Metrics): Promise<readonly string[]> =>
  (await metrics.render())
    .split('\n')
    .filter((line) => line.startsWith('spotalis_') && line.includes('namespace="shop"'))
    .map((line) => line.replace('namespace="shop",', '').replace(',workload_type="deployment"', ''))
    .sort();

describe('gauges of plans', () => {
  test('tell sides, wishes and what stands in the way', async () => {
    const metrics = createMetrics();
    createPlanGauges(metrics).report(managed('web'), NOON);
    expect(await seriesOf(metrics)).toEqual([
      'spotalis_drift_replicas{workload="web"} 3',
      'spotalis_fallback_active{workload="web"} 1',
      'spotalis_invalid_configuration{workload="web"} 0',
      'spotalis_spot_closed{workload="web"} 1',
      'spotalis_window_open{workload="web"} 1',
      'spotalis_workload_replicas_desired{workload="web",replica_type="on-demand"} 3',
      'spotalis_workload_replicas_desired{workload="web",replica_type="spot"} 7',
      'spotalis_workload_replicas{workload="web",replica_type="on-demand"} 6',
      'spotalis_workload_replicas{workload="web",replica_type="spot"} 4',
    ]);
  });

  test('of invalid settings tell no wishes, not even those of before', async () => {
    const metrics = createMetrics();
    const gauges = createPlanGauges(metrics);
    gauges.report(managed('web'), NOON);
    gauges.report(invalid('web'), NOON);
    expect(await seriesOf(metrics)).toEqual([
      'spotalis_fallback_active{workload="web"} 0',
      'spotalis_invalid_configuration{workload="web"} 1',
      'spotalis_spot_closed{workload="web"} 0',
      'spotalis_workload_replicas{workload="web",replica_type="on-demand"} 6',
      'spotalis_workload_replicas{workload="web",replica_type="spot"} 4',
    ]);
  });

  test('tell whether the window was open when the workload was looked at', async () => {
    const metrics = createMetrics();
    const policy = { state: 'managed', window: { isOpen: (at: number) => at !== NOON } } as const;
    createPlanGauges(metrics).report(managed('web', { policy }), NOON);
    expect(await seriesOf(metrics)).toContain('spotalis_window_open{workload="web"} 0');
  });

  test('forget one workload and no other', async () => {
    const metrics = createMetrics();
    const gauges = createPlanGauges(metrics);
    for (const name of ['web', 'api']) gauges.report(managed(name), NOON);
    expect(gauges.forget('Deployment/shop/web')).toBe(true);
    expect(gauges.forget('Deployment/shop/web')).toBe(false);
    const series = await seriesOf(metrics);
    expect(series).toHaveLength(9);
    expect(series.every((line) => line.includes('workload="api"'))).toBe(true);
  });
});
