/**
 * Defaults of pods and pod templates.
 * Source: kubernetes pkg/apis/core/v1/defaults.go and zz_generated.defaults.go; plugin/pkg/admission/defaulttolerationseconds.
 */
import { formatQuantity, tryParseQuantity } from '../../../lib/quantity.ts';
import { ensureObject, isObject, type JsonObject, objectAt, objectsAt, setDefault, stringAt } from '../json.ts';

/** Rewrites a resource list's quantities in canonical form, as a trip through the real server does. Bad ones stay for validation. */
export function canonicalQuantities(resources: JsonObject | undefined): void {
  if (resources === undefined) return;
  for (const [name, value] of Object.entries(resources)) {
    const quantity =
      typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value)) : undefined;
    if (quantity !== undefined) resources[name] = formatQuantity(quantity);
  }
}

/** An image without tag and digest, or tagged latest, is pulled always. */
function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  // What is no reference has no tag, not even the one that is meant where none is given.
  if (!/^[a-z0-9]/.test(image) || /[A-Z]/.test(image.split(':')[0] ?? '')) return 'IfNotPresent';
  const afterSlash = image.slice(image.lastIndexOf('/') + 1);
  const tag = afterSlash.includes(':') ? afterSlash.slice(afterSlash.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultHttpGet(action: JsonObject | undefined): void {
  if (action === undefined) return;
  setDefault(action, 'path', '/');
  setDefault(action, 'scheme', 'HTTP');
}

function defaultProbe(probe: JsonObject | undefined): void {
  if (probe === undefined) return;
  for (const [key, value] of Object.entries({
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  })) {
    if (probe[key] === 0) delete probe[key];
    setDefault(probe, key, value);
  }
  defaultHttpGet(objectAt(probe, 'httpGet'));
  const grpc = objectAt(probe, 'grpc');
  if (grpc !== undefined) setDefault(grpc, 'service', '');
}

function defaultContainer(container: JsonObject): void {
  if (!container['imagePullPolicy']) container['imagePullPolicy'] = pullPolicyFor(stringAt(container, 'image') ?? '');
  if (!container['terminationMessagePath']) container['terminationMessagePath'] = '/dev/termination-log';
  if (!container['terminationMessagePolicy']) container['terminationMessagePolicy'] = 'File';
  const resources = ensureObject(container, 'resources');
  canonicalQuantities(objectAt(resources, 'limits'));
  canonicalQuantities(objectAt(resources, 'requests'));
  for (const port of objectsAt(container, 'ports')) setDefault(port, 'protocol', 'TCP');
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(objectAt(container, probe));
  for (const hook of ['postStart', 'preStop']) defaultHttpGet(objectAt(container, 'lifecycle', hook, 'httpGet'));
  for (const variable of objectsAt(container, 'env')) {
    const fieldRef = objectAt(variable, 'valueFrom', 'fieldRef');
    if (fieldRef !== undefined) setDefault(fieldRef, 'apiVersion', 'v1');
    const resourceRef = objectAt(variable, 'valueFrom', 'resourceFieldRef');
    if (resourceRef !== undefined) setDefault(resourceRef, 'divisor', '0');
  }
}

/** File mode 0644. */
const FILE_MODE = 420;

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
  for (const source of ['configMap', 'secret', 'projected', 'downwardAPI']) {
    const found = objectAt(volume, source);
    if (found !== undefined) setDefault(found, 'defaultMode', FILE_MODE);
  }
  const hostPath = objectAt(volume, 'hostPath');
  if (hostPath !== undefined) setDefault(hostPath, 'type', '');
  const emptyDir = objectAt(volume, 'emptyDir');
  if (emptyDir?.['sizeLimit'] !== undefined) canonicalQuantities(emptyDir);
  const items = [
    ...objectsAt(volume, 'downwardAPI', 'items'),
    ...objectsAt(volume, 'projected', 'sources').flatMap((source) => objectsAt(source, 'downwardAPI', 'items')),
  ];
  for (const item of items) {
    const fieldRef = objectAt(item, 'fieldRef');
    if (fieldRef !== undefined) setDefault(fieldRef, 'apiVersion', 'v1');
  }
  for (const source of objectsAt(volume, 'projected', 'sources')) {
    const token = objectAt(source, 'serviceAccountToken');
    if (token !== undefined) setDefault(token, 'expirationSeconds', 3_600);
  }
}

/** Defaults of a pod spec, in a pod or in a template. */
export function defaultPodSpec(spec: JsonObject | undefined): void {
  if (spec === undefined) return;
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'])
    objectsAt(spec, list).forEach(defaultContainer);
  objectsAt(spec, 'volumes').forEach(defaultVolume);
  const account = spec['serviceAccountName'] || spec['serviceAccount'];
  if (typeof account === 'string' && account !== '') {
    spec['serviceAccountName'] = account;
    spec['serviceAccount'] = account;
  }
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'securityContext', {});
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'schedulerName', 'default-scheduler');
  for (const constraint of objectsAt(spec, 'topologySpreadConstraints')) {
    if (constraint['nodeAffinityPolicy'] === null) delete constraint['nodeAffinityPolicy'];
  }
  const resources = objectAt(spec, 'resources');
  canonicalQuantities(objectAt(resources, 'limits'));
  canonicalQuantities(objectAt(resources, 'requests'));
  canonicalQuantities(objectAt(spec, 'overhead'));
}

/** Defaults that only pods get, not templates: requests follow limits, service links are on, ports are the machine's. */
export function defaultPod(pod: JsonObject): void {
  const spec = ensureObject(pod, 'spec');
  defaultPodSpec(spec);
  for (const container of [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]) {
    if (spec['hostNetwork'] === true)
      for (const port of objectsAt(container, 'ports')) port['hostPort'] ||= port['containerPort'];
    const resources = ensureObject(container, 'resources');
    const limits = objectAt(resources, 'limits');
    if (limits === undefined || Object.keys(limits).length === 0) continue;
    const requests = ensureObject(resources, 'requests');
    for (const [name, value] of Object.entries(limits)) if (value !== undefined) setDefault(requests, name, value);
  }
  setDefault(spec, 'enableServiceLinks', true);
  if (typeof spec['terminationGracePeriodSeconds'] === 'number' && spec['terminationGracePeriodSeconds'] < 0)
    spec['terminationGracePeriodSeconds'] = 1;
}

/** Seconds a pod stays on a node that is not ready or not reachable, unless it says otherwise. */
const DEFAULT_TOLERATION_SECONDS = 300;

/** Admission plug-in DefaultTolerationSeconds. */
export function addDefaultTolerations(spec: JsonObject): void {
  const tolerations = Array.isArray(spec['tolerations']) ? spec['tolerations'] : [];
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const tolerated = tolerations.some(
      (toleration) =>
        isObject(toleration) &&
        (toleration['key'] === key || !toleration['key']) &&
        (toleration['effect'] === 'NoExecute' || !toleration['effect']),
    );
    if (!tolerated)
      tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: DEFAULT_TOLERATION_SECONDS });
  }
  spec['tolerations'] = tolerations;
}
