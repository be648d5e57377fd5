/** Alert rules and dashboards: what they name exists, each alert fires when it should and only then, and promtool agrees. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { MetricDefinition } from '../../src/lib/metric-definition.ts';
import { metricTable } from '../../src/lib/metrics.ts';
import { agentMetrics } from '../../src/lib/metrics-agent.ts';
import { anchorsOf } from '../docs/pages.ts';
import { ensurePrometheus } from '../prometheus/find-prometheus.ts';
import { findHelm, render, root } from './render.ts';

const files = join(root, 'charts/stowage/files');
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
interface AlertTest {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}
const alertsText = readFileSync(join(files, 'alerts.yaml'), 'utf8');
const groups: readonly { readonly rules: readonly Rule[] }[] = parse(alertsText).groups;
const rules = groups.flatMap((group) => group.rules);
const testsText = readFileSync(join(import.meta.dirname, 'alerts.promtool.yaml'), 'utf8');
const tests: readonly { readonly alert_rule_test: readonly AlertTest[] }[] = parse(testsText).tests;

interface Dashboard {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly {
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}
const dashboards = readdirSync(join(files, 'dashboards')).map((name): [string, Dashboard] => [
  name,
  JSON.parse(readFileSync(join(files, 'dashboards', name), 'utf8')),
]);
const queriesOf = ({ panels, templating }: Dashboard): string[] => [
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...templating.list.map(({ query }) => query).filter((query) => query.startsWith('label_values')),
];

/** As API servers tell them (k8s.io/apiserver, pkg/admission/metrics): seen in test/cluster/install-life.test.ts. */
const apiServerMetrics: Readonly<Record<string, Pick<MetricDefinition, 'labels'>>> = {
  apiserver_admission_webhook_rejection_count: {
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  },
  apiserver_admission_webhook_fail_open_count: { labels: ['name', 'type'] },
};
/** As kubelets tell them (kubernetes pkg/kubelet/metrics/metrics.go). */
const kubeletMetrics: Readonly<Record<string, Pick<MetricDefinition, 'labels'>>> = {
  kubelet_pod_pending_resizes: { labels: ['reason'] },
};
const table: Readonly<Record<string, Pick<MetricDefinition, 'labels'>>> = {
  ...metricTable,
  ...agentMetrics,
  ...apiServerMetrics,
  ...kubeletMetrics,
};
/** What the scraper adds. */
const targetLabels = ['job', 'instance', 'pod', 'namespace', 'cluster', 'le'];

/** Metrics that a query names, each with the labels it is asked for. */
function selectorsIn(query: string): { name: string; labels: string[] }[] {
  return [
    ...query.matchAll(/\b((?:spotalis|stowage|optipod|mbcas|process|apiserver|kubelet)_\w+)(?:\{([^}]*)\})?/g),
  ].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
  }));
}

