/** The installations of deploy/profiles on the embedded cluster: it serves every kind of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { customResourceDefinition } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { profileNames } from '../../src/cli/manifests/profiles.ts';
import { createCluster } from '../../src/cluster/cluster.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import { createVirtualClock } from '../../src/lib/virtual-clock.ts';
import { objectsOf, root } from './render.ts';

test.each(profileNames)('%s is taken as a whole', async (name) => {
  const cluster = createCluster({
    clock: createVirtualClock(0),
    random: createSeededRandom(1),
    log: createSilentLogger(),
  });
  onTestFinished(() => cluster.stop());
  const objects = objectsOf(readFileSync(join(root, `deploy/profiles/${name}.yaml`), 'utf8'));
  const definitions = crdDescriptions.map((description) => customResourceDefinition(description));
  expect((await cluster.apply([...definitions, ...objects])).problems).toEqual([]);
});
