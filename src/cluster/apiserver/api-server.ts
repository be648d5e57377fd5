/**
 * The embedded Kubernetes API server: a store, the registry's rules and the API's verbs, used in-process or over HTTP.
 * It runs no controllers; as a real control plane does, it leaves those to clients.
 */

import type { KubeApi } from '../../api/kube-api.ts';
import type { ResourceType } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { createFaultPlan, type FaultPlan } from '../faults/fault-plan.ts';
import { type AccessLog, createAccessLog } from './access-log.ts';
import { createPolicyAdmission } from './admission/validating-policies.ts';
import type { LocalWebhook } from './admission/webhook-call.ts';
import { createWebhookAdmission } from './admission/webhooks.ts';
import { type Authentication, createAuthentication } from './authentication.ts';
import { createBinding } from './binding.ts';
import { putBuiltInObjects } from './built-in-objects.ts';
import { followDefinitions } from './custom/custom-resources.ts';
import { createDeleter } from './deleter.ts';
import { createEviction } from './eviction.ts';
import { createGate } from './gate.ts';
import { createFront } from './http/front.ts';
import { createResourceHandler } from './http/handler.ts';
import { type ListeningServer, type ListenOptions, listen } from './http/listen.ts';
import { createTablePrinter } from './http/table.ts';
import { createInProcessClient } from './in-process-client.ts';
import { createManagedFields } from './managed-fields.ts';
import { createOperations, type Operations } from './operations.ts';
import { followQuotas } from './quota-status.ts';
import { createAuthorize, createRbac } from './rbac.ts';
import { createReader } from './reader.ts';
import { type Admission, type Caller, CLUSTER_ADMIN, callerNamed } from './request.ts';
import { reviewTypes } from './reviews.ts';
import { createCoreEventView } from './rules/events.ts';
import { createRuleTable } from './rules/rule-table.ts';
import type { RuleContext } from './served-type.ts';
import { createStorage } from './storage.ts';
import { createTypeRegistry, type TypeRegistry } from './type-registry.ts';
import { builtInTypes, serve } from './type-table.ts';
import { type ServedUsage, usageTypes } from './usage-metrics.ts';
import { createWatcher } from './watcher.ts';
import { createWriter } from './writer.ts';

/** Defaults are the real server's where it has the setting. */
export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** One line per noteworthy happening (webhook failures, faults). Default: silent. */
  readonly log?: (message: string) => void;
  /** Types served besides the built-in ones. */
  readonly resources?: readonly ResourceType[];
  /** Most events kept per type for watches and exact reads. Default 8,192. */
  readonly historyLimit?: number;
  /** History older than this is forgotten, as etcd's compaction does. Default five minutes. */
  readonly historyMillis?: number;
  /** Distance of watch bookmarks. Default one minute. */
  readonly bookmarkMillis?: number;
  /**
   * Whether every writer's fields are tracked in metadata.managedFields. Default true; simulations of many pods switch
   * it off to save memory, and then only server-side apply is tracked.
   */
  readonly managedFields?: boolean;
  /** Where Services named by webhook configurations can be reached, as `https://host:port`. */
  readonly resolveService?: (namespace: string, name: string, port: number) => string | undefined;
  /** Enforces the roles and bindings in the store; without it everyone may do everything. */
  readonly rbac?: boolean;
}

export interface ApiServer {
  readonly core: ApiServerCore;
  /** An in-process client; without a user, one that may do everything. */
  client(options?: { readonly user?: string | Caller }): KubeApi;
  readonly accessLog: AccessLog;
  /** Scripted faults, for HTTP and in-process clients alike. */
  readonly faults: FaultPlan;
  /** Tokens and their users, for HTTP callers. Without any, every caller is an administrator. */
  readonly authentication: Authentication;
  /** Serves the API on a socket; may be called more than once. */
  listen(options?: ListenOptions): Promise<ListeningServer>;
  /** Serves metrics.k8s.io from this source from now on. */
  serveUsage(source: ServedUsage): void;
  /** Ends all watches and timers, and closes every socket. */
  close(): Promise<void>;
}

/** What stands behind the HTTP and the in-process clients, for wiring and tests that no client can do. */
export interface ApiServerCore {
  readonly operations: Operations;
  readonly registry: TypeRegistry;
  /** The newest resourceVersion. */
  revision(): number;
  /** In-process webhooks by URL or `namespace/name` of the Service their configuration names; may change while running. */
  readonly localWebhooks: Map<string, LocalWebhook>;
  /** Forgets all history: older watches and continue tokens get 410. */
  compact(): void;
}

