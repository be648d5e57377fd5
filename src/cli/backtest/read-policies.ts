/** The policies of `--policy` files, read by the operator's own parser, and what of each a replay of usage cannot mean. */
import type { KubeObject } from '../../api/core.ts';
import { policyGroups, policyType } from '../../api/optimization-policy.ts';
import type { PolicySpecLimits } from '../../api/optimization-policy-check.ts';
import { apiVersionOf } from '../../api/resources.ts';
import { formatDuration } from '../../lib/duration.ts';
import { isRecord } from '../../lib/is-record.ts';
import { isValidPolicy, parsePolicy, policyKey, type ValidPolicy } from '../../model/optimization-policy.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { CliIo } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { readPath } from '../input/read-path.ts';
import { createUnknownPolicyFields } from '../sizing/unknown-policy-fields.ts';

export interface PolicyRow {
  /** What the row is called; no two are called alike. */
  readonly name: string;
  /** How it chooses CPU requests, in a few words. */
  readonly description: string;
  readonly spec: PolicySpec;
}

export interface ReadPolicies {
  readonly rows: readonly PolicyRow[];
  /** One sentence for each object that was left out, and for each policy of which a part is not replayed. */
  readonly problems: readonly string[];
}

interface Found {
  readonly path: string;
  readonly policy: ValidPolicy;
}

const apiVersions = policyGroups.map((group) => apiVersionOf(policyType(group)));

/** What a replay of usage has no meaning for: whom the policy is for, where usage comes from, and how changes are carried out. */
const notReplayed: Readonly<Record<string, readonly string[]>> = {
  spec: ['mode', 'weight', 'scope', 'selector', 'hpa', 'annotateRecommendations'],
  'spec.metricsConfig': ['provider', 'prometheus', 'custom', 'startupExclusion'],
  'spec.updateStrategy': [
    'allowInPlaceResize',
    'allowRecreate',
    'updateRequestsOnly',
    'useServerSideApply',
    'limitConfig',
    'evictToResize',
  ],
};

/**
 * Reads every OptimizationPolicy of the files, of either API group.
 * @param paths files, directories, or `-` for standard input.
 * @throws CommandError for a path in which there is no policy that can be replayed.
 */
export async function readPolicies(
  paths: readonly string[],
  io: CliIo,
  limits: PolicySpecLimits = {},
): Promise<ReadPolicies> {
  const found: Found[] = [];
  const problems: string[] = [];
  const unknownFieldsOf = createUnknownPolicyFields();
  for (const path of paths) {
    const { objects, problems: unread } = await readPath(path, io);
    const own: string[] = [...unread];
    const before = found.length;
    for (const object of objects) {
      const result = readPolicy(object, path, limits);
      if (typeof result === 'string') own.push(result);
      else found.push({ path, policy: result });
      if (typeof result !== 'string') own.push(...partsLeftOut(object, path));
      if (object.kind === 'OptimizationPolicy')
        own.push(...unknownFieldsOf(object, `${path}: OptimizationPolicy ${object.metadata?.name ?? ''}`));
    }
    if (found.length === before) {
      const why = own[0] ?? `${path}: there is no Kubernetes object in it`;
      throw new CommandError(`--policy ${why.replace(/\.$/, '')}; give a file with an OptimizationPolicy`);
    }
    problems.push(...own);
  }
  return { rows: found.map((one) => rowOf(one, found)), problems };
}

function readPolicy(object: KubeObject, path: string, limits: PolicySpecLimits): ValidPolicy | string {
  const { apiVersion = '', kind = '' } = object;
  const group = policyGroups.find((each) => apiVersion === apiVersionOf(policyType(each)));
  const label = `${path}: ${kind} ${object.metadata?.name ?? ''}`;
  if (kind !== 'OptimizationPolicy') return `${label} is left out: it is no OptimizationPolicy`;
  if (group === undefined)
    return `${label} is left out: apiVersion is ${apiVersion}; accepted: ${apiVersions.join(', ')}`;
  const policy = parsePolicy(group, object, limits);
  return isValidPolicy(policy) ? policy : `${label} is left out: ${policy.problems.join('; ')}`;
}

/** One line, naming the fields as they are written. */
function partsLeftOut(object: KubeObject & { readonly spec?: unknown }, path: string): string[] {
  const given = Object.entries(notReplayed).flatMap(([place, fields]) => {
    const [, inner] = place.split('.');
    const spec = isRecord(object.spec) ? object.spec : {};
    const from = inner === undefined ? spec : spec[inner];
    if (!isRecord(from)) return [];
    const prefix = inner === undefined ? '' : `${inner}.`;
    return fields.filter((field) => from[field] !== undefined).map((field) => `${prefix}${field}`);
  });
  if (given.length === 0) return [];
  return [
    `${path}: OptimizationPolicy ${object.metadata?.name ?? ''}: a replay of usage has no use for ${given.join(', ')}`,
  ];
}

/** The shortest name that no other has. */
function rowOf({ path, policy }: Found, all: readonly Found[]): PolicyRow {
  const { name, namespace, spec } = policy;
  const isAlone = (nameOf: (one: Found) => string): boolean => {
    const own = nameOf({ path, policy });
    return all.filter((one) => nameOf(one) === own).length === 1;
  };
  const qualified = namespace === '' ? name : `${namespace}/${name}`;
  const named = (): string => {
    if (isAlone((one) => one.policy.name)) return name;
    if (isAlone((one) => `${one.policy.namespace}/${one.policy.name}`)) return qualified;
    if (isAlone((one) => policyKey(one.policy))) return policyKey(policy);
    if (isAlone((one) => `${one.path} ${policyKey(one.policy)}`)) return `${qualified} of ${path}`;
    return `${qualified}, ${all.findIndex((one) => one.policy === policy) + 1}`;
  };
  return { name: `policy ${named()}`, description: describe(spec), spec };
}

function describe({ metrics }: PolicySpec): string {
  const { strategy, percentile, safetyFactor, rollingWindowMillis, halfLifeMillis, costAware } = metrics;
  const factor = `x ${safetyFactor.cpu}`;
  switch (strategy) {
    case 'CostAware':
      return `least expected cost, an hour above it as dear as ${costAware.exceededHours} of it`;
    case 'Percentile':
      return `P${percentile.cpu} of ${formatDuration(rollingWindowMillis)}, ${factor}`;
    case 'Histogram':
      return `P${percentile.cpu} of a histogram with a half-life of ${formatDuration(halfLifeMillis)}, ${factor}`;
    case 'Max':
      return `highest of ${formatDuration(rollingWindowMillis)}, ${factor}`;
  }
}
