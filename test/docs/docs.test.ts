/** What the documentation names exists: linked files and headings, commands and options, keys, variables, metrics, reasons; and its tables are right. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { settingTable } from '../../src/agent/setting-table.ts';
import { placementKeys } from '../../src/api/annotations.ts';
import { rightsizingKeys } from '../../src/api/annotations-rightsizing.ts';
import { sizingKeys } from '../../src/api/annotations-sizing.ts';
import { parseMinOnDemand } from '../../src/api/annotations-values.ts';
import {
  hpaModes,
  memoryDecreases,
  type OptimizationPolicy,
  policyKinds,
  strategies,
} from '../../src/api/optimization-policy.ts';
import { applyMethods } from '../../src/api/optimization-policy-status.ts';
import { configAliases, unusedKeys } from '../../src/config/aliases.ts';
import { ENV_PREFIX } from '../../src/config/environment.ts';
import { parsePrices } from '../../src/config/prices-file.ts';
import { listConfigKeys } from '../../src/config/schema.ts';
import { clampReasons } from '../../src/decide/allocation/clamp.ts';
import { exclusionReasons } from '../../src/decide/allocation/eligibility.ts';
import { priorityWeight } from '../../src/decide/allocation/integrations/priority-class.ts';
import { solve } from '../../src/decide/allocation/solve.ts';
import { countsFor } from '../../src/decide/placement/slots.ts';
import { metricTable } from '../../src/lib/metrics.ts';
import { agentMetrics } from '../../src/lib/metrics-agent.ts';
import { isReasonName } from '../../src/lib/reasons.ts';
import { parsePolicy } from '../../src/model/optimization-policy.ts';
import { grantsOf, readRights } from '../chart/rights.ts';
import {
  allPages,
  anchorsOf,
  codeBlocks,
  commandLines,
  commandNames,
  inlineCode,
  type Page,
  relativeLinks,
  root,
} from './pages.ts';
import { commandNamesOf, problemOf } from './parse-command.ts';

const alerts = [
  ...readFileSync(resolve(root, 'charts/stowage/files/alerts.yaml'), 'utf8').matchAll(/^ *- alert: (\w+)$/gm),
].map(([, name = '']) => name);
const pages = allPages();
const textOf = new Map(pages.map(({ path, text }) => [path, text]));
const page = (path: string): string => textOf.get(path) ?? '';
const everyPage = pages.map((each): [string, Page] => [each.path, each]);

describe.each(everyPage)('%s', (path, { text }) => {
  test('optipod defect B21: every relative link leads to a file, and to a heading of it', () => {
    const broken = relativeLinks(text).filter((target) => {
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? path : join(dirname(path), file);
      if (!existsSync(resolve(root, linked))) return true;
      const linkedText = textOf.get(linked);
      return anchor !== undefined && (linkedText === undefined || !anchorsOf(linkedText).has(anchor));
    });
    expect(broken).toEqual([]);
  });

  test('every command line can be parsed', async () => {
    const problems = await Promise.all(commandLines(text).map(problemOf));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
    const commands = commandNamesOf();
    expect(commandNames(text).filter((name) => !commands.includes(name))).toEqual([]);
  });
});

describe('names', () => {
  const guides = pages.filter(({ path }) => !path.startsWith('adr/') && path !== 'CONTRIBUTING.md');
  /** What Spotalis wrote and Stowage does not. */
  const onlyInSpotalis = /^spotalis\.io\/(?:rebalance-timestamp|desired-(?:spot|ondemand)-replicas)$/;
  /** What the documents of MBCAS name and neither system reads. */
  const onlyInMbcas: ReadonlySet<string> = new Set(['mbcas.io/ignore', 'mbcas.io/dependencies', 'mbcas.io/paths']);
  const unknownNames = (names: (page: Page) => readonly string[], isKnown: (name: string) => boolean): string[] =>
    guides.flatMap((each) =>
      names(each)
        .filter((name) => !isKnown(name))
        .map((name) => `${each.path}: ${name}`),
    );

  test('every label and annotation is one of the catalogue', () => {
    const known = new Set<string>(
      [placementKeys, rightsizingKeys, sizingKeys].flatMap((keys) => Object.values<string>(keys)),
    );
    // Those of recommendations have the container's name in them; `optipod.io/v1alpha1` is the API.
    const others = /^optipod\.io\/(?:recommendation|v)$|^(?:optipod|spotalis|mbcas)\.io\/$/;
    const named = ({ text }: Page): string[] =>
      [...text.matchAll(/(?<![./\w])(?:spotalis|optipod)\.io\/[a-z-]+/g)].map(([name]) => name);
    const isKnown = (name: string): boolean => known.has(name) || onlyInSpotalis.test(name) || others.test(name);
    expect(unknownNames(named, isKnown)).toEqual([]);
  });

  test('every label and annotation of allocation is read or written by its source', () => {
    const source = ['src/decide/allocation/marks.ts', 'src/api/pod-allocation.ts', 'src/api/annotations-sizing.ts']
      .map((path) => readFileSync(resolve(root, path), 'utf8'))
      .join('\n');
    const named = ({ text }: Page): string[] =>
      [...text.matchAll(/(?<![./\w])mbcas\.io\/[a-z-]+/g)].map(([name]) => name);
    const isKnown = (name: string): boolean =>
      source.includes(name) || source.includes(`('${name.slice('mbcas.io/'.length)}')`) || onlyInMbcas.has(name);
    expect(unknownNames(named, isKnown)).toEqual([]);
  });

  test('every configuration key is one of the schema', () => {
    const keys = [
      ...listConfigKeys().map(({ path }) => path),
      ...configAliases.map(({ from }) => from),
      ...unusedKeys.keys(),
      ...settingTable.flatMap(({ key }) => key ?? []),
    ];
    // The values of Spotalis's chart share first words with the configuration.
    const isHelmValue = (name: string): boolean =>
      /^(?:webhook\.(?:tls\.|certManager\.|failurePolicy)|rightsizing\.(?:credentialSecrets|namespaceLabels)$)/.test(
        name,
      );
    const named = ({ text }: Page): string[] =>
      inlineCode(text).flatMap(
        (code) =>
          /^(?:operator|engines|controllers?(?!\.kubernetes)|placement|rightsizing|allocation(?!\.mbcas)|webhook|observability|nodeLabels)\.[A-Za-z.]+/.exec(
            code,
          )?.[0] ?? [],
      );
    const isFile = (name: string): boolean => name.endsWith('.ts');
    const isKnown = (name: string): boolean => keys.some((key) => key === name || key.startsWith(`${name}.`));
    expect(unknownNames(named, (name) => isKnown(name) || isHelmValue(name) || isFile(name))).toEqual([]);
  });

  test('every environment variable is read', () => {
    const known = new Set(listConfigKeys().flatMap(({ key }) => (key.env === undefined ? [] : [ENV_PREFIX + key.env])));
    for (const { env } of settingTable) if (env !== undefined) known.add(env);
    const named = ({ text }: Page): string[] =>
      [...text.matchAll(/\b(?:SPOTALIS|MBCAS|STOWAGE_ALLOCATION)_[A-Z0-9_]*[A-Z0-9]/g)].map(([name]) => name);
    expect(unknownNames(named, (name) => known.has(name))).toEqual([]);
  });

  test('every metric is one of the table', () => {
    const named = ({ text }: Page): string[] =>
      [...text.matchAll(/\b(?:spotalis|stowage|optipod|mbcas)_[a-z0-9_]+[a-z0-9]/g)].map(([name]) => name);
    const isKnown = (name: string): boolean => Object.hasOwn(metricTable, name) || Object.hasOwn(agentMetrics, name);
    expect(unknownNames(named, isKnown)).toEqual([]);
  });

  test('every reason is one of the table', () => {
    // Kinds and conditions of Kubernetes, and values of ours, that look like reasons.
    const others =
      /^(?:PodDisruptionBudget|PodScheduled|ReplicaSet|StatefulSet|DaemonSet|ConfigMap|OrderedReady|OnDelete|FleetStatus|RollingUpdate|NotIn|DoesNotExist|DoNotSchedule|ClusterView|KubeApi|CronJob|NetworkPolicy|PriorityClass|ResourceQuota|LimitRange|HorizontalPodAutoscaler|VerticalPodAutoscaler|OptimizationPolicy|PodAllocation|VerticalPodAutoscalerCheckpoint|InPlacePodVerticalScaling|RestartContainer|NotRequired|MetricsAvailable|PermissionsSufficient)$/;
    const named = ({ text }: Page): string[] => inlineCode(text).filter((code) => /^(?:[A-Z][a-z]+){2,}$/.test(code));
    const values: ReadonlySet<string> = new Set([
      ...policyKinds,
      ...strategies,
      ...memoryDecreases,
      ...hpaModes,
      ...applyMethods,
      ...clampReasons,
      ...alerts,
      ...exclusionReasons,
    ]);
    // Reasons of PodAllocations and of agents are types, not a table.
    const source = [
      'decide/allocation/admit.ts',
      'decide/allocation/node-input.ts',
      'controllers/allocation/outcome.ts',
    ]
      .map((path) => readFileSync(resolve(root, 'src', path), 'utf8'))
      .join('\n');
    const isKnown = (name: string): boolean =>
      isReasonName(name) || others.test(name) || values.has(name) || source.includes(`'${name}'`);
    expect(unknownNames(named, isKnown)).toEqual([]);
  });
});

