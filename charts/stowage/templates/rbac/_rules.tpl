{{/* Rules over workloads and their pods: of the ClusterRole, or of the Role in each watched namespace. */}}
{{- define "stowage.workloadRules" -}}
- apiGroups: [""]
  resources: [pods, persistentvolumeclaims]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [deployments, replicasets, statefulsets]
  verbs: [list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
{{- if include "stowage.webhookEnabled" . }}
# Owners of a workload's first pods, before the watch has brought them.
- apiGroups: [apps]
  resources: [replicasets]
  verbs: [get]
{{- end }}
{{- if or (include "stowage.webhookEnabled" .) .Values.engines.rightsizing }}
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [get]
{{- end }}
{{- /* Without the webhook new pods are not sized: none is evicted for it. */}}
{{- if or .Values.engines.placement (and .Values.engines.rightsizing (include "stowage.webhookEnabled" .)) }}
# Moves and evictions for a size: through the eviction API only, so that PodDisruptionBudgets always have their say.
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
{{- end }}
# Annotations of pods: slots, and sizes as they were before the first change.
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
{{- if or .Values.engines.rightsizing .Values.engines.allocation }}
- apiGroups: [""]
  resources: [pods]
  verbs: [get]
- apiGroups: [""]
  resources: [pods/resize]
  verbs: [patch]
# What bounds sizes, and who else sets them.
- apiGroups: [""]
  resources: [limitranges, resourcequotas]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [daemonsets]
  verbs: [list, watch]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [list, watch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list, watch]
- apiGroups: [autoscaling.k8s.io]
  resources: [verticalpodautoscalers]
  verbs: [list, watch]
{{- end }}
{{- if .Values.engines.rightsizing }}
- apiGroups: [optipod.io, optipod.optipod.io]
  resources: [optimizationpolicies]
  verbs: [list, watch]
- apiGroups: [optipod.io, optipod.optipod.io]
  resources: [optimizationpolicies/status]
  verbs: [patch]
- apiGroups: [metrics.k8s.io]
  resources: [pods]
  verbs: [list]
# Requests in templates, and annotations that tell of recommendations.
- apiGroups: [apps]
  resources: [daemonsets]
  verbs: [get]
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets]
  verbs: [patch]
{{- end }}
{{- if .Values.engines.allocation }}
# What agents ask for, and what became of it.
- apiGroups: [allocation.mbcas.io]
  resources: [podallocations]
  verbs: [list, watch]
- apiGroups: [allocation.mbcas.io]
  resources: [podallocations/status]
  verbs: [patch]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
