/** Sizes in pod templates: who owns them by server-side apply, and how they are given back. */
import { expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { workload } from './objects.ts';

describeOnBackends('sizes in templates', (cluster) => {
  const applied = (cpu: string): Json => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a' },
    spec: { template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } } },
  });
  const managersOf = (body: Json): unknown[] =>
    ((at(body, 'metadata', 'managedFields') as Json[] | undefined) ?? []).map(({ manager }) => manager);

  test('a conflict names the other manager and the field', async () => {
    const { apply, must, namespace } = cluster();
    const own = await namespace();
    const base = workload('a', 0);
    await must(
      apply(`${own.deployments}/a?fieldManager=gitops`, { apiVersion: 'apps/v1', kind: 'Deployment', ...base }),
    );
    await must(
      apply(`${own.deployments}/a?fieldManager=gitops&force=true`, {
        ...applied('100m'),
        spec: mergedSpec(base, '100m'),
      }),
    );
    const answer = await apply(`${own.deployments}/a?fieldManager=optipod`, applied('200m'));
    expect(answer.status).toBe(409);
    expect(at(answer.body, 'details', 'causes', 0)).toMatchObject({ reason: 'FieldManagerConflict' });
    expect(textAt(answer.body, 'message')).toContain('gitops');
  });

  test('ownership is given back by taking our entry out of managedFields: the values stay', async () => {
    const { apply, get, must, mergePatch, namespace, eventually } = cluster();
    const own = await namespace();
    const base = workload('a', 0);
    await must(
      apply(`${own.deployments}/a?fieldManager=gitops`, { apiVersion: 'apps/v1', kind: 'Deployment', ...base }),
    );
    await must(apply(`${own.deployments}/a?fieldManager=optipod&force=true`, applied('200m')));
    // The deployment controller writes its status meanwhile.
    const body = await eventually(async () => {
      const { body: now } = await get(`${own.deployments}/a`);
      expect(managersOf(now)).toContain('optipod');
      const kept = (at(now, 'metadata', 'managedFields') as Json[]).filter(({ manager }) => manager !== 'optipod');
      const metadata = { resourceVersion: textAt(now, 'metadata', 'resourceVersion'), managedFields: kept };
      await must(mergePatch(`${own.deployments}/a?fieldManager=optipod`, { metadata }));
      return now;
    });
    const after = (await get(`${own.deployments}/a`)).body;
    expect(managersOf(after)).not.toContain('optipod');
    expect(at(after, 'spec', 'template', 'spec', 'containers', 0, 'resources', 'requests', 'cpu')).toBe('200m');
    expect(at(after, 'metadata', 'generation')).toBe(at(body, 'metadata', 'generation'));
    // Nobody owns it now: the next apply of the owner takes it without force.
    const sync = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: mergedSpec(base, '50m'),
    };
    expect((await apply(`${own.deployments}/a?fieldManager=gitops`, sync)).status).toBe(200);
  });
});

/** The spec of a workload with a CPU request in its template. */
function mergedSpec(base: Json, cpu: string): Json {
  const spec = at(base, 'spec') as Json;
  const template = at(spec, 'template') as Json;
  const podSpec = at(template, 'spec') as Json;
  const containers = (podSpec['containers'] as Json[]).map((container) => ({
    ...container,
    resources: { requests: { cpu } },
  }));
  return { ...spec, template: { ...template, spec: { ...podSpec, containers } } };
}
