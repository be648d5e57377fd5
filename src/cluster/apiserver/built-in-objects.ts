/** What every API server holds from its first moment: its namespaces and the priority classes of the system. */
import { resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { generateUid, toTime } from './names.ts';
import { BUILT_IN_NAMESPACES } from './namespace-lifecycle.ts';
import { SYSTEM_PRIORITY_CLASSES } from './rules/priority-class.ts';
import type { Storage } from './storage.ts';
import { serve } from './type-table.ts';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses' };

/** Stored directly: nobody has written them, so no manager owns their fields. */
export function putBuiltInObjects(storage: Storage, clock: Clock, random: Random): void {
  const creationTimestamp = toTime(clock.now());
  const namespaces = serve(resources.namespaces);
  for (const name of BUILT_IN_NAMESPACES) {
    storage.put(namespaces, undefined, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        uid: generateUid(random),
        creationTimestamp,
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
  const classes = serve({ ...PRIORITY_CLASSES, kind: 'PriorityClass', namespaced: false });
  SYSTEM_PRIORITY_CLASSES.forEach(({ name, value, description }, index) => {
    storage.put(classes, undefined, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      // The same on every server: nothing is drawn for them, so that they change no seeded run.
      metadata: { name, uid: `00000000-0000-4000-8000-00000000000${index + 1}`, generation: 1, creationTimestamp },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    });
  });
}
