/**
 * Usage from an HTTP endpoint of your own. It is sent `{workload, pods, containers, from: {cpu, memory}, to}` (POST,
 * JSON, instants in Unix seconds) and answers `{"series": [{"pod", "container", "cpu": [[seconds, cores]], "memory":
 * [[seconds, bytes]]}]}`.
 */

import type { Semaphore } from '../../kube/transport/semaphore.ts';
import { isRecord, memberOf } from '../../lib/is-record.ts';
import { tryParseJson } from '../../lib/try-parse-json.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { UsagePoint, UsageSeries } from '../../model/usage-series.ts';
import { type HttpExchange, shown } from './http-exchange.ts';
import type { CredentialsReader } from './source-credentials.ts';
import {
  MOST_AHEAD_MILLIS,
  MOST_BYTES,
  MOST_MILLICORES,
  type UsageAnswer,
  type UsageProblem,
  type UsageRequest,
  type UsageSource,
} from './usage-source.ts';

export interface CustomSourceOptions {
  readonly name: string;
  readonly url: URL;
  readonly credentials: CredentialsReader;
  readonly exchange: HttpExchange;
  readonly permits: Semaphore;
}

export function createCustomSource(options: CustomSourceOptions): UsageSource {
  const { name, url } = options;

  const ask = async (request: Question, signal: AbortSignal): Promise<UsageAnswer> => {
    const known = await options.credentials.read(signal);
    if (!known.ok) return known;
    const release = await options.permits.acquire(signal);
    try {
      const { headers, ca } = known.credentials;
      const answer = await options.exchange.send(
        {
          url,
          method: 'POST',
          headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(request),
        },
        ca,
        signal,
      );
      if (!answer.ok) return answer;
      if (answer.status === 401 || answer.status === 403) options.credentials.refused();
      return answer.status === 200
        ? readAnswer(answer.body, url, request.to * 1000)
        : { ok: false, problem: statusProblem(url, answer.status) };
    } finally {
      release();
    }
  };

  return {
    name,
    kind: 'range',
    fetch: (request, signal) => ask(question(request), signal),
    async health(signal) {
      const answer = await ask(
        { workload: null, pods: [], containers: [], from: { cpu: 0, memory: 0 }, to: 0 },
        signal,
      );
      return answer.ok ? { ok: true } : answer;
    },
  };
}

/** Instants are in Unix seconds. */
interface Question {
  readonly workload: UsageRequest['workload'] | null;
  readonly pods: readonly string[];
  readonly containers: readonly string[];
  readonly from: { readonly cpu: number; readonly memory: number };
  readonly to: number;
}

function question({ workload, pods, containers, from, to }: UsageRequest): Question {
  return { workload, pods, containers, from: { cpu: from.cpu / 1000, memory: from.memory / 1000 }, to: to / 1000 };
}

/**
 * Leniently: a series that cannot be read costs itself only. What is later than what was asked for is left out: taken,
 * all until then would count as read.
 */
function readAnswer(body: Buffer, url: URL, to: EpochMillis): UsageAnswer {
  const list = memberOf(tryParseJson(body.toString('utf8')), 'series');
  if (!Array.isArray(list)) {
    const message = `${shown(url)} did not answer with {"series": [...]}: see the documentation of custom usage sources`;
    return { ok: false, problem: { reason: 'Malformed', message } };
  }
  const series: UsageSeries[] = [];
  let unreadable = 0;
  let ahead = 0;
  let absurd = 0;
  const pointsOf = (value: unknown, convert: (value: number) => number, most: number): UsagePoint<number>[] => {
    const points = readPoints(value, convert);
    ahead += points.filter(({ at }) => at > to + MOST_AHEAD_MILLIS).length;
    const past = points.filter(({ at }) => at <= to);
    const possible = past.filter((point) => point.value <= most);
    absurd += past.length - possible.length;
    return possible;
  };
  for (const item of list) {
    const pod: unknown = isRecord(item) ? item['pod'] : undefined;
    const container: unknown = isRecord(item) ? item['container'] : undefined;
    if (!isRecord(item) || typeof pod !== 'string' || typeof container !== 'string') {
      unreadable++;
      continue;
    }
    const cpu = pointsOf(item['cpu'], (cores) => Math.trunc(cores * 1000), MOST_MILLICORES);
    series.push({ pod, container, cpu, memory: pointsOf(item['memory'], Math.trunc, MOST_BYTES) });
  }
  const warnings = [
    ...(unreadable === 0 ? [] : [`${unreadable} series without pod and container were left out`]),
    ...(ahead === 0 ? [] : [`points of the future were left out, ${ahead} of them: instants are in Unix seconds`]),
    ...(absurd === 0 ? [] : [`${absurd} samples are beyond any machine and were left out`]),
  ];
  return { ok: true, series, readTo: { ...endOf('cpu', series), ...endOf('memory', series) }, warnings };
}

function readPoints(value: unknown, convert: (value: number) => number): UsagePoint<number>[] {
  if (!Array.isArray(value)) return [];
  const points = value.flatMap((pair): UsagePoint<number>[] => {
    if (!Array.isArray(pair)) return [];
    const [seconds, amount]: unknown[] = pair;
    if (typeof seconds !== 'number' || typeof amount !== 'number' || !(seconds >= 0) || !(amount >= 0)) return [];
    const at = Math.round(seconds * 1000);
    const converted = convert(amount);
    return Number.isFinite(at) && Number.isFinite(converted) ? [{ at, value: converted }] : [];
  });
  return points.sort((a, b) => a.at - b.at);
}

function endOf(resource: 'cpu' | 'memory', series: readonly UsageSeries[]): { cpu?: number; memory?: number } {
  const ends = series.flatMap((one) => one[resource].at(-1)?.at ?? []);
  return ends.length === 0 ? {} : { [resource]: ends.reduce((most, at) => Math.max(most, at)) };
}

function statusProblem(url: URL, status: number): UsageProblem {
  const where = `${shown(url)} answered HTTP ${status}`;
  if (status === 401 || status === 403)
    return { reason: 'Unauthorized', message: `${where}; check its credentials in the operator's configuration` };
  if (status === 429 || status >= 500) return { reason: 'Unreachable', message: `${where}; it will be asked again` };
  return {
    reason: 'Rejected',
    message: `${where}; see the documentation of custom usage sources for what it is asked`,
  };
}
