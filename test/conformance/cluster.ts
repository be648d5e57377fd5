/** What a conformance test holds in its hand: one cluster, whichever it is, and helpers to make things in it. */
import { randomBytes } from 'node:crypto';
import { vi } from 'vitest';
import { deletePods, emptyNamespace } from './empty-namespace.ts';
import type { Answer, CallInit, Endpoint, Json } from './endpoint.ts';

/** A cluster under test. `embedded` is ours; `real` is Kubernetes' own control plane. */
export interface Backend {
  readonly name: 'embedded' | 'real';
  /** May do everything. */
  readonly admin: Endpoint;
  /** An endpoint with a client certificate for this user; undefined where the cluster's authority is not ours. */
  readonly endpointFor: ((user: string, groups: readonly string[]) => Promise<Endpoint>) | undefined;
  /** An endpoint without any credentials. */
  readonly anonymous: Endpoint;
  /** Makes the history up to now unreadable, as etcd's compaction does; undefined where we cannot. */
  readonly compact: (() => Promise<void>) | undefined;
  /** Nobody uses it after this run: what tests leave there may stay, as long as no controller works on it. */
  readonly endsWithRun: boolean;
  stop(): Promise<void>;
}

/** A namespace of its own for each test, with the paths in it. */
export interface Namespace {
  readonly name: string;
  readonly configMaps: string;
  readonly pods: string;
  readonly claims: string;
  readonly deployments: string;
  readonly replicaSets: string;
  readonly statefulSets: string;
  readonly budgets: string;
  readonly leases: string;
  readonly events: string;
}

function pathsOf(name: string): Namespace {
  const core = `/api/v1/namespaces/${name}`;
  const apps = `/apis/apps/v1/namespaces/${name}`;
  return {
    name,
    configMaps: `${core}/configmaps`,
    pods: `${core}/pods`,
    claims: `${core}/persistentvolumeclaims`,
    deployments: `${apps}/deployments`,
    replicaSets: `${apps}/replicasets`,
    statefulSets: `${apps}/statefulsets`,
    budgets: `/apis/policy/v1/namespaces/${name}/poddisruptionbudgets`,
    leases: `/apis/coordination.k8s.io/v1/namespaces/${name}/leases`,
    events: `/apis/events.k8s.io/v1/namespaces/${name}/events`,
  };
}

export interface Cluster {
  readonly backend: Backend;
  call(method: string, path: string, init?: CallInit): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  put(path: string, body: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
  delete(path: string, body?: unknown): Promise<Answer>;
  mergePatch(path: string, body: unknown): Promise<Answer>;
  strategicPatch(path: string, body: unknown): Promise<Answer>;
  jsonPatch(path: string, body: readonly unknown[]): Promise<Answer>;
  /** Server-side apply; the manager and `force` go into the path's query. */
  apply(path: string, body: unknown): Promise<Answer>;
  /** Like {@link Cluster.call}, and fails with the server's words unless the answer is a success: for a test's set-up. */
  must(answer: Promise<Answer>): Promise<Json>;
  namespace(): Promise<Namespace>;
  /** A node on which nothing is scheduled and no kubelet acts; pods get there by binding only. */
  node(): Promise<string>;
  /** Retries `assertion` until it holds: for what controllers do in their own time. */
  eventually<T>(assertion: () => Promise<T>): Promise<T>;
  /** Removes what {@link Cluster.namespace} and {@link Cluster.node} have made, or what of it works on where the cluster ends with the run. */
  cleanUp(): Promise<void>;
}

const NAMESPACES = '/api/v1/namespaces/';
const isNamespace = (path: string): boolean => path.startsWith(NAMESPACES);

const EVENTUALLY = { timeout: 100_000, interval: 50 };

/** Digs into JSON: `at(body, 'spec', 'containers', 0, 'image')`; undefined where there is nothing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string') throw new Error(`no text at ${path.join('.')}: ${JSON.stringify(found)}`);
  return found;
}

export function itemsOf(answer: Answer): Json[] {
  const items = at(answer.body, 'items');
  if (!Array.isArray(items)) throw new Error(`no list, but ${answer.status}: ${answer.text}`);
  return items;
}

export function namesOf(answer: Answer): string[] {
  return itemsOf(answer).map((item) => textAt(item, 'metadata', 'name'));
}

/** A name no other test uses, on a cluster that may be older than this run. */
function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`;
}

export function createCluster(backend: Backend): Cluster {
  const made: string[] = [];
  const call: Cluster['call'] = (method, path, init) => backend.admin.call(method, path, init);
  const must: Cluster['must'] = async (answer) => {
    const { status, body, text } = await answer;
    if (status < 200 || status > 299) throw new Error(`set-up failed: ${status} ${text}`);
    return body;
  };
  const patch = (subtype: string) => (path: string, body: unknown) =>
    call('PATCH', path, { body, contentType: `application/${subtype}` });
  return {
    backend,
    call,
    must,
    post: (path, body) => call('POST', path, { body }),
    put: (path, body) => call('PUT', path, { body }),
    get: (path) => call('GET', path),
    delete: (path, body) => call('DELETE', path, body === undefined ? {} : { body }),
    mergePatch: patch('merge-patch+json'),
    strategicPatch: patch('strategic-merge-patch+json'),
    jsonPatch: patch('json-patch+json'),
    apply: patch('apply-patch+yaml'),
    async namespace() {
      const name = uniqueName('conformance');
      await must(call('POST', '/api/v1/namespaces', { body: { metadata: { name } } }));
      made.push(`/api/v1/namespaces/${name}`);
      return pathsOf(name);
    },
    async node() {
      const name = uniqueName('conformance-node');
      await must(call('POST', '/api/v1/nodes', { body: { metadata: { name }, spec: { unschedulable: true } } }));
      made.push(`/api/v1/nodes/${name}`);
      return name;
    },
    eventually: (assertion) => vi.waitFor(assertion, EVENTUALLY),
    async cleanUp() {
      const [namespaces, nodes] = [made.filter(isNamespace), made.filter((path) => !isNamespace(path))];
      made.length = 0;
      for (const path of namespaces) {
        const name = path.slice(NAMESPACES.length);
        if (backend.endsWithRun) {
          await emptyNamespace(backend.admin, name);
          continue;
        }
        await call('DELETE', path);
        // No kubelet would ever confirm the end of bound pods; the namespace would stay with them.
        await deletePods(backend.admin, name);
      }
      for (const path of nodes) await call('DELETE', path);
    },
  };
}