/**
 * A server at rest with what every server holds from its first moment: no socket is open before `listen`, and no timer
 * runs while nobody watches. Everything it draws comes from `random`, so that equal seeds give equal names and uids.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { clock, random } = options;
  const storage = createStorage({ clock, historyLimit: options.historyLimit ?? 8_192 });
  const registry = createTypeRegistry([
    ...builtInTypes(createRuleTable(), createCoreEventView()),
    ...(options.resources ?? []).map((type) => serve(type)),
  ]);
  const reader = createReader(storage);
  const definitions = registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (definitions !== undefined) {
    followDefinitions(storage.collection(definitions), registry, (type) => {
      // The write that removed the definition is still being told to watchers.
      queueMicrotask(() => {
        for (const object of storage.collection(type).range('')) storage.remove(type, object);
      });
    });
  }
  const historyMillis = options.historyMillis ?? 300_000;
  const watcher = createWatcher({
    storage,
    clock,
    random,
    bookmarkMillis: options.bookmarkMillis ?? 60_000,
    onTick: () => storage.compact(historyMillis),
  });
  const ruleContext = (user: string): RuleContext => ({
    nowMillis: clock.now(),
    user,
    list(plural, group, namespace) {
      const type = registry.find(group, 'v1', plural);
      if (type === undefined || storage.collection(type).size() === 0) return [];
      return reader.list(type, { namespace }).items;
    },
    find(plural, group, namespace, name) {
      const type = registry.find(group, 'v1', plural);
      return type === undefined ? undefined : reader.find(type, namespace, name);
    },
  });
  const none = () => undefined;
  const localWebhooks = new Map<string, LocalWebhook>();
  const log = options.log ?? none;
  const judge = createPolicyAdmission({ reader, registry });
  const webhooks = createWebhookAdmission({
    reader,
    registry,
    clock,
    random,
    log,
    localWebhooks,
    resolveService: options.resolveService,
  });
  const mutate: Admission = (attributes) => (attributes.context.isAdmitted ? undefined : webhooks.mutate(attributes));
  const validate: Admission = (attributes) => {
    if (attributes.context.isAdmitted) return undefined;
    judge(attributes);
    return webhooks.validate(attributes);
  };
  const writer = createWriter({
    storage,
    reader,
    clock,
    random,
    managedFields: options.managedFields === false ? { recordUpdate: none } : createManagedFields(clock),
    mutate,
    validate,
    ruleContext,
  });
  const [pods, quotas] = [registry.find('', 'v1', 'pods'), registry.find('', 'v1', 'resourcequotas')];
  if (pods !== undefined && quotas !== undefined) followQuotas({ storage, reader, writer, registry, pods, quotas });
  const deleter = createDeleter({ storage, reader, clock, mutate, validate });
  const actions = {
    eviction: createEviction({ reader, writer, deleter, clock, registry }),
    binding: createBinding({ reader, writer, clock, registry }),
  };
  const rbac = createRbac(reader, registry);
  const authorize = options.rbac ? createAuthorize(rbac) : undefined;
  const operations = createOperations({
    reader,
    revision: storage.revision,
    writer,
    deleter,
    watcher,
    applyRules: { reader, writer, clock },
    admission: { mutate, validate },
    authorize,
    actions,
  });
  const authentication = createAuthentication({ clock, anonymous: options.rbac ?? false });
  for (const type of reviewTypes({ authentication, rbac: options.rbac ? rbac : undefined, rules: rbac }))
    registry.add(type);
  const accessLog = createAccessLog();
  const faults = createFaultPlan(random);
  const gate = createGate({
    accessLog,
    authorize,
    faults,
    clock,
    random,
  });

  const table = createTablePrinter(clock);
  const front = createFront({
    registry,
    authentication,
    handleResource: createResourceHandler({ operations, registry, gate, table }),
    log,
  });
  const sockets = new Set<ListeningServer>();

  putBuiltInObjects(storage, clock, random);

  return {
    core: { operations, registry, localWebhooks, revision: () => storage.revision(), compact: () => storage.compact() },
    client({ user } = {}) {
      const caller = user === undefined ? CLUSTER_ADMIN : typeof user === 'string' ? callerNamed(user) : user;
      return createInProcessClient({ operations, registry, gate, caller });
    },
    accessLog,
    faults,
    authentication,
    serveUsage(source) {
      for (const type of usageTypes(source)) registry.add(type);
    },
    async listen(listenOptions) {
      const listening = await listen(front, listenOptions);
      sockets.add(listening);
      return listening;
    },
    async close() {
      watcher.close();
      await Promise.all([...sockets].map((listening) => listening.close()));
      sockets.clear();
    },
  };
}