/** What is wrong with the names of a query. */
function problemsOf(query: string): string[] {
  const selectors = selectorsIn(query);
  const definitionOf = (name: string): (typeof table)[string] | undefined =>
    table[name] ?? table[name.replace(/_(?:bucket|sum|count)$/, '')];
  const unknown = selectors.filter(({ name }) => definitionOf(name) === undefined).map(({ name }) => `no ${name}`);
  const known = [...targetLabels, ...selectors.flatMap(({ name }) => definitionOf(name)?.labels ?? [])];
  const asked = [
    ...selectors.flatMap(({ name, labels }) => labels.map((label) => [name, label] as const)),
    ...[...query.matchAll(/\b(?:by|without|on) ?\(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(',').map((label) => ['by', label.trim()] as const),
    ),
  ];
  const wrong = asked
    .filter(([, label]) => !known.includes(label))
    .map(([name, label]) => `${name}: no label ${label}`);
  return [...(selectors.length === 0 ? ['names no metric'] : []), ...unknown, ...wrong];
}

/** Path of promtool, which comes with Prometheus. */
const promtoolPath = await ensurePrometheus().then(
  (path) => join(dirname(path), 'promtool'),
  (error: unknown) => {
    console.log(`tests with promtool are left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  },
);

function promtool(args: readonly string[], file: string, content: string, also: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-promtool-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ ...also, [file]: content })) writeFileSync(join(folder, name), text);
  const { status, stdout, stderr } = spawnSync(promtoolPath ?? '', [...args, file], { cwd: folder, encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

describe('alerts', () => {
  test.each(rules.map((rule): [string, Rule] => [rule.alert, rule]))('%s names what exists', (_name, { expr }) => {
    expect(problemsOf(expr)).toEqual([]);
  });

  test('each says how bad it is, what is wrong and what to do', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
      expect(Object.keys(annotations).sort(), alert).toEqual(['action', 'runbook', 'summary']);
    }
  });

  test('each names the part of the documentation that helps', () => {
    for (const { alert, annotations } of rules) {
      const [path = '', anchor = ''] = (annotations['runbook'] ?? '').split('#');
      expect([...anchorsOf(readFileSync(join(root, path), 'utf8'))], alert).toContain(anchor);
    }
  });

  test('each is told to fire by one series and not to fire by another', () => {
    const cases = tests.flatMap((each) => each.alert_rule_test);
    for (const { alert } of rules) {
      const own = cases.filter(({ alertname }) => alertname === alert);
      expect(
        own.some(({ exp_alerts: expected }) => expected.length > 0),
        `${alert} fires`,
      ).toBe(true);
      expect(
        own.some(({ exp_alerts: expected }) => expected.length === 0),
        `${alert} does not`,
      ).toBe(true);
    }
  });

  test.skipIf(promtoolPath === undefined)('promtool finds that they do', () => {
    const { status, text } = promtool(['test', 'rules'], 'tests.yaml', testsText, { 'alerts.yaml': alertsText });
    expect({ status, text }).toEqual({ status: 0, text: expect.stringContaining('SUCCESS') });
  });

  test.skipIf(promtoolPath === undefined)('promtool notices an alert that does not fire when it should', () => {
    const later = alertsText.replace('for: 5m', 'for: 50m');
    // One case is enough to notice; all of them take their time.
    const { tests: cases, ...head } = parse(testsText);
    const one = cases.filter(({ name }: { readonly name: string }) => name === 'nothing is scraped');
    const content = JSON.stringify({ ...head, tests: one });
    expect(promtool(['test', 'rules'], 'tests.yaml', content, { 'alerts.yaml': alertsText }).status).toBe(0);
    const { status } = promtool(['test', 'rules'], 'tests.yaml', content, { 'alerts.yaml': later });
    expect(status).toBe(1);
  });
});

describe.each(dashboards)('dashboard %s', (name, dashboard) => {
  test('every query names metrics and labels that exist', () => {
    const problems = queriesOf(dashboard).flatMap((query) =>
      problemsOf(query).map((problem) => `${query}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  test('no query picks a target by the name of its job, which follows from how it was installed', () => {
    expect(queriesOf(dashboard).filter((query) => /\bjob ?[=!]/.test(query))).toEqual([]);
  });

  test.skipIf(promtoolPath === undefined)('every query is PromQL', () => {
    const named = dashboard.panels.flatMap(({ targets }) => targets);
    const queries = named.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replace(/\$\w+/g, 'x'));
    const recorded = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    const content = JSON.stringify({ groups: [{ name, rules: recorded }] });
    const { status, text } = promtool(['check', 'rules'], 'rules.yaml', content);
    expect({ status, text }).toEqual({ status: 0, text: expect.stringContaining(`${recorded.length} rules found`) });
  });

  test('is laid out without overlaps, in 24 columns, and its variables are declared', () => {
    const cells = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x} ${y}`), title).toBe(false);
          cells.add(`${x} ${y}`);
        }
    }
    const declared = dashboard.templating.list.map((variable) => variable.name);
    const used = queriesOf(dashboard).flatMap((query) => [...query.matchAll(/\$(\w+)/g)].map(([, word]) => word));
    expect(used.filter((word) => word !== '__rate_interval' && !declared.includes(word ?? ''))).toEqual([]);
    expect(dashboard.uid).toBe(`stowage-${name.replace('.json', '')}`);
  });
});

test('a name that does not exist is noticed', () => {
  expect(problemsOf('sum by (pods) (spotalis_wishes{pod="x"})')).toEqual(['no spotalis_wishes', 'by: no label pods']);
  expect(problemsOf('spotalis_evictions_total{why="x"}')).toEqual(['spotalis_evictions_total: no label why']);
  expect(problemsOf('1 + 1')).toEqual(['names no metric']);
});

const { programs, missing } = await findHelm();
describe.skipIf(missing !== undefined)('the chart', () => {
  const objects = missing === undefined ? render(programs, { values: ['charts/stowage/ci/monitoring.yaml'] }) : [];

  test('carries the rules as they are', () => {
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule');
    expect(rule?.['spec']).toEqual(parse(alertsText));
  });

  test('carries the dashboards as they are, found by the label of the sidecar', () => {
    const maps = objects.filter(({ metadata }) => metadata?.labels?.['grafana_dashboard'] === '1');
    expect(maps).toHaveLength(dashboards.length);
    for (const { data } of maps) {
      for (const [name, text] of Object.entries(data as Record<string, string>))
        expect(JSON.parse(text)).toEqual(new Map(dashboards).get(name));
    }
  });
});