describe('docs/placement.md', () => {
  const rows = [...page('docs/placement.md').matchAll(/^\| (\d+) \| (\d+) \| (\d+%?) \| (\d+) \| (\d+) \|$/gm)];
  const ruleOf = (spotPercentage: number, floor: string) =>
    ({ spotPercentage, minOnDemand: parseMinOnDemand(floor), rounding: 'ceil', basis: 'total' }) as const;

  test('the table of percentage and floor is what the formula gives', () => {
    expect(rows.length).toBeGreaterThan(5);
    for (const [, replicas, percentage, floor = '', spot, onDemand] of rows) {
      const expected = { spot: Number(spot), onDemand: Number(onDemand) };
      expect(
        countsFor(ruleOf(Number(percentage), floor), Number(replicas)),
        `${replicas} ${percentage} ${floor}`,
      ).toEqual(expected);
    }
  });

  test('the picture of slots is what the formula gives', () => {
    const sides = /^side((?: +[OS])+) +\(/m.exec(page('docs/placement.md'))?.[1]?.trim().split(/ +/) ?? [];
    const rule = ruleOf(70, '1');
    const expected = sides.map((_, index) =>
      countsFor(rule, index + 1).spot > countsFor(rule, index).spot ? 'S' : 'O',
    );
    expect(sides).toHaveLength(10);
    expect(sides).toEqual(expected);
  });
});

test('the prices file of docs/cost.md is valid', () => {
  const example = /^```yaml\n([\s\S]*?)^```$/m.exec(page('docs/cost.md'))?.[1] ?? '';
  expect(parsePrices(example, 'docs/cost.md')).toMatchObject({ region: 'us-east-1' });
});

test('docs/troubleshooting.md tells what to do at every alert of the chart', () => {
  const told = inlineCode(page('docs/troubleshooting.md')).filter((name) => name.startsWith('Stowage'));
  expect(told.toSorted()).toEqual(alerts.toSorted());
});

describe('docs/allocation.md', () => {
  const bids = [
    { uid: 'a', weight: 4, min: 200, max: 600 },
    { uid: 'b', weight: 2, min: 200, max: 2000 },
    { uid: 'c', weight: 1, min: 100, max: 2000 },
  ];
  const rows = [...page('docs/allocation.md').matchAll(/^\| (\d+)m \| (\d+) \| (\d+) \| (\d+) \| `(\w+)` \|$/gm)];

  test('the table of shares is what the solver gives', () => {
    expect(rows.length).toBe(3);
    for (const [, capacity, a, b, c, mode] of rows) {
      expect(solve({ capacity: Number(capacity), bids }), `${capacity}m`).toMatchObject({
        shares: [a, b, c].map(Number),
        mode,
      });
    }
  });
});

test('docs/security.md tells every right of the installation', () => {
  const section = /^## What it may do\n([\s\S]*?)^## /m.exec(page('docs/security.md'))?.[1] ?? '';
  const told = section.split('\n').flatMap((line) => {
    const [, names = '', verbs = ''] = line.split('|');
    return inlineCode(names).flatMap((name) => (verbs.match(/\w+/g) ?? []).map((verb) => `${verb} ${name}`));
  });
  const rights = grantsOf(readRights('deploy/profiles/all.yaml', 'deploy/rbac-argo.yaml')).map(({ right }) => {
    const [verb, resource = ''] = right.split(' ');
    return `${verb} ${resource.slice(resource.indexOf('/') + 1)}`;
  });
  expect(rights.length).toBeGreaterThan(50);
  expect(rights.filter((right) => !told.includes(right))).toEqual([]);
});

describe('docs/allocation-integrations.md', () => {
  const text = page('docs/allocation-integrations.md');

  test('says what every rule means that moves a share', () => {
    const told = inlineCode(text);
    expect(clampReasons.filter((reason) => !told.includes(reason))).toEqual([]);
  });

  test('the table of priorities is what the curves give', () => {
    const rows = [...text.matchAll(/^\| (-?\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm)];
    expect(rows.length).toBe(5);
    for (const [, priority, ...weights] of rows) {
      const expected = (['log', 'anchors', 'legacy'] as const).map((curve) => priorityWeight(Number(priority), curve));
      expected.forEach((weight, column) => {
        expect(Number(weights[column]), `${priority}, column ${column}`).toBeCloseTo(weight, 2);
      });
    }
  });

  test('all ten are there', () => {
    expect([...text.matchAll(/^\| (\d+) \| \[/gm)].map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
  });
});

test.each([
  ['every page of docs/', 'README.md', 'docs/'],
  ['every decision', 'adr/README.md', 'adr/'],
])('%s can be found from %s', (_name, index, folder) => {
  const linked = new Set(relativeLinks(page(index)).map((target) => join(dirname(index), target.split('#')[0] ?? '')));
  const paths = pages.map(({ path }) => path).filter((path) => path.startsWith(folder) && path !== index);
  expect(paths.filter((path) => !linked.has(path))).toEqual([]);
});

test('docs/agent.md and docs/migrating-from-mbcas.md name every setting of the agent', () => {
  const named = new Set(['docs/agent.md', 'docs/migrating-from-mbcas.md'].flatMap((path) => inlineCode(page(path))));
  const missing = settingTable.filter(({ key, env }) => !named.has(key ?? '') && !named.has(env ?? ''));
  expect(missing.map(({ key, env }) => key ?? env)).toEqual([]);
});

test('optipod defect B21: every OptimizationPolicy that is shown whole is valid', () => {
  const shown = pages.flatMap(({ text }) =>
    codeBlocks(text)
      .filter((block) => /^kind: OptimizationPolicy$/m.test(block))
      .map((block): OptimizationPolicy => parseYaml(block)),
  );
  expect(shown.length).toBeGreaterThan(0);
  for (const policy of shown) expect(parsePolicy('optipod.io', policy).problems).toEqual([]);
});
