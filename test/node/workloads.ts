/** Workloads of the load pod for the suites. */
import type { Deployment } from '../../src/api/core.ts';
import { LOAD_IMAGE } from './image/images.ts';

/** Namespaces and workloads with this label are managed by Stowage. */
export const managed = { 'spotalis.io/enabled': 'true' } as const;

export function policy(spotPercentage: number, minOnDemand = 0): Record<string, string> {
  return {
    'spotalis.io/spot-percentage': String(spotPercentage),
    'spotalis.io/min-on-demand': String(minOnDemand),
  };
}

type Template = NonNullable<Deployment['spec']>['template'];

/** Ready within a second, ends at once when told. */
export function loadTemplate(app: string): Template {
  return {
    metadata: { labels: { app } },
    spec: {
      terminationGracePeriodSeconds: 5,
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'main',
          image: LOAD_IMAGE,
          imagePullPolicy: 'Never',
          readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
          resources: { requests: { cpu: '20m', memory: '16Mi' }, limits: { memory: '64Mi' } },
        },
      ],
    },
  };
}

export function loadDeployment(name: string, replicas: number, annotations: Record<string, string>): Deployment {
  return {
    metadata: { name, labels: managed, annotations },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: loadTemplate(name) },
  };
}
