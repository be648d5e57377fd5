/** The live view of sizing over stores fed by hand. */
import { createLiveView } from '../../live-view.ts';
import { createManualInformer, createManualStores } from '../../testing/manual-stores.ts';
import { createSizingView, type LiveSizingViewOptions } from '../live-sizing-view.ts';
import { createSizingInterners } from '../sizing-interners.ts';
import { createSizingProjections } from '../sizing-projections.ts';

export function createManualSizingView(more: Partial<LiveSizingViewOptions> = {}) {
  const stores = createManualStores({ sizing: true });
  const project = createSizingProjections(createSizingInterners(100), (message) => {
    throw new Error(message);
  });
  const refused: { refusal: string | undefined } = { refusal: undefined };
  const vpas = createManualInformer(project.vpa);
  const sizingStores = {
    daemonSets: createManualInformer(project.daemonSet),
    jobs: createManualInformer(project.job),
    cronJobs: createManualInformer(project.cronJob),
    limitRanges: createManualInformer(project.limitRange),
    quotas: createManualInformer(project.quota),
    hpas: createManualInformer(project.hpa),
    vpas: Object.assign(vpas, { refusal: () => refused.refusal, freshnessIn: vpas.freshness }),
  };
  const view = createSizingView({ view: createLiveView(stores), stores, sizingStores, ...more });
  return { stores, sizingStores, view, refused };
}
