/** The plain manifests of deploy/, rendered from the Helm chart: for those who do not use helm, and for the suites. */
import type { Helm } from '../test/chart/helm.ts';
import { runHelm } from '../test/chart/helm.ts';

/** As the configuration's defaults have them, so that a process without a configuration file finds them. */
const NAMES = [
  '--set=service.name=spotalis',
  '--set=webhook.configurationName=spotalis-mutating-webhook',
  '--set=webhook.tls.existingSecret=spotalis-webhook-cert',
];
const NAMESPACE = 'spotalis-system';
const BY_CHART = '# Rendered from charts/stowage by `npm run manifests`; edit that.';

interface ManifestSpec {
  readonly path: string;
  /** Comment at the top of the file, without `#`. */
  readonly about: string;
  /** Arguments of `helm template` besides names. */
  readonly args: readonly string[];
  /** The namespace's own object goes first. */
  readonly withNamespace?: boolean;
}

const only = (...templates: readonly string[]): string[] =>
  templates.map((template) => `--show-only=templates/${template}.yaml`);
const engines = (placement: boolean, rightsizing: boolean, allocation: boolean): string =>
  `--set=engines.placement=${placement},engines.rightsizing=${rightsizing},engines.allocation=${allocation}`;

/** Parts, for those who run the operator in a way of their own. */
const parts: readonly ManifestSpec[] = [
  {
    path: 'deploy/rbac.yaml',
    about:
      'Exactly what the operator calls for placement, and nothing else. Workloads are only read: Stowage never edits one.',
    args: [...NAMES, ...only('serviceaccount', 'rbac/cluster', 'rbac/leader')],
    withNamespace: true,
  },
  {
    path: 'deploy/rbac-argo.yaml',
    about: 'In addition to rbac.yaml, where Argo Rollouts are to be placed as Deployments are.',
    args: [...NAMES, ...only('rbac/argo-rollouts')],
  },
  {
    path: 'deploy/rbac-self-certificates.yaml',
    about:
      'In addition to rbac.yaml, for webhook.certificates: self. Not needed with cert-manager or certificates of your own.',
    args: [
      ...NAMES,
      '--set=webhook.tls.existingSecret=,webhook.tls.secretName=spotalis-webhook-cert',
      ...only('rbac/certificates'),
    ],
  },
  {
    path: 'deploy/rbac-namespaced.yaml',
    about:
      'Instead of rbac.yaml: Roles and no ClusterRole. Repeat the Role stowage and its binding for each namespace in\ncontrollers.watchNamespaces (here: shop). What is lost is told in docs/namespace-scope.md.',
    args: [
      ...NAMES,
      '--set=rbac.scope=namespace',
      '--set=config.controllers.watchNamespaces={shop}',
      ...only('serviceaccount', 'rbac/namespaced', 'rbac/leader'),
    ],
  },
  {
    path: 'deploy/webhook.yaml',
    about:
      'Registers the webhook. caBundle is filled in by whoever issues the certificate (cert-manager: annotate with\ncert-manager.io/inject-ca-from; by hand: base64 of the PEM of its authority).',
    args: [...NAMES, ...only('service', 'webhook')],
  },
];

/** Whole installations, what `stowage manifests` prints. */
const profiles: readonly ManifestSpec[] = [
  { path: 'placement', about: 'Placement', args: [engines(true, false, false)] },
  { path: 'rightsizing', about: 'Rightsizing', args: [engines(false, true, false)] },
  { path: 'allocation', about: 'Allocation', args: [engines(false, false, true)] },
  { path: 'all', about: 'Placement, rightsizing and allocation', args: [engines(true, true, true)] },
].map(({ path, about, args }) => ({
  path: `deploy/profiles/${path}.yaml`,
  about: `${about}: the whole installation but for definitions of kinds (deploy/crds.yaml), for kubectl apply --server-side -f.`,
  args: [...args, '--skip-tests'],
  withNamespace: true,
}));

/** Every file of deploy/ by path. @throws Error when helm refuses. */
export function renderDeployManifests(programs: Helm, root: string): ReadonlyMap<string, string> {
  return new Map([...parts, ...profiles].map((spec) => [spec.path, render(spec, programs, root)]));
}

function render({ path, about, args, withNamespace = false }: ManifestSpec, programs: Helm, root: string): string {
  const command = ['template', 'stowage', 'charts/stowage', `--namespace=${NAMESPACE}`, ...args];
  const { status, stdout, stderr } = runHelm(programs, command, root);
  if (status !== 0) throw new Error(`${path}: helm ${command.join(' ')}: ${stderr}`);
  const namespace = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${NAMESPACE}\n`;
  const documents = [...(withNamespace ? [namespace] : []), ...plainDocuments(stdout)];
  const head = about.split('\n').map((line) => `# ${line}`);
  return `${[...head, BY_CHART].join('\n')}\n${documents.join('---\n')}`;
}

/** What only says that helm did it is left out: there is no release to belong to. */
function plainDocuments(text: string): string[] {
  return text
    .split(/^---\n/m)
    .map((document) =>
      document
        .replace(/^# Source: .*\n/gm, '')
        .replace(/^ *(?:helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm, '')
        .replace(/\n{2,}/g, '\n')
        .trim(),
    )
    .filter((document) => document !== '')
    .map((document) => `${document}\n`);
}
