{{/* Rules over workloads and their pods: of the ClusterRole, or of the Role in each watched namespace. */}}
{{- define "stowage.workloadRules" -}}
- apiGroups: [""]
  resources: [pods, persistentvolumeclaims]
  verbs: [list, watch]
# get: owners of a workload's first pods, before the watch has brought them.
- apiGroups: [apps]
  resources: [deployments, replicasets, statefulsets]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
# Moves: through the eviction API only, so that PodDisruptionBudgets always have their say.
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
# Corrections of the slot annotations.
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
