/** Where the dashboard's JSON is, known before its code is loaded. */
export const apiPaths = [
  '/api/operator',
  '/api/overview',
  '/api/workloads',
  '/api/workload',
  '/api/nodes',
  '/api/policies',
  '/api/simulations',
  '/api/simulation',
  '/api/decisions',
] as const;
export type ApiPath = (typeof apiPaths)[number];
