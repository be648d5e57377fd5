/** The pod by which it is known what is added to the pods of a workload, as the next one will have it, too. */
import { isLive } from './owners.ts';
import type { PodRecord } from './records.ts';
import type { SizedPod } from './sizing-view.ts';

type Aged = { readonly pod: Pick<PodRecord, 'createdAt' | 'name' | 'phase' | 'deletingAt'> };

/** Of those that are there, see `isLive`: whoever adds something may have begun, or ended, since the others were made. */
export function newestLive<P extends Aged = SizedPod>(pods: readonly P[]): P | undefined {
  return newestOf(pods.filter(({ pod }) => isLive(pod)));
}

/** Of pods made in the same second the first by name, so that all who ask take the same one. */
export function newestOf<P extends Aged = SizedPod>(pods: readonly P[]): P | undefined {
  return pods.reduce<P | undefined>(
    (newest, each) => (newest === undefined || isBefore(each, newest) ? each : newest),
    undefined,
  );
}

function isBefore({ pod: one }: Aged, { pod: other }: Aged): boolean {
  return one.createdAt === other.createdAt ? one.name < other.name : one.createdAt > other.createdAt;
}
