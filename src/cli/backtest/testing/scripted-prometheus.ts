/** A Prometheus that knows a few containers and says what it is told to, for the tests of `--data prometheus`. */
import { escapeRegex } from '../../../observe/usage/prometheus/pod-pattern.ts';
import { type HttpSourceServer, type Received, serve } from '../../../observe/usage/testing/http-source.ts';

export interface ScriptedContainer {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Cores and bytes at an instant; undefined: no sample; text goes out as it is, such as NaN. */
  readonly cpu?: (at: number) => number | string | undefined;
  readonly memory?: (at: number) => number | string | undefined;
  /** As kube-state-metrics tells them. */
  readonly owner?: readonly [kind: string, name: string];
  readonly requests?: { readonly cpu?: string; readonly memory?: string };
}

export interface ScriptedAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Script {
  readonly containers?: readonly ScriptedContainer[];
  /** ReplicaSets and what is above them: `namespace/name` to kind and name. */
  readonly replicaSets?: Readonly<Record<string, readonly [kind: string, name: string]>>;
  /** Another answer than by the containers; undefined: none. */
  readonly answer?: (received: Received) => ScriptedAnswer | undefined;
  /** Beside data. */
  readonly more?: object;
}

export function servePrometheus({
  containers = [],
  replicaSets = {},
  answer,
  more = {},
}: Script): Promise<HttpSourceServer> {
  const reply = (result: readonly object[]): string => JSON.stringify({ status: 'success', data: { result }, ...more });
  return serve((received, response) => {
    const scripted = answer?.(received);
    if (scripted !== undefined) {
      response.statusCode = scripted.status;
      response.end(scripted.body);
      return;
    }
    const query = received.form.get('query') ?? '';
    response.end(reply(received.path.endsWith('query_range') ? matrix(received, query) : vector(query)));
  });

  function matrix({ form }: Received, query: string): object[] {
    const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
    const resource = query.includes('container_cpu_usage') ? 'cpu' : 'memory';
    return containers
      .filter((one) => matches(query, one))
      .flatMap((one) => {
        const values: [number, string][] = [];
        for (let at = start ?? 0; at <= (end ?? 0); at += step ?? 1) {
          const value = one[resource]?.(at * 1000);
          if (value !== undefined) values.push([at, String(value)]);
        }
        return values.length === 0 ? [] : [{ metric: { pod: one.pod, container: one.container }, values }];
      });
  }

  function vector(query: string): object[] {
    if (query.includes('kube_replicaset_owner')) {
      return Object.entries(replicaSets).map(([key, [kind, name]]) => {
        const [namespace, replicaset] = key.split('/');
        return sample({ namespace, replicaset, owner_kind: kind, owner_name: name }, '1');
      });
    }
    const asked = containers.filter((one) => matches(query, one));
    if (query.includes('kube_pod_owner')) {
      return asked.flatMap(({ namespace, pod, owner }) =>
        owner === undefined ? [] : [sample({ namespace, pod, owner_kind: owner[0], owner_name: owner[1] }, '1')],
      );
    }
    return asked.flatMap(({ namespace, pod, container, requests = {} }) =>
      Object.entries(requests).map(([resource, value]) => sample({ namespace, pod, container, resource }, value)),
    );
  }
}

const sample = (metric: object, value: string): object => ({ metric, value: [0, value] });

/** By the matchers of namespace and pod alone. */
function matches(query: string, { namespace, pod }: ScriptedContainer): boolean {
  const named = (label: string): RegExp | undefined => {
    const [, operator, quoted] = new RegExp(`[{,]${label}(=~?)("(?:[^"\\\\]|\\\\.)*")`).exec(query) ?? [];
    if (quoted === undefined) return undefined;
    const text = String(JSON.parse(quoted));
    return new RegExp(`^(?:${operator === '=' ? escapeRegex(text) : text})$`);
  };
  return named('namespace')?.test(namespace) !== false && named('pod')?.test(pod) !== false;
}
