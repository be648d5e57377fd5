/** Helm leaves installed definitions as they are: an operator of a later version writes into those of an earlier one. */
import { describe, expect, test } from 'vitest';
import { type CustomResourceDefinition, customResourceDefinition, customResourceDefinitions } from '../api/crd/crd.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import { podAllocationDescription } from '../api/pod-allocation-schema.ts';
import { isRecord, memberOf } from '../lib/is-record.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createPods, startAllocatedWorld } from './testing/allocated-world.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { createPolicy, deployLoaded, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { MINUTE } from './testing/steps.ts';

/** The definition as it was before its status had this field. */
function earlier(definition: CustomResourceDefinition, field: string): CustomResourceDefinition {
  const older = structuredClone(definition);
  for (const { schema } of older.spec.versions) {
    const fields: unknown = memberOf(memberOf(memberOf(schema.openAPIV3Schema, 'properties'), 'status'), 'properties');
    if (!isRecord(fields) || !Reflect.deleteProperty(fields, field)) throw new Error(`there is no ${field}`);
  }
  return older;
}

function heard(): { readonly log: Logger; readonly outdated: () => readonly string[] } {
  const lines: string[] = [];
  const log = createLogger({
    level: 'warn',
    format: 'text',
    clock: createVirtualClock(0),
    write: (line) => lines.push(line),
  });
  return { log, outdated: () => lines.filter((line) => line.includes('is older than this version of Stowage')) };
}

async function install(world: EmbeddedWorld, definition: CustomResourceDefinition): Promise<void> {
  const name = definition.metadata.name;
  const { metadata } = await world.api.get(customResourceDefinitions, name);
  await world.api.replace(customResourceDefinitions, { ...definition, metadata: { ...metadata, name } });
}

describe('a definition that is older than the operator', () => {
  test('of PodAllocations: it is told once, and statuses are not written again and again', async () => {
    const { log, outdated } = heard();
    const world = await startAllocatedWorld({ log });
    await install(world, earlier(customResourceDefinition(podAllocationDescription), 'reason'));
    await createPods(world.api, [
      { name: 'web', cpu: '300m' },
      { name: 'job', cpu: '900m' },
    ]);
    await world.until('applied', async () => (await world.allocation('web'))?.status?.phase === 'Applied', 3 * MINUTE);
    expect((await world.allocation('web'))?.status).not.toHaveProperty('reason');
    await world.clock.advance(3 * MINUTE);
    const writes = () => world.operatorWrites.filter((write) => write.endsWith('podallocations')).length;
    const known = writes();
    await world.clock.advance(5 * MINUTE);
    expect(writes() - known).toBeLessThanOrEqual(4);
    expect(outdated()).toHaveLength(1);
    expect(outdated()[0]).toMatch(
      /podallocations\.allocation\.mbcas\.io.*status\.reason|status\.reason.*podallocations/,
    );
  });

  test('of OptimizationPolicies: the same', async () => {
    const { log, outdated } = heard();
    const world = await startSizedWorld({ log });
    for (const description of crdDescriptions)
      if (description.kind === 'OptimizationPolicy')
        await install(world, earlier(customResourceDefinition(description), 'workloadsProcessed'));
    await deployLoaded(world);
    await createPolicy(world);
    await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
    await world.clock.advance(3 * MINUTE);
    const writes = () => world.operatorWrites.filter((write) => write.endsWith('optimizationpolicies')).length;
    const known = writes();
    await world.clock.advance(5 * MINUTE);
    expect(writes() - known).toBeLessThanOrEqual(2);
    expect(outdated()).toHaveLength(1);
    expect(outdated()[0]).toContain('status.workloadsProcessed');
  });
});
