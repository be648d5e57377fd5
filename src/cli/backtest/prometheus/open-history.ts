/** Opens the Prometheus of `--data prometheus`: the client the operator uses, with an address and credentials from the command line. */
import { readFile } from 'node:fs/promises';
import type { Config } from '../../../config/schema.ts';
import { createSemaphore } from '../../../kube/transport/semaphore.ts';
import { describeFileError } from '../../../lib/errors.ts';
import { parseHttpUrl } from '../../../lib/http-url.ts';
import type { EpochMillis, Millis } from '../../../lib/units.ts';
import { createHttpExchange, shown } from '../../../observe/usage/http-exchange.ts';
import { operatorCredentials } from '../../../observe/usage/operator-credentials.ts';
import { postForm } from '../../../observe/usage/prometheus/post-form.ts';
import { createPrometheusSource } from '../../../observe/usage/prometheus/prometheus-source.ts';
import { defaultLabelNames } from '../../../observe/usage/prometheus/promql.ts';
import { readVector, type VectorSample } from '../../../observe/usage/prometheus/read-vector.ts';
import type { SourceCredentials } from '../../../observe/usage/source-credentials.ts';
import { proxyOfSources } from '../../../observe/usage/source-proxy.ts';
import type { UsageProblem, UsageSource } from '../../../observe/usage/usage-source.ts';
import type { CliIo } from '../../cli-context.ts';
import { CommandError, UsageError } from '../../cli-error.ts';

export interface HistoryOptions {
  /** Left out: that of the configuration. */
  readonly prometheus?: string;
  /** File with a bearer token. */
  readonly prometheusToken?: string;
  /** File with the authority in PEM. */
  readonly prometheusCa?: string;
}

/** A Prometheus to ask, one question at a time. Close it when done. */
export interface UsageHistory {
  /** Address without user and query. */
  readonly name: string;
  readonly stepMillis: Millis;
  readonly scrapeMillis: Millis;
  readonly fetch: UsageSource['fetch'];
  /** An instant query. @throws CommandError when it is not answered. */
  ask(query: string, at: EpochMillis, signal: AbortSignal): Promise<readonly VectorSample[]>;
  close(): void;
}

/** Distance of two points: that of common recordings, and 14 days of a series in one answer. */
const STEP_MILLIS: Millis = 300_000;
const MAX_ANSWER_BYTES = 64 << 20;
/** One question at a time: nobody waits for a backtest, and others ask this Prometheus, too. */
const CONCURRENCY = 1;

/** @throws UsageError for an address that is none; CommandError for files that cannot be read. Nothing is asked yet. */
export async function openHistory(
  options: HistoryOptions,
  config: Config,
  { clock, env }: CliIo,
): Promise<UsageHistory> {
  const { url: configured, timeout, scrapeInterval, sampleBudget } = config.rightsizing.prometheus;
  const text = options.prometheus ?? configured;
  if (text === '')
    throw new UsageError(
      '--data prometheus: give its address with --prometheus URL, or as rightsizing.prometheus.url in --config FILE',
    );
  const url = parseHttpUrl(text);
  if (url === undefined)
    throw new UsageError(
      `--prometheus: ${JSON.stringify(text)} is not an http or https URL without user and fragment, such as http://localhost:9090`,
    );
  const credentials = operatorCredentials(await readCredentials(options));
  const proxyOf = proxyOfSources(env);
  const exchange = createHttpExchange({ clock, timeoutMillis: timeout, maxBytes: MAX_ANSWER_BYTES, proxyOf });
  const source = createPrometheusSource({
    name: 'prometheus',
    url,
    labels: {},
    credentials,
    exchange,
    permits: createSemaphore(CONCURRENCY),
    tuning: {
      stepMillis: STEP_MILLIS,
      scrapeMillis: scrapeInterval,
      rateMillis: undefined,
      sampleBudget,
      timeoutMillis: timeout,
      names: defaultLabelNames,
    },
  });
  return {
    name: shown(url),
    stepMillis: STEP_MILLIS,
    scrapeMillis: scrapeInterval,
    fetch: (request, signal) => source.fetch(request, signal),
    async ask(query, at, signal) {
      const form = { query, time: String(at / 1000) };
      const answer = await postForm({ url, path: 'api/v1/query', form, credentials, exchange }, signal);
      if (!answer.ok) throw historyError(answer.problem, shown(url));
      const vector = readVector(answer.value);
      if (vector.ok) return vector.samples;
      const message = `${shown(url)}: ${vector.message}; check that the address is that of a Prometheus API`;
      throw historyError({ reason: 'Malformed', message }, shown(url));
    },
    close: () => exchange.close(),
  };
}

/** A problem with the source itself as the end of the command. */
export function historyError({ reason, message }: UsageProblem, name: string): CommandError {
  const text =
    reason === 'Unauthorized'
      ? `${name} refuses these credentials; give a file with a bearer token: --prometheus-token FILE`
      : message;
  return new CommandError(`--data prometheus: ${text}`);
}

async function readCredentials(options: HistoryOptions): Promise<(() => Promise<SourceCredentials>) | undefined> {
  const { prometheusToken, prometheusCa } = options;
  if (prometheusToken === undefined && prometheusCa === undefined) return undefined;
  const token = prometheusToken === undefined ? undefined : await readText('--prometheus-token', prometheusToken);
  const ca = prometheusCa === undefined ? undefined : await readText('--prometheus-ca', prometheusCa);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new CommandError(
      `--prometheus-token ${prometheusToken}: it is empty, or more than one word; give a file with the token alone`,
    );
  const headers: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return () => Promise.resolve({ headers, ca });
}

async function readText(option: string, path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new CommandError(`${option} ${path}: ${describeFileError(error)}`, { cause: error });
  }
}
