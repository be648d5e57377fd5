/** The page docs/policy-reference.md, written from the schema of OptimizationPolicy. */
import { policySpecSchema } from '../optimization-policy-schema.ts';
import { policyStatusSchema } from '../optimization-policy-status-schema.ts';
import { crdSchema } from './crd-schema.ts';
import { fieldTable } from './reference-table.ts';

/** The whole page in Markdown. */
export function renderPolicyPage(): string {
  return `${[
    '# OptimizationPolicy reference',
    '<!-- Written by `npm run docs` from src/api/optimization-policy*.ts and src/api/crd/policy-page.ts; edit those. -->',
    'The fields; how to use them: [rightsizing](rightsizing.md). An OptimizationPolicy says which workloads are sized, from what usage, within which bounds, and how changes are made. It is served as `optipod.io/v1alpha1` and, so that objects of OptiPod keep working, as `optipod.optipod.io/v1alpha1`: two definitions with one schema. Its status is written to where the object lives. `kubectl get optpols` lists the policies of both groups; `optpol` is short for those of `optipod.io`, `optpol.optipod.optipod.io` for the others.',
    '`stowage crds` prints the definitions; the chart and `deploy/crds.yaml` hold the same.',
    EXAMPLE,
    '## What holds where nothing is said',
    'A policy that names no strategy gets what OptiPod does: the exact P90 of the last 24 hours times 1.2, cut off to whole millicores and bytes, within the bounds, requests only. What OptiPod has not: a change of less than 10 % is left out, a resource of a container is changed at most once an hour (more memory never waits), a request falls by half at most at once, and never before there is a day of history. To have every one of these off: `minChange: 0%`, `cooldown: 0s`, `maxStep: {down: 100%}`, `minHistory: 0s`, `minSamples: 1`.',
    'Durations take the units of Go (`h`, `m`, `s`, `ms`, `us`, `ns`) and `d` and `w`. A duration of zero is the default for `rollingWindow`, `halfLife` and `reconciliationInterval`, because typed Go clients send `0s` for fields nobody set; for the others it is no time at all.',
    '## Which policy counts',
    [
      '1. Policies that are invalid or being deleted take no part.',
      '2. A policy selects workloads of its own namespace. In the namespace of the operator, and in those of `rightsizing.allowedPolicyNamespaces`, it selects workloads of every namespace, unless its `scope` is `Namespace`. `*` in that list grants every namespace, as OptiPod does.',
      '3. `namespaces.deny` beats `namespaces.allow`, and both are exact names. kube-system, kube-public and kube-node-lease count only where `allow` names them.',
      '4. Kinds in `workloadTypes.exclude` are left out though `include` names them. CronJobs, Jobs, bare ReplicaSets and Argo Rollouts must be included by name; they are advised, never changed.',
      '5. Of the policies that match, the one with the highest weight counts, then the first by name, then by namespace. A tie is warned of when a policy is written, and in the condition `Ready` of both.',
      '6. Where that policy is `Disabled`, nobody touches the workload: Disabled shields, it does not step aside. Its status keeps what was known.',
    ].join('\n'),
    '## Who checks',
    'The API server checks types, ranges and the rules in the tables. The webhook `/validate-optimizationpolicy` checks label selectors, cron schedules and the limits of the operator, and tells everything that is wrong at once. Where it is not installed, or does not answer, the operator finds the same when it reads the policy: condition `Ready` is `False` with reason `ValidationFailed`, and the workloads go to the next policy. One bad policy never holds up another.',
    '## spec',
    fieldTable(crdSchema(policySpecSchema), 'spec'),
    '## status',
    fieldTable(crdSchema(policyStatusSchema), 'status'),
  ].join('\n\n')}\n`;
}

const EXAMPLE = `\`\`\`yaml
apiVersion: optipod.io/v1alpha1
kind: OptimizationPolicy
metadata:
  name: production-workloads
  namespace: stowage-system
spec:
  mode: Recommend                # Auto applies what Recommend only shows
  selector:
    namespaceSelector:
      matchLabels: {environment: production}
    workloadSelector:
      matchLabels: {optimize: "true"}
  metricsConfig:
    provider: prometheus
  resourceBounds:
    cpu: {min: 100m, max: "4"}
    memory: {min: 128Mi, max: 8Gi}
  updateStrategy: {}
\`\`\``;
