/** The containers of pods as they will be. */
import { withInjected } from '../../model/awaited-pods.ts';
import { newestLive } from '../../model/newest-pod.ts';
import { withLimitDefaults } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizeGuardContext, SizeSubject } from './context.ts';

/**
 * Of a template with what LimitRanges fill in, and with what webhooks put into its newest pod, as a mesh does: the
 * whole pod is checked when it is made.
 */
export function bornContainers(
  subject: SizeSubject,
  { view }: Pick<SizeGuardContext, 'view'>,
): readonly ContainerSpecRecord[] {
  const { after } = subject;
  if (subject.kind !== 'retemplate') return after;
  const { workload } = subject;
  const like = newestLive(view.podsOf(workload))?.sizing;
  return withInjected(withLimitDefaults(view.limitRanges(workload.namespace), after), like);
}
