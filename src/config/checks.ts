/** Checks that concern several keys at once, and the values that follow from several. */

import { formatDuration } from '../lib/duration.ts';
import { parseWindow } from '../lib/schedule.ts';
import { quoted } from '../lib/shortened.ts';
import type { BindAddress } from './config-key.ts';
import type { Config } from './schema.ts';

/** A contradiction between keys that are valid one by one. */
export interface CheckProblem {
  /** The key or section it is about, for the line number. */
  readonly path: string;
  /** Begins with the path. */
  readonly message: string;
}

type ProfileNames = NonNullable<Config['controllers']['nodeClassifier']['profiles']>;

/** The profiles in force: those chosen, else Karpenter's unless own selectors say what is what. */
export function nodeProfilesOf(config: Config): ProfileNames {
  const { profiles, spotLabels, onDemandLabels } = config.controllers.nodeClassifier;
  return profiles ?? (spotLabels.length + onDemandLabels.length > 0 ? [] : ['karpenter']);
}

/** The namespace of the Lease. */
export function leaseNamespaceOf({ operator }: Config): string {
  return operator.leaderElection.namespace === '' ? operator.namespace : operator.leaderElection.namespace;
}

/**
 * Every contradiction of a configuration whose keys are valid one by one. All checks run: whoever mends a file wants to
 * do so once.
 */
export function checkConfig(config: Config): CheckProblem[] {
  return [
    checkWindow,
    checkWebhook,
    checkMetricsTls,
    checkLease,
    checkBackoff,
    checkAllocation,
    checkSurge,
    checkNodeClasses,
    checkPorts,
    checkScope,
    checkOwners,
  ].flatMap((check) => check(config));
}

function checkWindow({ operator }: Config): CheckProblem[] {
  const path = 'operator.disruptionWindow';
  const { schedule, duration } = operator.disruptionWindow;
  if (schedule === '' && duration === '') return [];
  if (schedule === '' || duration === '') {
    return [{ path, message: `${path}: schedule and duration must be specified together` }];
  }
  const result = parseWindow(schedule, duration);
  if (result.ok) return [];
  return result.problems.map(({ part, value, accepted }) => ({
    path: `${path}.${part}`,
    message: `${path}: ${part} is not valid: ${quoted(value)}; accepted: ${accepted}`,
  }));
}

function checkMetricsTls({ webhook, observability }: Config): CheckProblem[] {
  const path = 'observability.metrics.tls';
  return observability.metrics.tls && !webhook.enabled
    ? [{ path, message: `${path} needs webhook.enabled: it is the certificate of the webhook that is served` }]
    : [];
}

function checkWebhook({ webhook }: Config): CheckProblem[] {
  const path = 'webhook.port';
  return webhook.enabled && webhook.port < 1
    ? [{ path, message: `${path} must be positive when webhook is enabled` }]
    : [];
}

/** What leader election can work with (kube/leader.ts): it spreads its tries by 1.2, as client-go. */
function checkLease({ operator }: Config): CheckProblem[] {
  const { leaseDuration, renewDeadline, retryPeriod } = operator.leaderElection;
  const section = 'operator.leaderElection';
  const path = `${section}.leaseDuration`;
  // The Lease object has no place for fractions.
  const message = `${path} must be whole seconds: ${formatDuration(leaseDuration)}`;
  return [
    ...(leaseDuration % 1000 === 0 ? [] : [{ path, message }]),
    ...shorter(`${section}.renewDeadline`, renewDeadline, 'leaseDuration', leaseDuration),
    ...shorter(`${section}.retryPeriod`, Math.ceil(retryPeriod * 1.2), 'renewDeadline', renewDeadline, 'times 1.2 '),
  ];
}

function shorter(path: string, millis: number, otherName: string, otherMillis: number, how = ''): CheckProblem[] {
  if (millis < otherMillis) return [];
  const message = `${path} ${how}must be shorter than ${otherName}: ${formatDuration(millis)} is not below ${formatDuration(otherMillis)}`;
  return [{ path, message }];
}

function checkBackoff({ placement }: Config): CheckProblem[] {
  const { initial, max } = placement.moveBackoff;
  const path = 'placement.moveBackoff.max';
  if (initial <= max) return [];
  return [{ path, message: `${path} must be at least placement.moveBackoff.initial (${formatDuration(initial)})` }];
}

/** Pods of a node share its CPU whichever namespace they are in: with some of them out of sight there is no sum. */
function checkAllocation({ engines, controllers }: Config): CheckProblem[] {
  const path = 'engines.allocation';
  if (!engines.allocation || controllers.watchNamespaces.length === 0) return [];
  return [
    { path, message: `${path} does not go with controllers.watchNamespaces: the pods of a node must all be seen` },
  ];
}

/** Said rather than ignored: a key that does nothing would pass for a promise. */
function checkSurge({ placement }: Config): CheckProblem[] {
  const path = 'placement.surge';
  if (!placement.surge) return [];
  const why = 'a replacement can only come first by editing replicas or template, which Stowage never does';
  return [{ path, message: `${path}: true is not supported; accepted: false (${why})` }];
}

function checkNodeClasses(config: Config): CheckProblem[] {
  const path = 'controllers.nodeClassifier';
  const { spotLabels, onDemandLabels, absenceMeansOnDemand } = config.controllers.nodeClassifier;
  if (nodeProfilesOf(config).length > 0) return [];
  if (spotLabels.length === 0)
    return [{ path, message: `${path} has no rule for spot nodes: add spotLabels or choose a profile` }];
  if (onDemandLabels.length > 0 || absenceMeansOnDemand === true) return [];
  return [
    {
      path,
      message: `${path} has no rule for on-demand nodes: add onDemandLabels, set absenceMeansOnDemand to true, or choose a profile`,
    },
  ];
}

function checkScope({ controllers }: Config): CheckProblem[] {
  const path = 'controllers.namespaceSelector';
  const { watchNamespaces, namespaceSelector } = controllers;
  if (watchNamespaces.length === 0 || namespaceSelector === undefined) return [];
  const why = 'labels of namespaces cannot be read with Roles alone';
  return [{ path, message: `${path} does not go with controllers.watchNamespaces (${why}); leave one of them out` }];
}

/** Workloads are told apart by kind, namespace and name, in metrics and in events. */
function checkOwners({ placement }: Config): CheckProblem[] {
  const path = 'placement.owners';
  const taken = new Set(['Deployment', 'StatefulSet', 'ReplicaSet']);
  return placement.owners.flatMap(({ apiVersion, kind }) => {
    if (!taken.has(kind)) {
      taken.add(kind);
      return [];
    }
    return [{ path, message: `${path}: ${apiVersion} ${kind} cannot be added, there is a kind of this name already` }];
  });
}

function checkPorts({ webhook, web, observability }: Config): CheckProblem[] {
  const servers: readonly (readonly [string, boolean, BindAddress])[] = [
    ['webhook.port', webhook.enabled, { host: undefined, port: webhook.port }],
    ['web.bindAddress', web.enabled, web.bindAddress],
    ['observability.metrics.bindAddress', observability.metrics.enabled, observability.metrics.bindAddress],
    ['observability.health.bindAddress', observability.health.enabled, observability.health.bindAddress],
  ];
  const active = servers.filter(([, enabled, { port }]) => enabled && port !== 0);
  return active.flatMap(([path, , { host, port }], index) => {
    const taken = active.slice(0, index).find(([, , other]) => other.port === port && sharesHost(other.host, host));
    return taken === undefined
      ? []
      : [{ path, message: `${path} takes port ${port}, which ${taken[0]} takes already` }];
  });
}

function sharesHost(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}
