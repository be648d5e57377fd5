import { describe, expect, test } from 'vitest';
import type { MetricDefinition } from './metric-definition.ts';
import { createMetrics, metricTable } from './metrics.ts';
import { isReasonName } from './reasons.ts';
import { createNoMetrics } from './testing/no-metrics.ts';

const web = { namespace: 'shop', workload: 'web', workload_type: 'deployment' } as const;
const api = { namespace: 'shop', workload: 'api', workload_type: 'deployment' } as const;
const webRef = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const rows = Object.entries<MetricDefinition>(metricTable);
const linesOf = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'));

describe('the table', () => {
  test.each([
    ['spotalis_workload_replicas', 'gauge', ['namespace', 'workload', 'workload_type', 'replica_type']],
    ['spotalis_reconciliations_total', 'counter', ['namespace', 'workload', 'workload_type', 'action', 'result']],
    ['spotalis_reconciliation_errors_total', 'counter', ['namespace', 'workload', 'workload_type', 'error_type']],
    ['spotalis_rebalancing_blocked_by_pdb_total', 'counter', ['namespace', 'workload', 'workload_type', 'pdb_name']],
    ['spotalis_webhook_requests_total', 'counter', ['operation', 'resource_kind', 'result']],
    ['spotalis_webhook_mutations_total', 'counter', ['resource_kind', 'mutation_type']],
    ['spotalis_controller_last_seen_timestamp', 'gauge', ['controller_name']],
    ['spotalis_leader_election_status', 'gauge', ['controller_name']],
    ['spotalis_workload_replicas_desired', 'gauge', ['namespace', 'workload', 'workload_type', 'replica_type']],
    ['spotalis_reconcile_duration_seconds', 'histogram', ['workload_type']],
    ['spotalis_webhook_request_duration_seconds', 'histogram', []],
    ['spotalis_drift_replicas', 'gauge', ['namespace', 'workload', 'workload_type']],
    ['spotalis_fallback_active', 'gauge', ['namespace', 'workload', 'workload_type']],
    ['spotalis_window_open', 'gauge', ['namespace', 'workload', 'workload_type']],
    ['spotalis_evictions_total', 'counter', ['result']],
    ['spotalis_disruptions_blocked_total', 'counter', ['reason']],
    ['spotalis_admissions_unsteered_total', 'counter', ['reason']],
  ] as const)('case 76: %s is a %s with the labels %j', (name, type, labels) => {
    expect(metricTable[name]).toMatchObject({ type, labels });
  });

  test.each(rows)('%s follows the naming rules', (name, { type, help, labels, buckets, initial = [] }) => {
    expect(name).toMatch(/^(spotalis|optipod|mbcas|stowage)_[a-z_]+$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    // Names of MBCAS that are of one pod each; their series go with the pod.
    if (!name.startsWith('mbcas_pod_')) expect(labels).not.toContain('pod');
    // By which its series are found when the workload goes.
    if (labels.includes('workload')) expect(labels.some((label) => /^(?:kind|workload_type)$/.test(label))).toBe(true);
    if (buckets !== undefined) expect([...buckets]).toEqual([...buckets].sort((a, b) => a - b));
    for (const row of initial) expect(Object.keys(row).sort()).toEqual([...labels].sort());
  });

  test('how long a resize took is told apart beyond the five minutes after which one is withdrawn', () => {
    const { buckets } = metricTable.optipod_resize_duration_seconds;
    expect(buckets.filter((bound) => bound > 300).length).toBeGreaterThan(1);
  });

  test('series by reason are named after the table of reasons', () => {
    for (const name of ['spotalis_disruptions_blocked_total', 'spotalis_admissions_unsteered_total'] as const) {
      const reasons = metricTable[name].initial.map((row) => row['reason'] ?? '');
      expect(reasons.length).toBeGreaterThan(5);
      for (const reason of reasons) expect(isReasonName(reason)).toBe(true);
    }
  });
});

describe('a scrape', () => {
  test('case 76: parses, has every name, no NaN, and no row with empty labels', async () => {
    const text = await createMetrics().render();
    for (const [name, { type }] of rows) expect(text).toContain(`# TYPE ${name} ${type}`);
    for (const line of text.split('\n').filter((candidate) => candidate !== '')) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]+",?)+\})? -?[\d.e+-]+)$/);
    }
    expect(text).not.toContain('NaN');
    expect(text).not.toMatch(/=""/);
  });

  test('known series start at zero, series of workloads when they are first set', async () => {
    const text = await createMetrics().render();
    expect(text).toContain('spotalis_evictions_total{result="evicted"} 0');
    expect(text).toContain('spotalis_leader_election_status{controller_name="spotalis-controller"} 0');
    expect(text).toContain('spotalis_webhook_request_duration_seconds_count 0');
    expect(linesOf(text, 'spotalis_workload_replicas')).toEqual([]);
  });

  test('counts, sets and observes', async () => {
    const metrics = createMetrics();
    metrics.inc('spotalis_evictions_total', { result: 'evicted' });
    metrics.inc('spotalis_evictions_total', { result: 'evicted' }, 2);
    metrics.set('spotalis_workload_replicas', { ...web, replica_type: 'spot' }, 7);
    metrics.observe('spotalis_webhook_request_duration_seconds', {}, 0.004);
    const text = await metrics.render();
    expect(text).toContain('spotalis_evictions_total{result="evicted"} 3');
    expect(text).toContain(
      'spotalis_workload_replicas{namespace="shop",workload="web",workload_type="deployment",replica_type="spot"} 7',
    );
    expect(text).toContain('spotalis_webhook_request_duration_seconds_bucket{le="0.005"} 1');
    expect(text).toContain('spotalis_webhook_request_duration_seconds_bucket{le="0.0025"} 0');
  });

  test('collectors run before each scrape', async () => {
    const metrics = createMetrics();
    let scrapes = 0;
    metrics.onRender(() => metrics.set('stowage_workqueue_depth', { queue: 'placement' }, ++scrapes));
    await metrics.render();
    expect(await metrics.render()).toContain('stowage_workqueue_depth{queue="placement"} 2');
  });

  test('the pieces of a scrape are its text', async () => {
    const metrics = createMetrics();
    metrics.set('spotalis_drift_replicas', web, 3);
    let text = '';
    for await (const piece of metrics.pieces()) text += piece;
    expect(text).toBe(await metrics.render());
    expect(text.endsWith('\n')).toBe(true);
  });

  test('a collector that fails fails the scrape before anything is sent', () => {
    const metrics = createMetrics();
    metrics.onRender(() => {
      throw new Error('no');
    });
    expect(() => metrics.pieces()).toThrow('no');
  });

  test('series that are read are those of the moment, in pieces of a bounded size', async () => {
    const metrics = createMetrics();
    let pods = 2000;
    metrics.onRead('mbcas_pod_cpu_usage_millicores', function* () {
      for (let pod = 0; pod < pods; pod++) yield [{ namespace: 'shop', pod: `web-${pod}` }, pod];
    });
    const lengths: number[] = [];
    for await (const { length } of metrics.pieces()) lengths.push(length);
    expect(Math.max(...lengths)).toBeLessThan(5000);
    pods = 1;
    const text = await metrics.render();
    expect(text).toMatch(/\n\n# HELP mbcas_pod_cpu_usage_millicores .+\n# TYPE mbcas_pod_cpu_usage_millicores gauge\n/);
    expect(linesOf(text, 'mbcas_pod_cpu_usage_millicores')).toEqual([
      'mbcas_pod_cpu_usage_millicores{namespace="shop",pod="web-0"} 0',
    ]);
  });

  test('a value that is no number is left out', async () => {
    const metrics = createMetrics();
    metrics.set('spotalis_drift_replicas', web, Number.NaN);
    metrics.observe('spotalis_webhook_request_duration_seconds', {}, Number.NaN);
    const text = await metrics.render();
    expect(text).not.toContain('NaN');
    expect(linesOf(text, 'spotalis_drift_replicas')).toEqual([]);
  });

  test('process metrics come only when asked for', async () => {
    expect(await createMetrics().render()).not.toContain('process_resident_memory_bytes');
    const text = await createMetrics({ processMetrics: true }).render();
    expect(text).toContain('process_resident_memory_bytes');
    // Not sampled yet they would be NaN.
    expect(text).not.toContain('nodejs_eventloop_lag_');
  });

  test('a gauge that is cleared loses all its series, and no other gauge does', async () => {
    const metrics = createMetrics();
    for (const resource of ['pods', 'nodes']) metrics.set('stowage_informer_objects', { resource }, 3);
    metrics.set('stowage_informer_age_seconds', { resource: 'pods' }, 4);
    metrics.clear('stowage_informer_objects');
    metrics.set('stowage_informer_objects', { resource: 'nodes' }, 5);
    const rows = (await metrics.render()).split('\n').filter((row) => /^stowage_informer_\w+\{/.test(row));
    expect(rows).toEqual([
      'stowage_informer_objects{resource="nodes"} 5',
      'stowage_informer_age_seconds{resource="pods"} 4',
    ]);
  });
});

describe('removing a workload', () => {
  test('drops all its series and no others', async () => {
    const metrics = createMetrics();
    for (const labels of [web, api]) {
      metrics.set('spotalis_workload_replicas', { ...labels, replica_type: 'spot' }, 1);
      metrics.set('spotalis_workload_replicas', { ...labels, replica_type: 'on-demand' }, 1);
      metrics.set('spotalis_window_open', labels, 1);
      metrics.inc('spotalis_reconciliations_total', { ...labels, action: 'rebalance', result: 'success' });
    }
    metrics.removeWorkload(webRef);
    const text = await metrics.render();
    expect(text).not.toContain('workload="web"');
    expect(text.match(/workload="api"/g)).toHaveLength(4);
  });

  test('of two kinds and one name the other keeps its own, in the words of either engine', async () => {
    const metrics = createMetrics();
    const size = { namespace: 'shop', workload: 'web', container: 'app' };
    for (const kind of ['Deployment', 'StatefulSet']) {
      metrics.set('spotalis_window_open', { ...web, workload_type: kind.toLowerCase() }, 1);
      metrics.set('optipod_recommended_cpu_cores', { ...size, kind }, 1);
    }
    metrics.removeWorkload(webRef);
    const left = linesOf(await metrics.render(), 'spotalis_window_open');
    expect(left.map((line) => /workload_type="(\w+)"/.exec(line)?.[1])).toEqual(['statefulset']);
    const sized = linesOf(await metrics.render(), 'optipod_recommended_cpu_cores');
    expect(sized.map((line) => /kind="(\w+)"/.exec(line)?.[1])).toEqual(['StatefulSet']);
  });

  test('of one engine leaves those of the others', async () => {
    const metrics = createMetrics();
    const size = { namespace: 'shop', workload: 'web', kind: 'Deployment', container: 'app' };
    metrics.set('spotalis_window_open', web, 1);
    metrics.set('optipod_recommended_cpu_cores', size, 1);
    metrics.removeWorkload(webRef, 'placement');
    expect(linesOf(await metrics.render(), 'spotalis_window_open')).toEqual([]);
    expect(linesOf(await metrics.render(), 'optipod_recommended_cpu_cores')).toHaveLength(1);
    metrics.set('spotalis_window_open', web, 1);
    metrics.removeWorkload(webRef);
    expect(linesOf(await metrics.render(), 'spotalis_window_open')).toEqual([]);
    expect(linesOf(await metrics.render(), 'optipod_recommended_cpu_cores')).toEqual([]);
  });

  test('drops those of which the label kind says something else', async () => {
    const metrics = createMetrics();
    metrics.set('stowage_workload_cost_dollars_per_hour', { ...web, kind: 'actual' }, 1);
    metrics.removeWorkload(webRef);
    expect(linesOf(await metrics.render(), 'stowage_workload_cost_dollars_per_hour')).toEqual([]);
  });

  test('its series come back when it does, from zero', async () => {
    const metrics = createMetrics();
    const labels = { ...web, action: 'rebalance', result: 'success' };
    metrics.inc('spotalis_reconciliations_total', labels, 5);
    metrics.removeWorkload(webRef);
    metrics.inc('spotalis_reconciliations_total', labels);
    expect(linesOf(await metrics.render(), 'spotalis_reconciliations_total')[0]).toMatch(/ 1$/);
    metrics.removeWorkload(webRef);
    expect(linesOf(await metrics.render(), 'spotalis_reconciliations_total')).toEqual([]);
  });

  test('series that name its policy as well go with it, or with the policy', async () => {
    const metrics = createMetrics();
    const patched = (workload: string, policy: string): void =>
      metrics.inc('optipod_ssa_patch_total', {
        policy,
        namespace: 'shop',
        workload,
        kind: 'Deployment',
        status: 'success',
        patch_type: 'ServerSideApply',
      });
    for (const workload of ['web', 'api']) for (const policy of ['day', 'night']) patched(workload, policy);
    metrics.removeWorkload(webRef);
    const left = linesOf(await metrics.render(), 'optipod_ssa_patch_total');
    expect(left.map((line) => /policy="(\w+)".*workload="(\w+)"/.exec(line)?.slice(1))).toEqual([
      ['day', 'api'],
      ['night', 'api'],
    ]);
    metrics.removePolicy('night');
    patched('api', 'night');
    patched('web', 'day');
    const again = linesOf(await metrics.render(), 'optipod_ssa_patch_total');
    expect(again).toHaveLength(3);
    expect(again.every((line) => line.endsWith(' 1'))).toBe(true);
    metrics.removePolicy('day');
    expect(linesOf(await metrics.render(), 'optipod_ssa_patch_total')).toHaveLength(1);
    metrics.removeWorkload({ ...webRef, name: 'api' });
    expect(linesOf(await metrics.render(), 'optipod_ssa_patch_total')).toEqual([]);
  });

  test('an unknown workload is no error, and names do not run together', async () => {
    const metrics = createMetrics();
    metrics.set('spotalis_window_open', { ...web, namespace: 'a', workload: 'b' }, 1);
    metrics.removeWorkload({ ...webRef, namespace: 'a', name: 'c' });
    metrics.removeWorkload({ ...webRef, namespace: '', name: 'a/b' });
    expect(linesOf(await metrics.render(), 'spotalis_window_open')).toHaveLength(1);
  });
});

test('two registries share nothing', async () => {
  const first = createMetrics();
  const second = createMetrics();
  first.inc('spotalis_fallbacks_total', {});
  expect(await first.render()).toContain('spotalis_fallbacks_total 1');
  expect(await second.render()).toContain('spotalis_fallbacks_total 0');
});

test('an unknown metric, a wrong kind and a missing label do not compile', () => {
  const metrics = createNoMetrics();
  // @ts-expect-error there is no such metric
  metrics.inc('spotalis_unknown_total', {});
  // @ts-expect-error a gauge cannot be counted up
  metrics.inc('spotalis_drift_replicas', web);
  // @ts-expect-error the label reason is missing
  metrics.inc('spotalis_disruptions_blocked_total', {});
  expect(metrics.contentType).toContain('text/plain');
});
