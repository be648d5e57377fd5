/** What people do with kubectl, done with the real one. Skipped where none is on the PATH. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { createSystemClock } from '../../lib/clock.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { type ApiServer, createApiServer } from './api-server.ts';
import type { ListeningServer } from './http/listen.ts';
import { createKubectl } from './testing/kubectl.ts';

const found = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' });
const hasKubectl = found.error === undefined;
if (!hasKubectl) console.log('kubectl tests skipped: no kubectl on the PATH');

const NODE = {
  metadata: { name: 'n1', labels: { 'node-role.kubernetes.io/worker': '' } },
  status: { capacity: { cpu: '4', memory: '8Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
};

describe.skipIf(!hasKubectl)(`with ${hasKubectl ? found.stdout.split('\n')[0] : 'kubectl'}`, () => {
  let server: ApiServer;
  let listening: ListeningServer;

  beforeAll(async () => {
    server = createApiServer({ clock: createSystemClock(), random: createSeededRandom(1) });
    listening = await server.listen();
    const api = server.client();
    await api.create(resources.nodes, NODE);
    await api.create(resources.pods, {
      metadata: { name: 'p1', namespace: 'default', labels: { app: 'p' } },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'main', image: 'image:1', resources: { requests: { cpu: '100m' } } }],
      },
    });
    const now = '2026-01-01T00:00:00Z';
    server.serveUsage({
      nodes: () => [{ name: 'n1', timestamp: now, window: '10s', usage: { cpu: '250m', memory: '1Gi' } }],
      pods: () => [
        {
          name: 'p1',
          namespace: 'default',
          timestamp: now,
          window: '10s',
          containers: [{ name: 'main', usage: { cpu: '7m', memory: '64Mi' } }],
        },
      ],
    });
  });
  afterAll(async () => {
    await server.close();
    await runner.cleanUp();
  });

  const runner = createKubectl(() => listening.url);
  const kubectl = runner.run;

  const manifest = (replicas: number, image = 'image:1'): string => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: "${image}", ports: [{ containerPort: 80 }] }] }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: web }
spec: { minAvailable: 1, selector: { matchLabels: { app: web } } }
`;

  test('apply creates, changes, and finds nothing to do', async () => {
    const first = await kubectl(['apply', '-f', '-'], manifest(2));
    expect(first.err).toBe('');
    expect(first.out).toBe('deployment.apps/web created\npoddisruptionbudget.policy/web created\n');
    expect((await kubectl(['apply', '-f', '-'], manifest(3, 'image:2'))).out).toContain(
      'deployment.apps/web configured',
    );
    expect((await kubectl(['apply', '-f', '-'], manifest(3, 'image:2'))).out).toContain(
      'deployment.apps/web unchanged',
    );
    const { spec } = await server.client().get(resources.deployments, 'web', { namespace: 'default' });
    expect(spec).toMatchObject({ replicas: 3, template: { spec: { containers: [{ image: 'image:2' }] } } });
  });

  test('server-side apply tells conflicts, and can be forced', async () => {
    const mine = manifest(7);
    const refused = await kubectl(['apply', '--server-side', '--field-manager', 'me', '-f', '-'], mine);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('conflicts with "kubectl-client-side-apply" using apps/v1');
    const forced = await kubectl(
      ['apply', '--server-side', '--force-conflicts', '--field-manager', 'me', '-f', '-'],
      mine,
    );
    expect(forced.out).toContain('deployment.apps/web serverside-applied');
  });

  test('get prints the columns people know', async () => {
    const pods = await kubectl(['get', 'pods', '-o', 'wide', '--all-namespaces']);
    expect(
      pods.out
        .split('\n')[0]
        ?.trim()
        .split(/\s{2,}/),
    ).toEqual([
      'NAMESPACE',
      'NAME',
      'READY',
      'STATUS',
      'RESTARTS',
      'AGE',
      'IP',
      'NODE',
      'NOMINATED NODE',
      'READINESS GATES',
    ]);
    expect(pods.out).toMatch(/default\s+p1\s+0\/1\s+Pending\s+0\s+\d+s\s+<none>\s+n1/);
    const nodes = await kubectl(['get', 'no']);
    expect(nodes.out).toMatch(/n1\s+Ready\s+worker\s+\d+s/);
    const budgets = await kubectl(['get', 'pdb']);
    expect(budgets.out).toMatch(/web\s+1\s+N\/A\s+0\s+\d+s/);
    expect((await kubectl(['get', 'all', '-o', 'name'])).out.split('\n')).toEqual(
      expect.arrayContaining(['pod/p1', 'deployment.apps/web']),
    );
    expect((await kubectl(['get', 'pod', 'none'])).err).toContain(
      'Error from server (NotFound): pods "none" not found',
    );
  });

  test('scale, patch, label, annotate and set image', async () => {
    expect((await kubectl(['scale', 'deploy', 'web', '--replicas=4'])).out).toBe('deployment.apps/web scaled\n');
    expect(
      (
        await kubectl([
          'patch',
          'deploy',
          'web',
          '-p',
          '{"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A","value":"1"}]}]}}}}',
        ])
      ).out,
    ).toContain('patched');
    expect(
      (
        await kubectl([
          'patch',
          'deploy',
          'web',
          '--type=json',
          '-p',
          '[{"op":"replace","path":"/spec/replicas","value":5}]',
        ])
      ).out,
    ).toContain('patched');
    expect((await kubectl(['set', 'image', 'deploy/web', 'main=image:9'])).out).toContain('image updated');
    expect((await kubectl(['label', 'deploy', 'web', 'tier=front'])).out).toContain('labeled');
    expect((await kubectl(['annotate', 'deploy', 'web', 'a/b=c'])).out).toContain('annotated');
    const after = await server.client().get(resources.deployments, 'web', { namespace: 'default' });
    expect(after).toMatchObject({
      metadata: { labels: { tier: 'front' }, annotations: { 'a/b': 'c' } },
      spec: {
        replicas: 5,
        template: { spec: { containers: [{ image: 'image:9', env: [{ name: 'A', value: '1' }] }] } },
      },
    });
  });

  test('describe tells of a pod and its events, and of a node and its pods', async () => {
    const api = server.client();
    const { metadata } = await api.get(resources.pods, 'p1', { namespace: 'default' });
    await api.create(resources.events, {
      metadata: { name: 'e1', namespace: 'default' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reason: 'Moved',
      action: 'Move',
      note: 'moved to spot',
      type: 'Normal',
      reportingController: 'stowage.io/operator',
      reportingInstance: 'operator-0',
      regarding: { kind: 'Pod', name: 'p1', namespace: 'default', uid: metadata?.uid ?? '' },
    });
    const pod = await kubectl(['describe', 'pod', 'p1']);
    expect(pod.out).toMatch(/Node:\s+n1/);
    expect(pod.out).toMatch(/Normal\s+Moved\s+.*stowage.io\/operator.*moved to spot/);
    const node = await kubectl(['describe', 'node', 'n1']);
    expect(node.out).toMatch(/default\s+p1\s+100m \(2%\)/);
  });

  test('top shows nodes and pods', async () => {
    expect((await kubectl(['top', 'node'])).out).toMatch(/n1\s+250m\s+6%\s+1024Mi\s+12%/);
    expect((await kubectl(['top', 'pod'])).out).toMatch(/p1\s+7m\s+64Mi/);
  });

  test('get -w follows changes', async () => {
    const child = runner.start(['get', 'cm', '-w', '-o', 'name', '-l', 'watched=yes']);
    const lines: string[] = [];
    const both = new Promise<void>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        lines.push(...chunk.split('\n').filter((line) => line !== ''));
        if (lines.includes('configmap/watched')) resolve();
      });
    });
    const api = server.client();
    await api.create(resources.configMaps, { metadata: { name: 'other', namespace: 'default' } });
    await api.create(resources.configMaps, {
      metadata: { name: 'watched', namespace: 'default', labels: { watched: 'yes' } },
    });
    await both;
    child.kill();
    expect(lines).toEqual(['configmap/watched']);
  });

  test('a definition makes its resources known, with columns and rules', async () => {
    const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, kind: Boat, shortNames: [bt] }
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns: [{ name: Sails, type: integer, jsonPath: .spec.sails }]
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [sails]
              properties: { sails: { type: integer, minimum: 1 }, colour: { type: string, default: white } }
            status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;
    expect((await kubectl(['apply', '-f', '-'], definition)).out).toContain('boats.example.com created');
    const boat = (sails: string, more = ''): string =>
      `{"apiVersion":"example.com/v1","kind":"Boat","metadata":{"name":"b"},"spec":{"sails":${sails}${more}}}`;
    const misspelt = await kubectl(['apply', '-f', '-'], boat('3', ',"color":"red"'));
    expect(misspelt.err).toContain('strict decoding error: unknown field "spec.color"');
    const wrong = await kubectl(['apply', '-f', '-'], boat('0'));
    expect(wrong.err).toContain(
      'spec.sails: Invalid value: 0: spec.sails in body should be greater than or equal to 1',
    );
    const dropped = await kubectl(['apply', '--validate=ignore', '-f', '-'], boat('3', ',"color":"red"'));
    expect(dropped.out).toContain('boat.example.com/b created');
    expect((await kubectl(['get', 'bt'])).out).toMatch(/NAME\s+SAILS\s+b\s+3/);
    expect(JSON.parse((await kubectl(['get', 'boat', 'b', '-o', 'json'])).out).spec).toEqual({
      sails: 3,
      colour: 'white',
    });
  });

  test('auth can-i, api-resources, version', async () => {
    expect((await kubectl(['auth', 'can-i', 'delete', 'pods'])).out.trim()).toBe('yes');
    expect((await kubectl(['api-resources', '-o', 'name'])).out.split('\n')).toEqual(
      expect.arrayContaining(['pods', 'deployments.apps', 'leases.coordination.k8s.io']),
    );
    expect((await kubectl(['version'])).out).toContain('v1.37.2');
  });

  test('drain evicts through the budget; delete waits until the object is gone', async () => {
    const drained = kubectl(['drain', 'n1', '--force', '--timeout=20s']);
    const api = server.client();
    // The kubelet's part: end what is being deleted.
    for await (const event of api.watch(resources.pods, { sendInitialEvents: true })) {
      if (event.type === 'ERROR' || event.object.metadata?.deletionTimestamp === undefined) continue;
      await api.delete(resources.pods, 'p1', { namespace: 'default', gracePeriodSeconds: 0 });
      break;
    }
    expect((await drained).out).toContain('node/n1 drained');
    expect((await kubectl(['delete', 'deploy,pdb', 'web'])).out).toContain('"web" deleted');
    expect((await kubectl(['get', 'deploy'])).err).toContain('No resources found');
  });

  test('every manifest of the test data applies', async () => {
    const folder = fileURLToPath(new URL('../../../test/fixtures/manifests', import.meta.url));
    const { out, err } = await kubectl(['apply', '--dry-run=server', '-R', '-f', folder]);
    expect(
      err
        .split('\n')
        .filter(
          (line) =>
            line !== '' &&
            !/no matches for kind "PodDisruptionBudget" in version "policy\/v1beta1"|ensure CRDs are installed/.test(
              line,
            ),
        ),
    ).toEqual([]);
    expect(out).toContain('server dry run');
  });
});
