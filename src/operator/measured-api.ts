/** A KubeApi that counts what is asked of it: verbs, resources, answers, durations. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi, ListOptions, WatchEvent, WatchOptions } from '../api/kube-api.ts';
import { KubeError, missingRight } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';

/** Codes of success are not reported by the port; 201 and 200 are not told apart. */
const SUCCESS = '200';
/** There was no answer: the connection broke, or the caller gave up. */
const NO_ANSWER = '0';
/** Behind the API server another one answers for it, and its `pods` are not those that informers follow. */
const METRICS_GROUP = 'metrics.k8s.io';
/** As authorization names it where it is told apart. */
const resourceOf = ({ group, plural }: ResourceType): string =>
  group === METRICS_GROUP ? `${plural}.${group}` : plural;
const at = (type: ResourceType, subresource: string | undefined): ResourceType =>
  subresource === undefined ? type : { ...type, plural: `${type.plural}/${subresource}` };

/**
 * `api` with each call counted by verb, resource and code (`0` without an answer), and timed in seconds. A watch is
 * counted when it ends by itself or breaks, not when its reader leaves; its time would say nothing.
 */
export function measureApi(api: KubeApi, metrics: Metrics, clock: Clock): KubeApi {
  const count = (verb: string, type: ResourceType, code: string): void =>
    metrics.inc('stowage_api_requests_total', { verb, resource: resourceOf(type), code });
  const countFailure = (verb: string, type: ResourceType, error: unknown): void => {
    count(verb, type, codeOf(error));
    const right = missingRight(error);
    if (right !== undefined)
      metrics.inc('stowage_api_rights_missing_total', { verb: right.verb, resource: right.resource });
  };

  const measure = async <T>(verb: string, type: ResourceType, call: () => Promise<T>): Promise<T> => {
    const startedAt = clock.now();
    try {
      const answer = await call();
      count(verb, type, SUCCESS);
      return answer;
    } catch (error) {
      countFailure(verb, type, error);
      throw error;
    } finally {
      metrics.observe('stowage_api_request_duration_seconds', { verb }, (clock.now() - startedAt) / 1000);
    }
  };

  /** A list in pages is one. Who asks for one object wants to know whether it may, or how far the server is; usage is nobody's to follow. */
  const countList = (type: ResourceType, options: ListOptions | undefined): void => {
    if (type.group !== METRICS_GROUP && options?.continueToken === undefined && options?.limit !== 1)
      metrics.inc('stowage_informer_lists_total', { resource: type.plural });
  };

  async function* watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const resource = type.plural;
    if (options.sendInitialEvents === true) metrics.inc('stowage_informer_lists_total', { resource });
    try {
      for await (const event of api.watch(type, options)) {
        metrics.inc('stowage_informer_events_total', { resource });
        yield event;
      }
      count('watch', type, SUCCESS);
    } catch (error) {
      countFailure('watch', type, error);
      throw error;
    }
  }

  const { listEach, discover } = api;
  return {
    get: (type, name, options) => measure('get', type, () => api.get(type, name, options)),
    list(type, options) {
      countList(type, options);
      return measure('list', type, () => api.list(type, options));
    },
    create: (type, object, options) => measure('create', type, () => api.create(type, object, options)),
    createSubresource: (type, name, subresource, body, options) =>
      measure('create', at(type, subresource), () => api.createSubresource(type, name, subresource, body, options)),
    replace: (type, object, options) =>
      measure('update', at(type, options?.subresource), () => api.replace(type, object, options)),
    patch: (type, name, patch, options) =>
      measure('patch', at(type, options?.subresource), () => api.patch(type, name, patch, options)),
    delete: (type, name, options) => measure('delete', type, () => api.delete(type, name, options)),
    watch: (type, options = {}) => watch(type, options),
    ...(discover !== undefined && { discover }),
    ...(listEach !== undefined && {
      listEach<T extends KubeObject>(type: ResourceType<T>, options: ListOptions, onItem: (item: T) => void) {
        countList(type, options);
        return measure('list', type, () => listEach(type, options, onItem));
      },
    }),
  };
}

function codeOf(error: unknown): string {
  return error instanceof KubeError ? String(error.httpStatus) : NO_ANSWER;
}
