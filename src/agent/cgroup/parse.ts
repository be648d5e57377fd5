/**
 * Parsers of the kernel's control group files. Pure; a text that does not follow its grammar gives undefined, never a
 * guess.
 */

/** CPU bandwidth (`cpu.max`, `cpu.cfs_quota_us`): what a group may use in each period. */
export interface CpuQuota {
  /** Microseconds of CPU time for each period; undefined where there is no quota. */
  readonly quotaMicros: number | undefined;
  readonly periodMicros: number;
}

/** A counter or amount: decimal digits alone, small enough to be exact. */
export function parseCount(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^\d{1,16}$/.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isSafeInteger(value) ? value : undefined;
}

/**
 * The value of `key` in a flat-keyed file such as `cpu.stat`, one `key value` a line (cgroup-v2.rst, "Flat keyed").
 * @returns undefined where the key is missing, `NaN` never.
 */
export function readKey(text: string, key: string): number | undefined {
  const isFirst = text.startsWith(`${key} `);
  const newline = isFirst ? -1 : text.indexOf(`\n${key} `);
  if (newline === -1 && !isFirst) return undefined;
  const start = newline + key.length + 2;
  const end = text.indexOf('\n', start);
  return parseCount(end === -1 ? text.slice(start) : text.slice(start, end));
}

/** `cpu.max` of cgroup v2: `max 100000` or `50000 100000`. */
export function parseCpuMax(text: string): CpuQuota | undefined {
  const [quota = '', period = '', ...rest] = text.trim().split(/\s+/);
  const periodMicros = parseCount(period);
  if (periodMicros === undefined || periodMicros === 0 || rest.length > 0) return undefined;
  if (quota === 'max') return { quotaMicros: undefined, periodMicros };
  const quotaMicros = parseCount(quota);
  return quotaMicros === undefined ? undefined : { quotaMicros, periodMicros };
}

/** `cpu.cfs_quota_us` and `cpu.cfs_period_us` of cgroup v1; -1 means no quota. */
export function parseCfsQuota(quota: string, period: string): CpuQuota | undefined {
  const periodMicros = parseCount(period);
  if (periodMicros === undefined || periodMicros === 0) return undefined;
  if (quota.trim() === '-1') return { quotaMicros: undefined, periodMicros };
  const quotaMicros = parseCount(quota);
  return quotaMicros === undefined ? undefined : { quotaMicros, periodMicros };
}

const TOTAL = ' total=';

/** Total stall time of the `some` line of `cpu.pressure`, in microseconds (Documentation/accounting/psi.rst). */
export function parsePressure(text: string): number | undefined {
  const line = text.startsWith('some ') ? 0 : text.indexOf('\nsome ') + 1;
  if (line === 0 && !text.startsWith('some ')) return undefined;
  const newline = text.indexOf('\n', line);
  const end = newline === -1 ? text.length : newline;
  const total = text.indexOf(TOTAL, line);
  return total === -1 || total > end ? undefined : parseCount(text.slice(total + TOTAL.length, end));
}

/**
 * Microseconds the machine's CPUs were busy, of the first line of `/proc/stat`, whose unit is a hundredth of a second
 * (proc_stat(5)).
 */
export function parseProcStat(text: string): number | undefined {
  const [label, ...words] = (text.split('\n', 1)[0] ?? '').split(/\s+/);
  if (label !== 'cpu') return undefined;
  const [user, nice, system, , , irq = 0, softirq = 0] = words.map((word) => parseCount(word));
  if (user === undefined || nice === undefined || system === undefined) return undefined;
  // Idle and iowait are left out; guest time is part of user time already.
  return (user + nice + system + irq + softirq) * 10_000;
}
