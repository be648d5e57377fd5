/** `provider: custom`: an endpoint, or a pair of PromQL templates, that the operator's configuration names. */
import { parseHttpUrl } from '../../lib/http-url.ts';
import { createCustomSource } from './custom-source.ts';
import { operatorCredentials } from './operator-credentials.ts';
import { createPrometheus, prometheusKey } from './provider-prometheus.ts';
import type { SourceCreation, UsageProvider } from './usage-providers.ts';

/** Addresses are the operator's own, so no allow-list is asked; policies give a name only. */
export const customProvider: UsageProvider = {
  key: (settings) => `${settings.custom?.name ?? ''} ${prometheusKey(settings)}`,
  create(settings, context) {
    const refuse = (message: string): SourceCreation => ({ ok: false, problem: { reason: 'Misconfigured', message } });
    const known = new Map(Object.entries(context.custom));
    const name = settings.custom?.name;
    if (name === undefined)
      return refuse("provider custom needs metricsConfig.custom.name: which of the operator's custom sources to use");
    const config = known.get(name);
    if (config === undefined) {
      const names = known.size === 0 ? 'it has none' : `it has ${[...known.keys()].join(', ')}`;
      return refuse(
        `the operator's configuration has no custom source ${JSON.stringify(name)} (rightsizing.custom: ${names})`,
      );
    }
    if ('queries' in config) {
      const trustedUrl = config.url ?? context.prometheus.url;
      return createPrometheus(settings, context, { name: `custom/${name}`, trustedUrl, templates: config.queries });
    }
    const url = parseHttpUrl(config.url);
    if (url === undefined)
      return refuse(`the address of the custom source ${JSON.stringify(name)} is not an http or https URL`);
    const { exchange, permits } = context;
    return {
      ok: true,
      source: createCustomSource({
        name: `custom/${name}`,
        url,
        credentials: operatorCredentials(config.credentials),
        exchange,
        permits,
      }),
    };
  },
};
