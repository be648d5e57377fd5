{{/* Written by `npm run docs` from values.yaml; edit that. */}}
{{- define "stowage.defaults" -}}
Values:
  replicaCount: 2
  imagePullSecrets: []
  nameOverride: ""
  fullnameOverride: ""
  config: {}
  extraEnv: []
  extraVolumes: []
  extraVolumeMounts: []
  podAnnotations: {}
  podLabels: {}
  podSecurityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile:
      type: RuntimeDefault
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop:
        - ALL
  hostNetwork: false
  resources:
    requests:
      cpu: 100m
      memory: 128Mi
    limits:
      memory: 256Mi
  nodeSelector:
    kubernetes.io/os: linux
  tolerations: []
  affinity: {}
  onDemandAffinity: preferred
  topologySpreadConstraints: []
  priorityClassName: ""
  terminationGracePeriodSeconds: 30
  strategy: {}
Values.image:
  registry: ghcr.io
  repository: stowage/stowage
  tag: ""
  pullPolicy: IfNotPresent
Values.engines:
  placement: true
  rightsizing: false
  allocation: false
Values.serviceAccount:
  create: true
  name: ""
  annotations: {}
Values.rbac:
  create: true
  scope: cluster
  argoRollouts: true
Values.webhook:
  enabled: true
  port: 9443
  failurePolicy: Ignore
  timeoutSeconds: 2
  configurationName: ""
  validatingConfigurationName: ""
  annotations: {}
  excludedNamespaces:
    - kube-system
Values.webhook.tls:
  existingSecret: ""
  secretName: ""
  caBundle: ""
Values.webhook.certManager:
  enabled: false
  issuerRef: {}
  duration: 2160h
  renewBefore: 360h
Values.service:
  name: ""
  type: ClusterIP
  metricsPort: 8080
  healthPort: 8081
  webhookPort: 9443
  annotations: {}
  labels: {}
Values.podDisruptionBudget:
  enabled: true
  minAvailable: 1
Values.rightsizing:
  namespaceLabels: {}
  credentialSecrets: []
Values.agent:
  config: {}
  observe: false
  nodeBoundWrites: true
  resources:
    requests:
      cpu: 20m
      memory: 64Mi
    limits:
      memory: 128Mi
  cgroupPath: /sys/fs/cgroup
  port: 8082
  podSecurityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    seccompProfile:
      type: RuntimeDefault
  nodeSelector:
    kubernetes.io/os: linux
  tolerations:
    - operator: Exists
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - key: eks.amazonaws.com/compute-type
                operator: NotIn
                values:
                  - fargate
              - key: type
                operator: NotIn
                values:
                  - virtual-kubelet
  priorityClassName: ""
  podAnnotations: {}
  podLabels: {}
  extraEnv: []
Values.agent.serviceAccount:
  name: ""
  annotations: {}
Values.networkPolicy:
  enabled: true
  metricsFrom:
    - namespaceSelector: {}
  egress: []
Values.metrics: {}
Values.metrics.serviceMonitor:
  enabled: false
  labels: {}
  interval: 30s
  scrapeTimeout: 10s
Values.metrics.prometheusRule:
  enabled: false
  labels: {}
Values.metrics.dashboards:
  enabled: false
  labels:
    grafana_dashboard: "1"
  annotations: {}
{{- end -}}
