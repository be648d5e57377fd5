/** What of a tick is counted. */
import { expect, test } from 'vitest';
import { planNode } from '../decide/allocation/plan-node.ts';
import { testInput, testPod, testRules, using } from '../decide/allocation/testing/pods.ts';
import { countTick, reportTick } from './agent-report.ts';
import { createAgentMetrics } from './metrics-text.ts';

test('each reason as often as it was one, tick after tick', () => {
  const marks = { 'mbcas.io/max-cpu': '300m' };
  const pods = ['a', 'b'].map((name) => ({ pod: testPod(name, { request: 300, marks }), measured: using(290) }));
  const unknown = { pod: testPod('c', { request: 400 }), measured: undefined };
  const plan = planNode(testInput([...pods, unknown], { rules: { ...testRules, surplusShare: 0 } }));
  const metrics = createAgentMetrics();
  for (let tick = 0; tick < 2; tick++) countTick(metrics, { plan, measured: new Map(), writes: [] });
  const lines = metrics.render().split('\n');
  expect(lines).toContain('mbcas_clamp_total{reason="MaxCpu"} 4');
  expect(lines).toContain('mbcas_clamp_total{reason="SteadySum"} 2');
  expect(lines).toContain(`mbcas_nash_mode_total{mode="${plan.mode}"} 2`);
  const held = plan.pods.filter((pod) => pod.held !== undefined && pod.held !== 'Settled');
  expect(lines.filter((line) => line.startsWith('mbcas_agent_held_total'))).toHaveLength(
    new Set(held.map((pod) => pod.held)).size,
  );
});

test('what is not known is not told: neither as nothing, nor as it was last', () => {
  const tickOf = (measured: ReturnType<typeof using> | undefined) => {
    const plan = planNode(testInput([{ pod: testPod('a', { request: 300 }), measured }]));
    return { plan, measured: new Map(measured === undefined ? [] : [['a', measured]]), writes: [] };
  };
  const metrics = createAgentMetrics();
  const told = (tick: ReturnType<typeof tickOf>, systemUse: number | undefined): readonly string[] => {
    reportTick(metrics, tick, { nodeName: 'n1', systemUse, metricOf: () => undefined });
    return metrics.render().match(/^mbcas_(?:system_use_milli|demand_raw)\b/gm) ?? [];
  };
  expect(told(tickOf(using(290)), 120)).toHaveLength(2);
  expect(told(tickOf(undefined), undefined)).toEqual([]);
});

test('coalitions of one name in two namespaces are two, as in the bargain', () => {
  const of = (name: string, namespace: string) => {
    const pod = testPod(name, { request: 300, namespace, marks: { 'mbcas.io/coalition': 'team' } });
    return { pod, measured: using(290) };
  };
  const plan = planNode(testInput([of('a', 'shop'), of('b', 'shop'), of('c', 'blog')]));
  const metrics = createAgentMetrics();
  const tick = { plan, measured: new Map(), writes: [] };
  reportTick(metrics, tick, { nodeName: 'n1', systemUse: undefined, metricOf: () => undefined });
  expect(metrics.render().match(/^mbcas_coalition_(?:count|size).*$/gm)).toEqual([
    'mbcas_coalition_count 2',
    'mbcas_coalition_size{coalition_id="shop/team"} 2',
    'mbcas_coalition_size{coalition_id="blog/team"} 1',
  ]);
});
