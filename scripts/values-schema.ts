/** The chart's values.schema.json, made from the comments and defaults of its values.yaml and from the configuration's own schema. */
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import * as z from 'zod';
import { settingTable } from '../src/agent/setting-table.ts';
import { configAliases, unusedKeys } from '../src/config/aliases.ts';
import { listConfigKeys } from '../src/config/schema.ts';

type Json = Readonly<Record<string, unknown>>;
interface Section {
  readonly type: 'object' | readonly ['object', 'null'];
  readonly additionalProperties: false;
  properties: Record<string, unknown>;
  description?: string;
}

const anyObject: Json = { type: 'object' };
const texts: Json = { type: 'object', additionalProperties: { type: 'string' } };
const objects: Json = { type: 'array', items: { type: 'object' } };
const port: Json = { type: 'integer', minimum: 1, maximum: 65_535 };
const goDuration: Json = { type: 'string', pattern: '^([0-9]+(h|m|s))+$' };
const numberOrPercentage: Json = { type: ['integer', 'string'], pattern: '^[0-9]+%?$' };

/** What a default alone does not tell; by path. */
const known: Readonly<Record<string, Json>> = {
  replicaCount: { type: 'integer', minimum: 1 },
  'image.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  imagePullSecrets: objects,
  'serviceAccount.annotations': texts,
  'rbac.scope': { enum: ['cluster', 'namespace'] },
  'webhook.port': port,
  'webhook.failurePolicy': { enum: ['Ignore', 'Fail'] },
  'webhook.timeoutSeconds': { type: 'integer', minimum: 1, maximum: 30 },
  'webhook.annotations': texts,
  'webhook.tls.caBundle': { type: 'string', pattern: '^[A-Za-z0-9+/=]*$' },
  'webhook.certManager.issuerRef': {
    type: 'object',
    additionalProperties: false,
    properties: { name: { type: 'string' }, kind: { type: 'string' }, group: { type: 'string' } },
  },
  'webhook.certManager.duration': goDuration,
  'webhook.certManager.renewBefore': goDuration,
  extraEnv: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
  podAnnotations: texts,
  podLabels: texts,
  podSecurityContext: anyObject,
  securityContext: anyObject,
  'service.type': { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
  'service.metricsPort': port,
  'service.healthPort': port,
  'service.webhookPort': port,
  'service.annotations': texts,
  'service.labels': texts,
  resources: anyObject,
  nodeSelector: texts,
  tolerations: objects,
  affinity: anyObject,
  onDemandAffinity: { enum: ['preferred', 'required', 'none'] },
  topologySpreadConstraints: objects,
  terminationGracePeriodSeconds: { type: 'integer', minimum: 1 },
  strategy: anyObject,
  'podDisruptionBudget.minAvailable': numberOrPercentage,
  'rightsizing.namespaceLabels': texts,
  'rightsizing.credentialSecrets': { type: 'array', items: { type: 'string', minLength: 1 } },
  'agent.config': agentConfigSchema(),
  'agent.serviceAccount.annotations': texts,
  'agent.podSecurityContext': anyObject,
  'agent.resources': anyObject,
  'agent.port': port,
  'agent.nodeSelector': texts,
  'agent.tolerations': objects,
  'agent.affinity': anyObject,
  'agent.podAnnotations': texts,
  'agent.podLabels': texts,
  'agent.extraEnv': objects,
  'networkPolicy.metricsFrom': objects,
  'networkPolicy.egress': objects,
  'metrics.serviceMonitor.labels': texts,
  'metrics.serviceMonitor.interval': goDuration,
  'metrics.serviceMonitor.scrapeTimeout': goDuration,
  'metrics.prometheusRule.labels': texts,
  'metrics.dashboards.labels': texts,
  'metrics.dashboards.annotations': texts,
};

/** Keys of the configuration that the chart derives from other values: naming them under config would be a second truth. */
const filledInByTheChart =
  /^(?:engines|webhook\.(?:certificates|serviceName|secretName|(?:validatingC|c)onfigurationName))(?:\.|$)/;

/** @param values text of values.yaml. @throws Error for a default whose kind cannot be told and that {@link known} lacks. */
export function renderValuesSchema(values: string): string {
  const root = parseDocument(values).contents;
  if (!isMap(root)) throw new Error('values.yaml holds no values');
  const section = sectionOf(root, '');
  section.properties['global'] = { ...anyObject, description: 'Of a parent chart; not used.' };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment:
      'Written by `npm run docs` from values.yaml, scripts/values-schema.ts and src/config/schema*.ts; edit those.',
    ...section,
    if: {
      required: ['rbac'],
      properties: { rbac: { required: ['scope'], properties: { scope: { const: 'namespace' } } } },
    },
    // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
    then: {
      properties: {
        config: {
          required: ['controllers'],
          properties: {
            controllers: { required: ['watchNamespaces'], properties: { watchNamespaces: { minItems: 1 } } },
          },
        },
      },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Whether the chart knows what may be in it; else its content is the user's own. */
export const isOwnSection = (path: string): boolean => path !== 'config' && known[path] === undefined;

function emptySection(): Section {
  return { type: 'object', additionalProperties: false, properties: {} };
}

function sectionOf(map: YAMLMap, prefix: string): Section {
  const section = emptySection();
  for (const [index, pair] of map.items.entries()) {
    const name = isScalar(pair.key) ? String(pair.key.value) : '';
    // The comment of a map's first key is kept with the map.
    const comment = (isScalar(pair.key) ? pair.key.commentBefore : undefined) ?? (index === 0 ? map.commentBefore : '');
    const description = prefix === '' && index === 0 ? lastParagraph(comment) : oneLine(comment);
    const schema = schemaOf(pair, prefix === '' ? name : `${prefix}.${name}`);
    section.properties[name] = description === '' ? schema : { description, ...schema };
  }
  return section;
}

function schemaOf({ value }: Pair, path: string): Json | Section {
  const listed = known[path];
  if (listed !== undefined) return listed;
  if (path === 'config') return configSchema();
  if (isMap(value) && value.items.length > 0) return sectionOf(value, path);
  const content = isScalar(value) ? value.value : undefined;
  if (typeof content === 'boolean') return { type: 'boolean' };
  if (typeof content === 'string') return { type: 'string' };
  if (path === 'webhook.excludedNamespaces') return { type: 'array', items: { type: 'string', minLength: 1 } };
  throw new Error(`scripts/values-schema.ts: say in "known" what ${path} may be`);
}

const oneLine = (comment: string | null | undefined): string => (comment ?? '').trim().replace(/\s*\n\s*/g, ' ');

function lastParagraph(comment: string | null | undefined): string {
  return oneLine((comment ?? '').split(/\n\s*\n/).at(-1));
}

/**
 * Agents tell in their logs what they do not accept, and go on with defaults; a word that is none of a setting's own need
 * not get so far. What has no effect may stay as it is.
 */
function agentConfigSchema(): Json {
  const ofWords = settingTable.flatMap(({ key, words, without }) =>
    key === undefined || words === undefined || without !== undefined
      ? []
      : [[key, { enum: words.flatMap(asWritten) }] as const],
  );
  return {
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    properties: Object.fromEntries(ofWords),
  };
}

/** As it may stand in YAML: a number needs no quotes. */
function asWritten(word: string): (string | number)[] {
  return Number.isNaN(Number(word)) ? [word] : [word, Number(word)];
}

function configSchema(): Section {
  const root = emptySection();
  for (const { path, key } of listConfigKeys()) {
    if (filledInByTheChart.test(path)) continue;
    const {
      $schema: _dialect,
      readOnly: _isReadOnly,
      ...schema
    } = z.toJSONSchema(key.schema, {
      io: 'input',
      unrepresentable: 'any',
    });
    place(root, path, { description: `${key.description} Accepted: ${key.accepted}.`, ...orNothing(schema) });
  }
  for (const { from, to } of configAliases) place(root, from, { description: `Another spelling of ${to}.` });
  for (const [path, why] of unusedKeys) place(root, path, { description: `Accepted, without effect: ${why}.` });
  return root;
}

/** As in the file itself, a key may have nothing in it: what is below it, or its value, is commented out. */
function orNothing(schema: Json): Json {
  const { type, anyOf } = schema;
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  return Array.isArray(anyOf) ? { ...schema, anyOf: [...anyOf, { type: 'null' }] } : schema;
}

function place(root: Section, path: string, schema: Json): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let section = root;
  for (const name of names) {
    const found = section.properties[name];
    // As in the file itself, all below it may be commented out.
    const next: Section = isSection(found) ? found : { ...emptySection(), type: ['object', 'null'] };
    section.properties[name] = next;
    section = next;
  }
  section.properties[last] = schema;
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && 'properties' in value && 'additionalProperties' in value;
}
