/** The chart as the suites on a real control plane install it: rendered by helm, applied but for its pods, which run as processes of this machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { isNotFound } from '../../src/api/kube-error.ts';
import type { Helm } from '../chart/helm.ts';
import { at, configTextOf, type Manifest, render, theOnly } from '../chart/render.ts';
import { applyObject, deleteObject, serviceAccounts } from './apply-objects.ts';

export const NAMESPACE = 'spotalis-system';
/** Name of the release, and so of what it installs. */
export const RELEASE = 'stowage';
export const ACCOUNT = 'stowage';
export const AGENT_ACCOUNT = `${RELEASE}-agent`;
export const WEBHOOK_CONFIGURATION = `${RELEASE}-mutating-webhook`;
export const CERTIFICATE_SECRET = `${RELEASE}-webhook-cert`;

export interface ReleaseOptions {
  readonly engines: Readonly<Partial<Record<'placement' | 'rightsizing' | 'allocation', boolean>>>;
  /** Sections of the configuration file, for every process. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Keys of the agents' ConfigMap. */
  readonly agentConfig?: Readonly<Record<string, string>>;
  /** Where the webhook's Service takes calls. */
  readonly servicePort: number;
  /** Folder where a Secret with a certificate of somebody else's is mounted; without it the operator makes its own. */
  readonly given?: { readonly certDir: string; readonly authorityPem: string };
}

/** Where one process is to listen, since all share this machine's address. */
export interface ProcessPorts {
  readonly webhook: number;
  readonly metrics: number;
  readonly health: number;
}

/** What the container of a rendered pod is started with. */
export interface PodCommand {
  readonly configText: string;
  /** `/etc/stowage/` stands for where the configuration is mounted. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Release {
  readonly objects: readonly Manifest[];
  /** Applies it, and leads the webhook's Service to this machine, since no node here resolves one. */
  apply(api: KubeApi): Promise<void>;
  /** Removes what {@link apply} has made, but for the namespace. */
  remove(api: KubeApi): Promise<void>;
  /** @param config further sections of the configuration file, for this process. */
  operatorPod(ports: ProcessPorts, config: Readonly<Record<string, unknown>>): PodCommand;
  /** Variables of the agent's container on this node. */
  agentEnv(node: string): Readonly<Record<string, string>>;
}

/** What only a real node could run or obey. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'Deployment',
  'DaemonSet',
  'PodDisruptionBudget',
  'NetworkPolicy',
]);
/** These suites tell whether decisions are right on a crowded machine; how fast they are is for bench/ to say. */
const WEBHOOK_TIMEOUT_SECONDS = 10;

export function renderRelease(programs: Helm, options: ReleaseOptions): Release {
  const { engines, agentConfig = {}, servicePort, given } = options;
  // A replica that is ended has no Service in front of it that must learn of that.
  const webhook = { shutdownDelay: '0s', ...(given !== undefined && { certDir: given.certDir }) };
  const renderWith = (config: Readonly<Record<string, unknown>>, port: number): readonly Manifest[] =>
    render(programs, {
      release: RELEASE,
      namespace: NAMESPACE,
      inline: {
        engines,
        config: { webhook, ...options.config, ...config },
        agent: { config: agentConfig },
        service: { webhookPort: servicePort },
        webhook: {
          port,
          timeoutSeconds: WEBHOOK_TIMEOUT_SECONDS,
          ...(given !== undefined && {
            tls: { existingSecret: CERTIFICATE_SECRET, caBundle: Buffer.from(given.authorityPem).toString('base64') },
          }),
        },
      },
    });
  const objects = renderWith({}, servicePort).filter(
    ({ metadata }) => metadata?.annotations?.['helm.sh/hook'] === undefined,
  );
  const applied = objects.filter(({ kind = '' }) => !WITHOUT_EFFECT.has(kind)).map(ledHere);
  return {
    objects,
    async apply(api) {
      await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
      for (const object of applied) await applyObject(api, object);
    },
    async remove(api) {
      // The webhooks first: every new pod would wait for one that is gone.
      const isWebhook = ({ kind }: KubeObject): boolean => kind?.endsWith('WebhookConfiguration') === true;
      for (const object of [...applied.filter(isWebhook), ...applied.filter((each) => !isWebhook(each))]) {
        await deleteObject(api, object).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    },
    operatorPod(ports, config) {
      const observability = {
        metrics: { bindAddress: `127.0.0.1:${ports.metrics}` },
        health: { bindAddress: `127.0.0.1:${ports.health}` },
      };
      const own = renderWith({ ...config, observability, web: { enabled: false } }, ports.webhook);
      const pod = at(theOnly(own, 'Deployment'), 'spec.template.spec');
      return { configText: configTextOf(own), args: textsAt(pod, 'containers.0.args'), env: envOf(pod, '127.0.0.1') };
    },
    agentEnv: (node) => envOf(at(theOnly(objects, 'DaemonSet'), 'spec.template.spec'), node),
  };
}

export interface BoundObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod' | 'Node';
  readonly name: string;
}

/**
 * Its account's token in a file, as a kubelet mounts it. @returns path of a kubeconfig that names it.
 * @param boundObjectRef what the token is bound to: it names that node, or that pod's.
 */
export async function accountKubeconfig(
  api: KubeApi,
  account: string,
  { url, caPem, directory }: { readonly url: string; readonly caPem: string; readonly directory: string },
  boundObjectRef?: BoundObject,
): Promise<string> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: account },
    spec: { expirationSeconds: 3600, ...(boundObjectRef !== undefined && { boundObjectRef }) },
  };
  const answer = await api.createSubresource(serviceAccounts, account, 'token', body, { namespace: NAMESPACE });
  const folder = join(
    directory,
    ['account', account, ...(boundObjectRef === undefined ? [] : [boundObjectRef.name])].join('-'),
  );
  mkdirSync(folder, { recursive: true });
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, String(at(answer, 'status.token')), { mode: 0o600 });
  const authorityData = Buffer.from(caPem).toString('base64');
  const kubeconfig = join(folder, 'kubeconfig');
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'pod',
    clusters: [{ name: 'pod', cluster: { server: url, 'certificate-authority-data': authorityData } }],
    users: [{ name: account, user: { tokenFile } }],
    contexts: [{ name: 'pod', context: { cluster: 'pod', user: account } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(content), { mode: 0o600 });
  return kubeconfig;
}

function ledHere(object: Manifest): KubeObject {
  if (object.kind !== 'Service') return object;
  const spec = at(object, 'spec');
  const here = { ...(typeof spec === 'object' ? spec : {}), type: 'ExternalName', externalName: 'localhost' };
  return { ...object, spec: here } as KubeObject;
}

/** @param place what stands for the pod's address and its node's name. */
function envOf(pod: unknown, place: string): Readonly<Record<string, string>> {
  const variables = at(pod, 'containers.0.env');
  return Object.fromEntries(
    (Array.isArray(variables) ? variables : []).map((variable: unknown) => {
      const [name, value, field] = ['name', 'value', 'valueFrom.fieldRef.fieldPath'].map((path) => at(variable, path));
      const told = field === 'metadata.namespace' ? NAMESPACE : place;
      return [String(name), typeof value === 'string' ? value : told];
    }),
  );
}

function textsAt(value: unknown, path: string): string[] {
  const texts = at(value, path);
  return (Array.isArray(texts) ? texts : []).map(String);
}
