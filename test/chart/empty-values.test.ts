/** Sections and values with nothing in them: as where all below a key of a values file is commented out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderDefaults } from '../../scripts/values-defaults.ts';
import { loadConfig } from '../../src/config/load.ts';
import { isRecord, memberOf } from '../../src/lib/is-record.ts';
import { at, CHART, configTextOf, findHelm, render, renderChart, root, theOnly } from './render.ts';

type Values = Readonly<Record<string, unknown>>;
interface Section {
  readonly path: readonly string[];
  /** What in it is neither a section nor content of the user's own. */
  readonly scalars: readonly string[];
}

const { programs, missing } = await findHelm();
/** Of the configuration's text. */
const CHECKSUM = /"checksum\/config":"\w+"/g;
const read = (path: string): string => readFileSync(join(root, CHART, path), 'utf8');

/** Of the schema, which refuses what it does not know, where there are defaults. */
function sectionsOf(schema: unknown, defaults: unknown, path: readonly string[] = []): readonly Section[] {
  const properties = memberOf(schema, 'properties');
  const hasDefaults = isRecord(defaults) && Object.keys(defaults).length > 0;
  if (memberOf(schema, 'additionalProperties') !== false || !isRecord(properties) || !hasDefaults) return [];
  const isScalar = (each: unknown): boolean => !['object', 'array'].includes(String(memberOf(each, 'type')));
  const scalars = Object.keys(properties).filter((name) => isScalar(properties[name]));
  const nested = Object.entries(properties).flatMap(([name, each]) =>
    sectionsOf(each, defaults[name], [...path, name]),
  );
  return [{ path, scalars }, ...nested];
}

/** Uses every section. */
const full: Values = {
  engines: { rightsizing: true, allocation: true },
  webhook: { certManager: { enabled: true } },
  metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboards: { enabled: true } },
};

/** @param value undefined: the member is left out. */
function withMember(values: unknown, [name = '', ...rest]: readonly string[], value: unknown): Values {
  const { [name]: before, ...others } = isRecord(values) ? values : {};
  const member = rest.length === 0 ? value : withMember(before, rest, value);
  return member === undefined ? others : { ...others, [name]: member };
}

const textOf = (inline: Values): string => {
  const rendered = renderChart(programs, { inline });
  return rendered.ok ? rendered.text : rendered.message;
};

test('the defaults that templates know are those of values.yaml: npm run docs writes them', () => {
  expect(read('templates/_defaults.tpl')).toBe(renderDefaults(read('values.yaml')));
});

test('every template begins with what puts defaults in place', () => {
  const names = readdirSync(join(root, CHART, 'templates'), { recursive: true, encoding: 'utf8' });
  const templates = names.filter((name) => /\.(?:yaml|txt)$/.test(name));
  expect(templates.length).toBeGreaterThan(20);
  for (const name of templates) {
    expect(read(`templates/${name}`), name).toMatch(/^\{\{- include "stowage\.complete" \. -\}\}\n/);
  }
});

describe.skipIf(missing !== undefined)('with helm', () => {
  const sections = sectionsOf(JSON.parse(read('values.schema.json')), parse(read('values.yaml')));
  const named = sections.map(({ path, scalars }) => [path.join('.'), path, scalars] as const);

  test('there are sections in sections', () => {
    expect(named.map(([name]) => name)).toEqual(
      expect.arrayContaining(['', 'image', 'webhook.tls', 'metrics.dashboards']),
    );
  });

  test.each(named.filter(([name]) => name !== ''))('%s with nothing in it is as good as left out', (_, path) => {
    expect(textOf(withMember(full, path, null))).toBe(textOf(withMember(full, path, undefined)));
  });

  test.each(named)('%s with values that have none is as good as without them', (_, path, scalars) => {
    const valuesWith = (value: unknown): Values =>
      scalars.reduce((values, name) => withMember(values, [...path, name], value), full);
    expect(textOf(valuesWith(null))).toBe(textOf(valuesWith(undefined)));
  });

  test('sections of the configuration, too, and all that is in them', () => {
    const config = memberOf(memberOf(JSON.parse(read('values.schema.json')), 'properties'), 'config');
    const mayBeNothing = (schema: unknown): boolean => {
      const types = [memberOf(schema, 'type'), memberOf(schema, 'anyOf')].flat();
      return types.some((type) => type === 'null' || memberOf(type, 'type') === 'null');
    };
    const emptied = (schema: unknown, depth: number): unknown => {
      const properties = memberOf(schema, 'properties');
      if (depth === 0 || !isRecord(properties) || Object.hasOwn(properties, 'matchLabels')) return null;
      const members = Object.entries(properties).filter(([, each]) => mayBeNothing(each));
      return Object.fromEntries(members.map(([name, each]) => [name, emptied(each, depth - 1)]));
    };
    const rendered = (inline: Values) =>
      render(programs, { inline: { ...full, rbac: { argoRollouts: false }, ...inline } });
    const loaded = (objects: ReturnType<typeof rendered>): unknown =>
      loadConfig({ text: configTextOf(objects), fileName: 'config.yaml', env: {} });
    /** The configuration itself is compared as it is understood. */
    const besides = (objects: ReturnType<typeof rendered>): string =>
      JSON.stringify(objects.filter(({ metadata }) => metadata?.name !== 'stowage-config')).replace(CHECKSUM, '');
    const without = rendered({});
    for (const depth of [1, 2, 3]) {
      const values = emptied(config, depth);
      expect(Object.keys(isRecord(values) ? values : {}).length).toBeGreaterThan(6);
      if (depth === 2) expect(values).toMatchObject({ controllers: { namespaceSelector: null, nodeClassifier: null } });
      if (depth === 3) expect(values).toMatchObject({ controllers: { nodeClassifier: { spotLabels: null } } });
      if (depth === 3) expect(values).toMatchObject({ operator: { readOnlyMode: null }, webhook: { port: null } });
      const objects = rendered({ config: values });
      expect(loaded(objects), JSON.stringify(values)).toEqual(loaded(without));
      expect(besides(objects), JSON.stringify(values)).toBe(besides(without));
    }
  });

  test.each([
    'config',
    'affinity',
    'tolerations',
    'resources',
    'podAnnotations',
    'webhook.annotations',
    'agent.config',
  ])("%s, which is the user's own, may be empty", (path) => {
    const kindsOf = (inline: Values): string[] => render(programs, { inline }).map(({ kind = '' }) => kind);
    expect(kindsOf(withMember(full, path.split('.'), null))).toEqual(kindsOf(full));
  });

  test("null takes the default out of a map of the user's own", () => {
    const agent = { affinity: null, tolerations: null, resources: { limits: null } };
    const { spec } = theOnly(render(programs, { inline: { ...full, agent } }), 'DaemonSet');
    const pod = at(spec, 'template.spec');
    expect([at(pod, 'affinity'), at(pod, 'tolerations')]).toEqual([undefined, undefined]);
    expect(at(pod, 'containers.0.resources')).toEqual({ requests: { cpu: '20m', memory: '64Mi' } });
  });

  test('without namespaces to leave out, its own is left out all the same', () => {
    const objects = render(programs, { inline: { webhook: { excludedNamespaces: null } } });
    const selector = at(
      theOnly(objects, 'MutatingWebhookConfiguration'),
      'webhooks.0.namespaceSelector.matchExpressions',
    );
    expect(selector).toContainEqual({
      key: 'kubernetes.io/metadata.name',
      operator: 'NotIn',
      values: ['spotalis-system'],
    });
  });
});
