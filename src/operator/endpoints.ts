/** What the operator answers over plain HTTP: health on one port, metrics and explanations on another. */
import type { Explainer } from '../controllers/explain.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import { type Endpoint, jsonAnswer } from '../web/endpoint-server.ts';

export function createMetricsEndpoint(metrics: Metrics): Endpoint {
  return async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.render() });
}

/** `GET /explain?workload=Deployment/shop/web`. Read-only; tells nothing that the workload's own objects do not. */
export function createExplainEndpoint(explain: Explainer): Endpoint {
  return (query) => {
    const text = query.get('workload') ?? '';
    const ref = parseWorkload(text);
    if (ref === undefined) {
      const message = `workload ${JSON.stringify(text)} is not valid; accepted: KIND/NAMESPACE/NAME such as Deployment/shop/web`;
      return jsonAnswer(400, { code: 'INVALID_WORKLOAD', message });
    }
    const explanation = explain(ref);
    if (explanation === undefined) return jsonAnswer(404, { code: 'NOT_FOUND', message: `there is no ${text}` });
    return jsonAnswer(200, explanation);
  };
}

function parseWorkload(text: string): WorkloadRef | undefined {
  const [kind = '', namespace = '', name = '', ...rest] = text.split('/');
  return kind === '' || namespace === '' || name === '' || rest.length > 0 ? undefined : { kind, namespace, name };
}
