/** LimitRange and ResourceQuota -> records: what a namespace allows its pods. */
import type { LimitRange, ResourceQuota } from '../../api/core.ts';
import { parseQuantity } from '../../lib/quantity.ts';
import type { ComputeAmounts, LimitRangeRecord, QuotaAmounts, QuotaRecord } from '../../model/sizing-records.ts';
import { cpu, listOf, memory, requireText, textOr } from '../fields.ts';

type Amounts = Readonly<Record<string, string>> | undefined | null;

const NANOS = 1_000_000_000;

/**
 * One record for each item that bounds containers or pods; items about volume claims are left out.
 * @throws InvalidValueError when it cannot be read.
 */
export function projectLimitRange(range: LimitRange): readonly LimitRangeRecord[] {
  const { metadata = {}, spec } = range;
  const identity = {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
  };
  return listOf(spec?.limits, 'spec.limits').flatMap((item): LimitRangeRecord[] => {
    if (item.type !== 'Container' && item.type !== 'Pod') return [];
    return [
      {
        ...identity,
        type: item.type,
        min: amounts(item.min, 'min'),
        max: amounts(item.max, 'max'),
        defaultRequest: amounts(item.defaultRequest, 'defaultRequest'),
        defaultLimit: amounts(item.default, 'default'),
        maxLimitRequestRatio: ratios(item.maxLimitRequestRatio),
      },
    ];
  });
}

/**
 * `status.hard` is what is enforced: it trails `spec.hard` until the quota controller has seen a change.
 * @throws InvalidValueError when it cannot be read.
 */
export function projectQuota(quota: ResourceQuota): QuotaRecord {
  const { metadata = {}, spec, status } = quota;
  return {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    hard: quotaAmounts(status?.hard ?? spec?.hard, 'hard'),
    used: quotaAmounts(status?.used, 'used'),
    scopes: projectScopes(spec),
  };
}

function amounts(list: Amounts, field: string): ComputeAmounts {
  const cpuMillis = cpu(list?.['cpu'], `${field}.cpu`);
  const memoryBytes = memory(list?.['memory'], `${field}.memory`);
  return {
    ...(cpuMillis !== undefined && { cpu: cpuMillis }),
    ...(memoryBytes !== undefined && { memory: memoryBytes }),
  };
}

/** Ratios are quantities too: `1500m` is one and a half. */
function ratios(list: Amounts): LimitRangeRecord['maxLimitRequestRatio'] {
  const read = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : Number(parseQuantity(text).nanos) / NANOS;
  const [ofCpu, ofMemory] = [read(list?.['cpu']), read(list?.['memory'])];
  return { ...(ofCpu !== undefined && { cpu: ofCpu }), ...(ofMemory !== undefined && { memory: ofMemory }) };
}

/** `cpu` and `memory` are the old names of the requests. Source: pkg/quota/v1/evaluator/core/pods.go. */
function quotaAmounts(list: Amounts, field: string): QuotaAmounts {
  const least = (first: number | undefined, second: number | undefined): number | undefined =>
    first === undefined ? second : second === undefined ? first : Math.min(first, second);
  const cpuRequest = least(cpu(list?.['requests.cpu'], `${field}.requests.cpu`), cpu(list?.['cpu'], `${field}.cpu`));
  const memoryRequest = least(
    memory(list?.['requests.memory'], `${field}.requests.memory`),
    memory(list?.['memory'], `${field}.memory`),
  );
  const cpuLimit = cpu(list?.['limits.cpu'], `${field}.limits.cpu`);
  const memoryLimit = memory(list?.['limits.memory'], `${field}.limits.memory`);
  return {
    ...(cpuRequest !== undefined && { cpuRequest }),
    ...(cpuLimit !== undefined && { cpuLimit }),
    ...(memoryRequest !== undefined && { memoryRequest }),
    ...(memoryLimit !== undefined && { memoryLimit }),
  };
}

/** Scopes by name, and each scope expression as `PriorityClass In high,low`. */
function projectScopes(spec: ResourceQuota['spec']): readonly string[] | undefined {
  const names = listOf(spec?.scopes, 'spec.scopes');
  const expressions = listOf(spec?.scopeSelector?.matchExpressions, 'spec.scopeSelector.matchExpressions').map(
    ({ scopeName, operator, values }) =>
      [scopeName, operator, listOf(values, 'values').join(',')].filter((part) => part !== '').join(' '),
  );
  const all = [...names, ...expressions];
  return all.length === 0 ? undefined : all;
}
