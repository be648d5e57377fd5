/** The dashboard's JSON, by path. Loaded when somebody opens the dashboard for the first time. */
import type { EpochMillis } from '../../lib/units.ts';
import { parseWorkloadKey } from '../../model/cluster-view.ts';
import { type Endpoint, type EndpointAnswer, jsonAnswer, type StreamEndpoint } from '../endpoint-server.ts';
import type { OperatorAnswer } from './answers.ts';
import type { ApiPath } from './dashboard-paths.ts';
import { createDecisionStream } from './decision-stream.ts';
import { createFleetScan } from './fleet-scan.ts';
import { nodePage } from './node-list.ts';
import { operatorTold, overview } from './overview.ts';
import { policyList } from './policy-list.ts';
import { createReportFolder, type ReportFolder } from './report-folder.ts';
import { createShareRecorder, type ShareRecorder } from './share-recorder.ts';
import type { DashboardSources } from './sources.ts';
import { workloadPage } from './workload-list.ts';
import { lookAtWorkload } from './workload-row.ts';
import { workloadStory } from './workload-story.ts';

/**
 * An endpoint for each path, answering `GET` with JSON, or with a stream of events. None changes anything, in the
 * cluster or here.
 */
export type DashboardApi = Readonly<Record<ApiPath, StreamEndpoint>>;

/**
 * Nothing is read, and nothing is listened to, before the first question. What a question throws becomes a 500 without
 * its text (endpoint-server.ts); what is asked wrongly is told as `{code, message}` with a status of its own.
 */
export function createDashboardApi(sources: DashboardSources): DashboardApi {
  const { view, sizingView, journal, clock } = sources;
  const fleet = createFleetScan({
    *workloads() {
      yield* view.workloads();
      if (sizingView !== undefined) yield* sizingView.workloads();
    },
    look: (ref) => lookAtWorkload(sources, ref),
    clock,
  });
  const stream = createDecisionStream({ journal, clock });
  const { allocation } = sources;
  const shares = sizingView && allocation && createShareRecorder({ view: sizingView, allocation, clock });
  const reports = createReportFolder(sources.reports);
  const json =
    (make: (query: URLSearchParams) => unknown): Endpoint =>
    async (query) =>
      jsonAnswer(200, await make(query));
  return {
    '/api/operator': json((): OperatorAnswer => ({ at: clock.now(), ...operatorTold(sources) })),
    '/api/overview': json(async () => overview(sources, await fleet(), clock.now())),
    '/api/workloads': json(async (query) => workloadPage(await fleet(), query, clock.now())),
    '/api/workload': (query) => storyAnswer(sources, shares, query.get('of') ?? ''),
    '/api/nodes': json((query) => nodePage(sources, query, clock.now())),
    '/api/policies': json(() => policyList(sources, clock.now())),
    '/api/simulations': json(() => reports.list(clock.now())),
    '/api/simulation': (query) => reportAnswer(reports, query.get('of') ?? '', clock.now()),
    '/api/decisions': (_query, gone) => stream(gone),
  };
}

function storyAnswer(sources: DashboardSources, shares: ShareRecorder | undefined, text: string): EndpointAnswer {
  const ref = parseWorkloadKey(text);
  if (ref === undefined) {
    return jsonAnswer(400, {
      code: 'INVALID_WORKLOAD',
      message: 'of must be KIND/NAMESPACE/NAME such as Deployment/shop/web',
    });
  }
  const story = workloadStory(sources, shares, ref, sources.clock.now());
  return story === undefined
    ? jsonAnswer(404, { code: 'NOT_FOUND', message: `there is no ${text}` })
    : jsonAnswer(200, story);
}

async function reportAnswer(reports: ReportFolder, file: string, now: EpochMillis): Promise<EndpointAnswer> {
  const report = await reports.read(file, now);
  if (report === undefined) return jsonAnswer(404, { code: 'NOT_FOUND', message: `there is no report ${file}` });
  return 'problem' in report
    ? jsonAnswer(422, { code: 'NO_REPORT', message: `${file}: ${report.problem}` })
    : jsonAnswer(200, report);
}
