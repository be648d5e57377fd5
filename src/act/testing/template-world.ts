/**
 * A Deployment of a GitOps tool on a virtual cluster, for tests of what is written into templates and taken out of
 * them.
 */
import type { Deployment, KubeObject } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { startVirtualCluster, testNodes } from '../../cluster/testing/virtual-cluster.ts';
import type { RetemplateDecision } from '../../decide/size-decision.ts';
import { approve } from '../../guard/approved.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createProjections } from '../../observe/project.ts';
import { createRetemplate } from '../retemplate.ts';

const { signal } = new AbortController();
export const inDefault = { namespace: 'default' };

const usual = { requests: { memory: '64Mi' }, limits: { memory: '128Mi' } };

const manifest = (cpu: string, { requests, limits }: { readonly requests?: object; readonly limits: object }) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          { name: 'app', image: 'app:1', resources: { requests: { cpu, ...requests }, limits } },
          { name: 'log', image: 'log:1', resources: { requests: { cpu: '50m' } } },
        ],
      },
    },
  },
});

/** A Deployment applied by `gitops`, server-side. @param memory of container `app`. */
export async function createTemplateWorld(memory: Parameters<typeof manifest>[1] = usual) {
  const world = await startVirtualCluster({ nodes: testNodes(1) });
  const { api } = world.cluster;
  const project = createProjections(
    (message) => {
      throw new Error(message);
    },
    { sizing: true },
  );
  const sync = (cpu = '200m') =>
    api.patch(
      resources.deployments,
      'web',
      { type: 'apply', body: manifest(cpu, memory) },
      { ...inDefault, fieldManager: 'gitops' },
    );
  await sync();
  await world.seconds(20);
  const read = () => api.get(resources.deployments, 'web', inDefault);
  const record = async (): Promise<SizedWorkload> => {
    const sized = project.deployment(await read())?.sized;
    if (sized === undefined) throw new Error('not read');
    return sized;
  };
  const retemplate = async (known: SizedWorkload, changes: Partial<RetemplateDecision> = {}) => {
    const decision: RetemplateDecision = {
      kind: 'retemplate',
      engine: 'rightsizing',
      workload: { kind: 'Deployment', namespace: 'default', name: 'web' },
      workloadUid: known.uid,
      changes: [
        { container: 'app', to: { cpuRequest: 300 } },
        { container: 'log', to: { cpuRequest: 60 } },
      ],
      useServerSideApply: true,
      force: true,
      why: { summary: 'more', numbers: {} },
      ...changes,
    };
    return await createRetemplate({ api, workload: () => known })(approve(decision), signal);
  };
  return { world, api, sync, read, record, retemplate };
}

export const sizes = ({ spec }: Deployment) => spec?.template.spec?.containers.map(({ resources: amounts }) => amounts);
export const managersOf = ({ metadata }: KubeObject) =>
  (metadata?.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);
