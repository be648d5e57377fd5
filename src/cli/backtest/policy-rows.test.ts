import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

interface Row {
  readonly strategy: string;
  readonly description: string;
  readonly pooled: { readonly slack: number; readonly underProvisioned: number; readonly changesPerDay: number };
}

interface Fields {
  readonly name?: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly metrics?: string;
  readonly updates?: string;
  readonly more?: string;
  readonly cpu?: string;
}

function policy({
  name = 'web',
  namespace,
  group = 'optipod.io',
  metrics = '',
  updates,
  more = '',
  cpu,
}: Fields): string {
  return `
apiVersion: ${group}/v1alpha1
kind: OptimizationPolicy
metadata: { name: ${name}${namespace === undefined ? '' : `, namespace: ${namespace}`} }
spec:
  mode: Auto
  selector: { workloadSelector: { matchLabels: { app: web } } }
  metricsConfig: { provider: prometheus, ${metrics} }
  resourceBounds: { cpu: ${cpu ?? '{ min: 10m, max: "4" }'}, memory: { min: 16Mi, max: 8Gi } }
  updateStrategy: { ${updates ?? ''} }
  ${more}
`;
}

describe('backtest --policy', () => {
  let folder: string;
  let recordings: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-backtest-'));
    recordings = join(folder, 'recordings');
    mkdirSync(recordings);
    // Three and a half days of a daily wave between 5 and 25 percent of four cores: 200 to 1000 millicores.
    const lines = Array.from({ length: 1000 }, (_, index) => {
      const percent = 15 + 10 * Math.sin((2 * Math.PI * index) / 288);
      return `${new Date(index * 300_000).toISOString()},${percent}`;
    });
    writeFileSync(join(recordings, 'wave.csv'), lines.join('\n'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function file(name: string, ...documents: readonly string[]): string {
    const path = join(folder, name);
    writeFileSync(path, documents.join('---\n'));
    return path;
  }

  async function rowsOf(...args: readonly string[]): Promise<{ rows: Row[]; problems: string[]; stderr: string }> {
    const { code, stdout, stderr } = await runCommand(['backtest', '--data', recordings, '-o', 'json', ...args]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const document = JSON.parse(stdout);
    return { rows: document.cpu[0].strategies, problems: document.problems, stderr };
  }
  const figuresOf = (rows: readonly Row[], name: string): Row['pooled'] => {
    const row = rows.find(({ strategy }) => strategy === name);
    if (row === undefined) throw new Error(`no row ${name} in ${rows.map(({ strategy }) => strategy).join(', ')}`);
    return row.pooled;
  };

  test('is a row of its own between our strategy and the others', async () => {
    const path = file('one.yaml', policy({ metrics: 'safetyFactor: 1.3, percentile: P95, rollingWindow: 2d' }));
    const { rows } = await rowsOf('--policy', path);
    expect(rows.map(({ strategy }) => strategy)).toEqual([
      'stowage',
      'policy web',
      'vpa-like',
      'optipod',
      'krr-like',
      'max',
    ]);
    expect(rows[1]?.description).toMatch(/^P95 of 48h, x 1\.3$/);
    const { stdout } = await runCommand(['backtest', '--data', recordings, '--policy', path]);
    expect(stdout).toMatch(/^policy web +\d+\.\d % .* P95 of 48h, x 1\.3$/m);
  });

  test.each<[string, Fields, Fields]>([
    ['a safety factor', { metrics: 'safetyFactor: 1' }, { metrics: 'safetyFactor: 2' }],
    ['a percentile', { metrics: 'percentile: P50' }, { metrics: 'percentile: P99' }],
    ['a bound', { cpu: '{ min: 10m, max: 300m }' }, { cpu: '{ min: "3", max: "4" }' }],
  ])('%s that asks for more leaves more idle and less uncovered', async (_name, less, more) => {
    const path = file(
      'pair.yaml',
      policy({ ...less, name: 'less' }),
      policy({ ...more, name: 'more', group: 'optipod.optipod.io' }),
    );
    const { rows } = await rowsOf('--policy', path);
    const [low, high] = [figuresOf(rows, 'policy less'), figuresOf(rows, 'policy more')];
    expect(high.slack).toBeGreaterThan(low.slack);
    expect(high.underProvisioned).toBeLessThan(low.underProvisioned);
  });

  test('every strategy is replayed, and told by what it goes by', async () => {
    const strategies = ['Percentile', 'Histogram', 'Max', 'CostAware'];
    const path = file(
      'all.yaml',
      ...strategies.map((strategy) => policy({ name: strategy.toLowerCase(), metrics: `strategy: ${strategy}` })),
    );
    const { rows } = await rowsOf('--policy', path);
    expect(rows.slice(1, 5).map(({ description }) => description)).toEqual([
      'P90 of 24h, x 1.2',
      expect.stringMatching(/^P90 of a histogram with a half-life of /),
      'highest of 24h, x 1.2',
      expect.stringMatching(/^least expected cost, /),
    ]);
    for (const { pooled } of rows.slice(1, 5)) expect(pooled.slack).toBeGreaterThan(0);
  });

  test('its own cooldown counts, longer and shorter than the hour of the others', async () => {
    const quick = { metrics: 'rollingWindow: 1h, safetyFactor: 1', more: 'reconciliationInterval: 5m' };
    const path = file(
      'cooldown.yaml',
      policy({ ...quick, name: 'quick', updates: 'cooldown: 5m, minChange: 1%' }),
      policy({ ...quick, name: 'hourly', updates: 'cooldown: 1h, minChange: 1%' }),
      policy({ ...quick, name: 'slow', updates: 'cooldown: 12h, minChange: 1%' }),
    );
    const { rows } = await rowsOf('--policy', path);
    expect(figuresOf(rows, 'policy quick').changesPerDay).toBeGreaterThan(24);
    expect(figuresOf(rows, 'policy hourly').changesPerDay).toBeLessThanOrEqual(24);
    expect(figuresOf(rows, 'policy slow').changesPerDay).toBeLessThanOrEqual(2);
  });

  test('changes within its windows only', async () => {
    const quick = { metrics: 'rollingWindow: 1h, safetyFactor: 1', more: 'reconciliationInterval: 5m' };
    const path = file(
      'window.yaml',
      policy({ ...quick, updates: 'cooldown: 5m, minChange: 1%, schedule: [{ cron: 0 2 * * *, duration: 10m }]' }),
    );
    const { rows, problems } = await rowsOf('--policy', path);
    const { changesPerDay } = figuresOf(rows, 'policy web');
    expect(changesPerDay).toBeGreaterThan(0);
    expect(changesPerDay).toBeLessThanOrEqual(3);
    expect(problems.join()).not.toContain('schedule');
  });

  test('what a replay cannot mean is told in one line, by its fields', async () => {
    const path = file('parts.yaml', policy({ updates: 'allowRecreate: true, cooldown: 2h', more: 'hpa: Ignore' }));
    const { problems, stderr } = await rowsOf('--policy', path);
    const line = `${path}: OptimizationPolicy web: a replay of usage has no use for mode, selector, hpa, metricsConfig.provider, updateStrategy.allowRecreate`;
    expect(problems).toEqual([line]);
    expect(stderr).toBe(`note: ${line}\n`);
  });

  test('names that are not alone are told with what tells them apart', async () => {
    const first = file(
      'first.yaml',
      policy({ namespace: 'shop' }),
      policy({ namespace: 'bank' }),
      policy({ namespace: 'shop', group: 'optipod.optipod.io' }),
    );
    const { rows } = await rowsOf('--policy', first, '--policy', file('alone.yaml', policy({ name: 'api' })));
    expect(rows.slice(1, 5).map(({ strategy }) => strategy)).toEqual([
      'policy optipod.io/shop/web',
      'policy bank/web',
      'policy optipod.optipod.io/shop/web',
      'policy api',
    ]);
  });

  test('the same file twice is two rows of different names', async () => {
    const path = file('twice.yaml', policy({}));
    const { rows } = await rowsOf('--policy', path, '--policy', path);
    expect(new Set(rows.map(({ strategy }) => strategy)).size).toBe(rows.length);
    expect(rows).toHaveLength(7);
  });

  test('what cannot be used is left out with its file and field, and the rest is replayed', async () => {
    const path = file(
      'mixed.yaml',
      policy({}),
      policy({ name: 'bad', metrics: 'safetyFactor: 0.5' }),
      policy({ name: 'new' }).replace('v1alpha1', 'v2'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other }\n',
    );
    const { rows, problems } = await rowsOf('--policy', path);
    expect(rows).toHaveLength(6);
    // What others are made of comes first, as when they are applied.
    expect(problems).toEqual([
      expect.stringMatching(/mixed\.yaml: ConfigMap other is left out: it is no OptimizationPolicy$/),
      expect.stringMatching(/OptimizationPolicy web: a replay of usage has no use for/),
      expect.stringMatching(/mixed\.yaml: OptimizationPolicy bad is left out: spec\.metricsConfig\.safetyFactor: /),
      expect.stringMatching(
        /mixed\.yaml: OptimizationPolicy new is left out: apiVersion is optipod\.io\/v2; accepted: /,
      ),
    ]);
  });

  test('memory of generated traces has its row, too', async () => {
    const path = file('memory.yaml', policy({ metrics: 'strategy: Max, safetyFactor: 1.5, rollingWindow: 7d' }));
    const { stdout } = await runCommand(['backtest', '--generated', '3', '--policy', path, '-o', 'json']);
    const [steady] = JSON.parse(stdout).memory;
    expect(steady.strategies.map(({ strategy }: Row) => strategy)).toEqual([
      'stowage',
      'policy web',
      'vpa-like',
      'krr-like',
    ]);
    expect(steady.strategies[1].slack).toBeGreaterThan(steady.strategies[0].slack);
  });

  test('comes from standard input as well', async () => {
    const { stdout } = await runCommand(['backtest', '--data', recordings, '--policy', '-'], { stdin: policy({}) });
    expect(stdout).toMatch(/^policy web /m);
  });

  test('--request is the row "as is", which never changes', async () => {
    const { rows } = await rowsOf('--request', '500m');
    const { slack, underProvisioned, changesPerDay } = figuresOf(rows, 'as is');
    expect(changesPerDay).toBe(0);
    // A wave from 200 to 1000 around 600 is above 500 a little more than half of the time.
    expect(underProvisioned).toBeGreaterThan(0.5);
    expect(underProvisioned).toBeLessThan(0.7);
    expect(slack).toBeGreaterThan(0);
    expect(figuresOf((await rowsOf('--request', '2')).rows, 'as is').underProvisioned).toBe(0);
  });

  test.each([
    ['a file that is not there', ['--data', '.', '--policy', '/nowhere.yaml'], 1, '--policy /nowhere.yaml: '],
    ['a request of nothing', ['--data', '.', '--request', '0'], 2, 'Give a CPU quantity above 0'],
    ['a request that is none', ['--data', '.', '--request', 'much'], 2, 'Give a CPU quantity above 0'],
    [
      'a request without recordings',
      ['--generated', '1', '--request', '1'],
      2,
      '--request is what is requested now of --data DIRECTORY',
    ],
  ])('%s is one line and an exit code', async (_name, args, expected, message) => {
    const { code, stdout, stderr } = await runCommand(['backtest', ...args]);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^stowage: [^\n]*\n$/);
  });

  test('a file without a policy that can be replayed ends it, with the reason', async () => {
    const path = file('invalid.yaml', policy({ metrics: 'percentile: P42' }));
    const { code, stderr } = await runCommand(['backtest', '--data', recordings, '--policy', path]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^stowage: --policy .*invalid\.yaml: OptimizationPolicy web is left out: spec\.metricsConfig\.percentile: [^\n]*\n$/,
    );
  });
});
