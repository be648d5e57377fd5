/** `provider: prometheus`: the operator's own address and credentials, or a policy's, where its address is allowed. */
import { parseHttpUrl } from '../../lib/http-url.ts';
import type { PrometheusAccess } from '../../model/policy-spec.ts';
import type { UsageSettings } from '../../model/usage-settings.ts';
import { checkPolicyUrl } from './allowed-url.ts';
import { operatorCredentials } from './operator-credentials.ts';
import { createPrometheusSource } from './prometheus/prometheus-source.ts';
import { checkLabels, type QueryPair } from './prometheus/promql.ts';
import { type CredentialsReader, createSecretCredentials } from './source-credentials.ts';
import type { ProviderContext, SourceCreation, UsageProvider } from './usage-providers.ts';

export const prometheusProvider: UsageProvider = {
  key: prometheusKey,
  create: (settings, context) =>
    createPrometheus(settings, context, { name: 'prometheus', trustedUrl: context.prometheus.url }),
};

/**
 * Equal for policies that would ask the same server the same way, so that they share its credentials and its being
 * down.
 */
export function prometheusKey({ prometheus = {}, policy }: UsageSettings): string {
  // Secrets are of the policy's namespace; without any, all policies that ask alike share a source.
  return JSON.stringify([namesSecrets(prometheus) ? policy.namespace : '', prometheus]);
}

function namesSecrets({ headersSecret, bearerTokenSecret, caSecret }: Partial<PrometheusAccess>): boolean {
  return headersSecret !== undefined || bearerTokenSecret !== undefined || caSecret !== undefined;
}

/** What the operator's configuration says of the source. */
export interface OwnPrometheus {
  readonly name: string;
  /** Asked where the policy names no address of its own. */
  readonly trustedUrl: string | undefined;
  /** Left out: the queries for the metrics of the kubelet. */
  readonly templates?: QueryPair;
}

export function createPrometheus(
  settings: UsageSettings,
  context: ProviderContext,
  { name, trustedUrl, templates }: OwnPrometheus,
): SourceCreation {
  const { prometheus = {} } = settings;
  const { url: ownUrl, labels = {} } = prometheus;
  const refuse = (message: string): SourceCreation => ({ ok: false, problem: { reason: 'Misconfigured', message } });
  const wrongLabel = checkLabels(labels);
  if (wrongLabel !== undefined) return refuse(wrongLabel);
  let url: URL | undefined;
  if (ownUrl !== undefined) {
    const verdict = checkPolicyUrl(ownUrl, context.prometheus.allowedUrls);
    if (!verdict.ok) return refuse(verdict.message);
    url = verdict.url;
  } else {
    if (trustedUrl === undefined || trustedUrl === '')
      return refuse(
        "no Prometheus is known: set prometheusURL (rightsizing.prometheus.url) in the operator's configuration, or metricsConfig.prometheus.url in the policy",
      );
    url = parseHttpUrl(trustedUrl);
    if (url === undefined)
      return refuse("the address of Prometheus in the operator's configuration is not an http or https URL");
  }
  // The operator's own credentials go to its own address only, and never together with a tenant's.
  const credentials: CredentialsReader =
    namesSecrets(prometheus) || ownUrl !== undefined
      ? createSecretCredentials(context.api, settings.policy.namespace, prometheus, context.clock)
      : operatorCredentials(context.prometheus.credentials);
  const { exchange, permits, prometheus: tuning } = context;
  return {
    ok: true,
    source: createPrometheusSource({
      name,
      url,
      labels,
      tuning,
      credentials,
      exchange,
      permits,
      ...(templates !== undefined && { templates }),
    }),
  };
}
