import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentMetrics } from '../lib/metrics-agent.ts';
import { type AgentMetrics, createAgentMetrics } from './metrics-text.ts';

const lines = (metrics: AgentMetrics, name: string): string[] =>
  metrics
    .render()
    .split('\n')
    .filter((line) => line.startsWith(name));

describe('the text', () => {
  test('has help and type of every metric, also of those without a series', () => {
    const text = createAgentMetrics().render();
    for (const [name, { type }] of Object.entries(agentMetrics)) {
      expect(text).toContain(`# HELP ${name} `);
      expect(text).toContain(`# TYPE ${name} ${type}\n`);
    }
    expect(text.endsWith('\n')).toBe(true);
  });

  test('counters with known labels start at zero, and count', () => {
    const metrics = createAgentMetrics();
    metrics.inc('mbcas_nash_mode_total', { mode: 'congested' });
    metrics.inc('mbcas_nash_mode_total', { mode: 'congested' }, 2);
    expect(lines(metrics, 'mbcas_nash_mode_total')).toEqual([
      'mbcas_nash_mode_total{mode="uncongested"} 0',
      'mbcas_nash_mode_total{mode="congested"} 3',
      'mbcas_nash_mode_total{mode="overloaded"} 0',
    ]);
  });

  test('histograms are cumulative and end at +Inf', () => {
    const metrics = createAgentMetrics();
    for (const value of [0.05, 0.7, 400]) metrics.observe('mbcas_allocation_latency_seconds', {}, value);
    expect(lines(metrics, 'mbcas_allocation_latency_seconds')).toEqual([
      'mbcas_allocation_latency_seconds_bucket{le="0.1"} 1',
      'mbcas_allocation_latency_seconds_bucket{le="0.5"} 1',
      'mbcas_allocation_latency_seconds_bucket{le="1"} 2',
      'mbcas_allocation_latency_seconds_bucket{le="2"} 2',
      'mbcas_allocation_latency_seconds_bucket{le="5"} 2',
      'mbcas_allocation_latency_seconds_bucket{le="10"} 2',
      'mbcas_allocation_latency_seconds_bucket{le="30"} 2',
      'mbcas_allocation_latency_seconds_bucket{le="+Inf"} 3',
      'mbcas_allocation_latency_seconds_sum 400.75',
      'mbcas_allocation_latency_seconds_count 3',
    ]);
  });

  test('a labelled histogram keeps its label beside the bound', () => {
    const metrics = createAgentMetrics();
    metrics.observe('mbcas_agent_step_duration_seconds', { loop: 'plan' }, 2);
    expect(lines(metrics, 'mbcas_agent_step_duration_seconds').slice(-3)).toEqual([
      'mbcas_agent_step_duration_seconds_bucket{loop="plan",le="+Inf"} 1',
      'mbcas_agent_step_duration_seconds_sum{loop="plan"} 2',
      'mbcas_agent_step_duration_seconds_count{loop="plan"} 1',
    ]);
  });

  test('infinity has its own words, and what is no number is left out', () => {
    const metrics = createAgentMetrics();
    metrics.set('mbcas_nash_product_log', {}, Number.NEGATIVE_INFINITY);
    metrics.set('mbcas_jain_index', {}, Number.NaN);
    expect(lines(metrics, 'mbcas_nash_product_log')).toEqual(['mbcas_nash_product_log -Inf']);
    expect(lines(metrics, 'mbcas_jain_index')).toEqual([]);
  });

  test('values set while it is rendered are in it', () => {
    const metrics = createAgentMetrics();
    metrics.onRender(() => metrics.set('process_resident_memory_bytes', {}, 5));
    expect(lines(metrics, 'process_resident_memory_bytes')).toEqual(['process_resident_memory_bytes 5']);
  });

  test('any label value stays on its line and can be read back', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const metrics = createAgentMetrics();
        metrics.set('mbcas_coalition_size', { coalition_id: value }, 1);
        const found = lines(metrics, 'mbcas_coalition_size');
        expect(found).toHaveLength(1);
        const quoted = /^mbcas_coalition_size\{coalition_id="(.*)"\} 1$/s.exec(found[0] ?? '')?.[1] ?? '';
        const read = quoted.replaceAll(/\\(.)/g, (_all, escaped: string) => (escaped === 'n' ? '\n' : escaped));
        expect(read).toBe(value);
      }),
    );
  });
});

describe('series', () => {
  test('of a pod that is gone are dropped, those of others stay', () => {
    const metrics = createAgentMetrics();
    for (const pod of ['a', 'a-1']) {
      metrics.set('mbcas_pod_usage_milli', { namespace: 'n', pod }, 1);
      metrics.inc('mbcas_allocation_changes_total', { namespace: 'n', pod, direction: 'up' });
    }
    metrics.removePod('n', 'a');
    expect(lines(metrics, 'mbcas_pod_usage_milli')).toEqual(['mbcas_pod_usage_milli{namespace="n",pod="a-1"} 1']);
    expect(lines(metrics, 'mbcas_allocation_changes_total')).toHaveLength(1);
  });

  test('of a gauge that is cleared are gone', () => {
    const metrics = createAgentMetrics();
    metrics.set('mbcas_coalition_size', { coalition_id: 'x' }, 2);
    metrics.clear('mbcas_coalition_size');
    expect(lines(metrics, 'mbcas_coalition_size')).toEqual([]);
  });
});

/** Names kept for dashboards that never have a value here; their help says so. */
const empty = ['mbcas_qlearning_reward', 'mbcas_qtable_evictions_total'];
const code = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(import.meta.dirname, path), 'utf8'))
  .join('\n');

test.each(Object.keys(agentMetrics).filter((name) => !empty.includes(name)))('%s has a writer', (name) => {
  expect(code.includes(`'${name}'`)).toBe(true);
});
