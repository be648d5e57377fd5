/** Opens the port of the dashboard. Most operators are never looked at: its code is loaded with the first question. */
import type { Config } from '../config/schema.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { workloadKey } from '../model/cluster-view.ts';
import type { SizingView } from '../model/sizing-view.ts';
import { listClientFiles, readClientFile } from '../web/dashboard/client-files.ts';
import type { DashboardApi } from '../web/dashboard/dashboard-api.ts';
import { apiPaths } from '../web/dashboard/dashboard-paths.ts';
import { createRequestGuard, securityHeaders } from '../web/dashboard/request-guard.ts';
import type { AllocationSource, DashboardSources, RightsizingSource } from '../web/dashboard/sources.ts';
import { type EndpointServer, type StreamEndpoint, startEndpointServer } from '../web/endpoint-server.ts';
import type { Allocation } from './allocation.ts';
import type { Rightsizing } from './rightsizing.ts';
import type { Sizing } from './sizing.ts';

export interface ServeDashboardOptions
  extends Omit<DashboardSources, 'sizingView' | 'rightsizing' | 'allocation' | 'reports' | 'operator'> {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly sizing: Sizing | undefined;
  readonly identity: string;
  readonly isLeader: () => boolean;
  readonly leader: () => string | undefined;
  readonly log: Logger;
}

/**
 * Undefined where it is off, or its port cannot be had: nothing else depends on it, so the operator goes on, and the
 * log says why.
 */
export async function serveDashboard(options: ServeDashboardOptions): Promise<EndpointServer | undefined> {
  const { enabled, bindAddress, allowedHosts } = options.config().web;
  if (!enabled) return undefined;
  const log = options.log.child('dashboard');
  try {
    return await startEndpointServer({
      name: 'dashboard',
      address: bindAddress,
      endpoints: dashboardEndpoints(sourcesOf(options)),
      authorize: createRequestGuard({ allowedHosts }),
      headers: securityHeaders,
      log,
    });
  } catch (error) {
    log.error({ error: describeError(error) }, 'There is no dashboard; set web.bindAddress or web.enabled');
    return undefined;
  }
}

/** All paths are known at the start, so that others answer 404 without loading anything. */
function dashboardEndpoints(sources: DashboardSources): Record<string, StreamEndpoint> {
  let loaded: Promise<DashboardApi> | undefined;
  const api = (): Promise<DashboardApi> => {
    loaded ??= import('../web/dashboard/dashboard-api.ts').then(({ createDashboardApi }) =>
      createDashboardApi(sources),
    );
    return loaded;
  };
  const answers = apiPaths.map((path): [string, StreamEndpoint] => [
    path,
    async (query, gone) => (await api())[path](query, gone),
  ]);
  const files = [...listClientFiles()].map(([path, name]): [string, StreamEndpoint] => [
    path,
    () => readClientFile(name),
  ]);
  return Object.fromEntries([...answers, ...files]);
}

function sourcesOf(options: ServeDashboardOptions): DashboardSources {
  const { sizing, config, identity, isLeader, leader } = options;
  return {
    ...options,
    sizingView: sizing?.view,
    rightsizing: sizing?.rightsizing && rightsizingSource(sizing.rightsizing, sizing.view),
    allocation: sizing?.allocation && allocationSource(sizing.allocation),
    reports: config().web.reports,
    operator() {
      const { operator, engines } = config();
      const other = leader();
      return {
        identity,
        isLeader: isLeader(),
        leader: other === identity ? undefined : other,
        readOnly: operator.readOnlyMode,
        engines,
      };
    },
  };
}

function rightsizingSource({ engine, policies, usage }: Rightsizing, view: SizingView): RightsizingSource {
  return {
    explain: engine.explain,
    policies: policies.policies,
    bookOf: engine.books.of,
    profileOf: usage.profileOf,
    outcomeOf(ref) {
      const workload = view.workload(ref);
      const policy = workload && engine.controller.select(workload).winner;
      return policy && { policy, result: engine.books.of(policy.uid).results.get(workloadKey(ref)) };
    },
  };
}

function allocationSource({ engine, stores }: Allocation): AllocationSource {
  return {
    explain: engine.explain,
    of: stores.of,
    all: stores.all,
    agentOf: engine.agents.stateOf,
    onChange: stores.onChange,
  };
}
