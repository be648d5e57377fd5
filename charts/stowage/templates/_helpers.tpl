{{/* Names. */}}
{{- define "stowage.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "stowage.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "stowage.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "stowage.serviceName" -}}
{{- .Values.service.name | default (include "stowage.fullname" .) -}}
{{- end -}}

{{- define "stowage.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "stowage.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "stowage.webhookConfigurationName" -}}
{{- .Values.webhook.configurationName | default (printf "%s-mutating-webhook" (include "stowage.fullname" .)) -}}
{{- end -}}

{{- define "stowage.validatingConfigurationName" -}}
{{- .Values.webhook.validatingConfigurationName | default (printf "%s-validating-webhook" (include "stowage.fullname" .)) -}}
{{- end -}}

{{- define "stowage.agentServiceAccountName" -}}
{{- .Values.agent.serviceAccount.name | default (printf "%s-agent" (include "stowage.fullname" .)) -}}
{{- end -}}

{{- define "stowage.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}

{{/* Labels. */}}
{{- define "stowage.selectorLabels" -}}
app.kubernetes.io/name: {{ include "stowage.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end -}}

{{- define "stowage.agentSelectorLabels" -}}
app.kubernetes.io/name: {{ include "stowage.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: agent
{{- end -}}

{{/* Of the pod of helm test. */}}
{{- define "stowage.testLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: test
{{- end -}}

{{- define "stowage.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "stowage.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "stowage.ownLabel" . }}
{{- end -}}

{{/* By which they are known whatever nameOverride says. Selectors of what is installed cannot change, so it is in none. */}}
{{- define "stowage.ownLabel" -}}
app.kubernetes.io/part-of: stowage
{{- end -}}

{{/* With labels of the user's, which may say of what it is part to him. */}}
{{- define "stowage.podLabels" -}}
{{- mergeOverwrite (include "stowage.ownLabel" . | fromYaml) . | toYaml -}}
{{- end -}}

{{/*
Puts defaults where there is nothing: a section or value of which all is commented out, and one that `helm upgrade
--reuse-values` does not bring from an earlier chart. Maps and lists of the user's own content stay away, for null is how
their default is taken out. Every template begins with it.
*/}}
{{- define "stowage.complete" -}}
{{- range $path, $defaults := include "stowage.defaults" . | fromYaml -}}
{{- $names := splitList "." $path -}}
{{- $parent := $ -}}
{{- range initial $names -}}
{{- $parent = index $parent . -}}
{{- end -}}
{{- $section := index $parent (last $names) -}}
{{- if kindIs "map" $section -}}
{{- range $name, $value := $defaults -}}
{{- $isScalar := not (or (kindIs "map" $value) (kindIs "slice" $value)) -}}
{{- if and $isScalar (kindIs "invalid" (index $section $name)) -}}
{{- $_ := set $section $name $value -}}
{{- end -}}
{{- end -}}
{{- else -}}
{{- $_ := set $parent (last $names) $defaults -}}
{{- end -}}
{{- end -}}
{{- if kindIs "map" .Values.config -}}
{{- include "stowage.withoutNothing" .Values.config -}}
{{- include "stowage.respell" . -}}
{{- end -}}
{{- end -}}

{{/* Takes out keys of the configuration that have nothing in them: they are as good as left out, as in the file itself. */}}
{{- define "stowage.withoutNothing" -}}
{{- range $name, $value := . -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $ $name -}}
{{- else if kindIs "map" $value -}}
{{- include "stowage.withoutNothing" $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Other spellings that the operator understands, of the keys that the chart goes by, too. */}}
{{- define "stowage.spellings" -}}
controller.leaderElection.enabled: operator.leaderElection.enabled
controller.leaderElection.id: operator.leaderElection.id
controller.leaderElection.name: operator.leaderElection.id
controller.leaderElection.namespace: operator.leaderElection.namespace
leader-election: operator.leaderElection.enabled
leaderElection: operator.leaderElection.enabled
metrics-bind-address: observability.metrics.bindAddress
metrics.enabled: observability.metrics.enabled
metrics.bindAddress: observability.metrics.bindAddress
metrics.port: observability.metrics.bindAddress
health-probe-bind-address: observability.health.bindAddress
health.enabled: observability.health.enabled
health.bindAddress: observability.health.bindAddress
health.port: observability.health.bindAddress
{{- end -}}

{{/* Writes them as the chart knows them. What is written in both ways stays for the operator, which tells that one of them is ignored. */}}
{{- define "stowage.respell" -}}
{{- range $from, $to := include "stowage.spellings" . | fromYaml -}}
{{- $names := splitList "." $from -}}
{{- $holder := $.Values.config -}}
{{- range initial $names -}}
{{- $holder = get $holder . | default dict -}}
{{- end -}}
{{- if hasKey $holder (last $names) -}}
{{- $value := get $holder (last $names) -}}
{{- if and (eq (last $names) "port") (not (kindIs "string" $value)) -}}
{{- $value = printf ":%d" (int $value) -}}
{{- else if hasSuffix "bindAddress" $to -}}
{{- $value = toString $value -}}
{{- else if and (eq (len $names) 1) (kindIs "string" $value) -}}
{{- $value = not (has (lower $value) (list "false" "0" "no" "off")) -}}
{{- end -}}
{{- $path := splitList "." $to -}}
{{- $section := $.Values.config -}}
{{- range initial $path -}}
{{- if not (hasKey $section .) -}}
{{- $_ := set $section . dict -}}
{{- end -}}
{{- $section = get $section . -}}
{{- end -}}
{{- if not (hasKey $section (last $path)) -}}
{{- $_ := set $section (last $path) $value -}}
{{- $_ := unset $holder (last $names) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What follows from several values; booleans are "true" or "". */}}
{{- define "stowage.webhookEnabled" -}}
{{- $config := (.Values.config).webhook | default dict -}}
{{- $wanted := ternary $config.enabled .Values.webhook.enabled (hasKey $config "enabled") -}}
{{- /* Allocation has nothing to say when pods are created. */ -}}
{{- if and $wanted (or .Values.engines.placement .Values.engines.rightsizing) }}true{{ end -}}
{{- end -}}

{{- define "stowage.webhookPort" -}}
{{- ((.Values.config).webhook | default dict).port | default .Values.webhook.port | int -}}
{{- end -}}

{{/* existing, cert-manager or self. */}}
{{- define "stowage.certificates" -}}
{{- if .Values.webhook.tls.existingSecret }}existing{{ else if .Values.webhook.certManager.enabled }}cert-manager{{ else }}self{{ end -}}
{{- end -}}

{{- define "stowage.certificateSecret" -}}
{{- .Values.webhook.tls.existingSecret | default .Values.webhook.tls.secretName | default (printf "%s-webhook-cert" (include "stowage.fullname" .)) -}}
{{- end -}}

{{- define "stowage.certDir" -}}
{{- ((.Values.config).webhook | default dict).certDir | default "/tmp/k8s-webhook-server/serving-certs" -}}
{{- end -}}

{{- define "stowage.namespaced" -}}
{{- if eq .Values.rbac.scope "namespace" }}true{{ end -}}
{{- end -}}

{{- define "stowage.watchNamespaces" -}}
{{- ((.Values.config).controllers | default dict).watchNamespaces | default list | uniq | toJson -}}
{{- end -}}

{{- define "stowage.leaseNamespace" -}}
{{- (((.Values.config).operator | default dict).leaderElection | default dict).namespace | default .Release.Namespace -}}
{{- end -}}

{{- define "stowage.leaseName" -}}
{{- (((.Values.config).operator | default dict).leaderElection | default dict).id | default "spotalis-controller-leader" -}}
{{- end -}}

{{- define "stowage.leaderElection" -}}
{{- $config := ((.Values.config).operator | default dict).leaderElection | default dict -}}
{{- if or (gt (int .Values.replicaCount) 1) (ternary $config.enabled true (hasKey $config "enabled")) }}true{{ end -}}
{{- end -}}

{{/* The port of observability.metrics or .health; empty where it is switched off. */}}
{{- define "stowage.endpointPort" -}}
{{- $config := get ((.root.Values.config).observability | default dict) .name | default dict -}}
{{- $address := $config.bindAddress | default .default -}}
{{- if and (ternary $config.enabled true (hasKey $config "enabled")) (ne $address "0") -}}
{{- regexFind "[0-9]+$" $address -}}
{{- end -}}
{{- end -}}
{{- define "stowage.metricsPort" -}}
{{- include "stowage.endpointPort" (dict "root" . "name" "metrics" "default" ":8080") -}}
{{- end -}}
{{- define "stowage.healthPort" -}}
{{- include "stowage.endpointPort" (dict "root" . "name" "health" "default" ":8081") -}}
{{- end -}}

{{- define "stowage.metricsToken" -}}
{{- $config := ((.Values.config).observability | default dict).metrics | default dict -}}
{{- if and (include "stowage.metricsPort" .) (eq (lower ($config.authentication | default "none")) "token") }}true{{ end -}}
{{- end -}}

{{- define "stowage.metricsTls" -}}
{{- $config := ((.Values.config).observability | default dict).metrics | default dict -}}
{{- if and (include "stowage.metricsPort" .) (eq (lower (toString ($config.tls | default false))) "true") }}true{{ end -}}
{{- end -}}

{{/* Contradictions that the schema cannot express. */}}
{{- define "stowage.check" -}}
{{- $watched := include "stowage.watchNamespaces" . | fromJsonArray -}}
{{- if and (include "stowage.metricsTls" .) (not (include "stowage.webhookEnabled" .)) -}}
{{- fail "\n\nconfig.observability.metrics.tls needs the webhook, whose certificate is served: set webhook.enabled." -}}
{{- end -}}
{{- if and .Values.engines.allocation .Values.agent.nodeBoundWrites (eq (include "stowage.agentServiceAccountName" .) (include "stowage.serviceAccountName" .)) -}}
{{- fail "\n\nagent.serviceAccount.name is the operator's account, which writes PodAllocations of all nodes, while the agent is held to its own.\nGive the agent an account of its own, or set agent.nodeBoundWrites: false." -}}
{{- end -}}
{{- if include "stowage.namespaced" . -}}
{{- if not $watched -}}
{{- fail "\n\nrbac.scope: namespace needs config.controllers.watchNamespaces: the namespaces to have a Role in." -}}
{{- end -}}
{{- if and (include "stowage.webhookEnabled" .) (eq (include "stowage.certificates" .) "self") -}}
{{- fail "\n\nrbac.scope: namespace does not go with certificates the operator makes itself: it would need a ClusterRole to write the webhook configuration.\nSet webhook.certManager.enabled or webhook.tls.existingSecret, or webhook.enabled: false." -}}
{{- end -}}
{{- if include "stowage.metricsToken" . -}}
{{- fail "\n\nconfig.observability.metrics.authentication: token needs rbac.scope: cluster: reviews of tokens belong to no namespace." -}}
{{- end -}}
{{- if .Values.engines.allocation -}}
{{- fail "\n\nengines.allocation needs rbac.scope: cluster: its agent reads the pods of its node in every namespace." -}}
{{- end -}}
{{- else if $watched -}}
{{- fail "\n\nconfig.controllers.watchNamespaces goes with rbac.scope: namespace. Set both, or use config.controllers.namespaceSelector to leave namespaces out." -}}
{{- end -}}
{{- end -}}

{{/* The configuration file. What the chart knows itself wins over config. */}}
{{- define "stowage.config" -}}
{{- include "stowage.check" . -}}
{{- $webhook := dict "enabled" (eq (include "stowage.webhookEnabled" .) "true") -}}
{{- if $webhook.enabled -}}
{{- $webhook = merge $webhook (dict "port" (include "stowage.webhookPort" . | int)) -}}
{{- if eq (include "stowage.certificates" .) "self" -}}
{{- $webhook = merge $webhook (dict "certificates" "self" "serviceName" (include "stowage.serviceName" .) "secretName" (include "stowage.certificateSecret" .) "configurationName" (include "stowage.webhookConfigurationName" .) "validatingConfigurationName" (include "stowage.validatingConfigurationName" .)) -}}
{{- else -}}
{{- $webhook = merge $webhook (dict "certificates" "files" "certDir" (include "stowage.certDir" .)) -}}
{{- end -}}
{{- end -}}
{{- $operator := dict "namespace" .Release.Namespace "leaderElection" (dict "enabled" (eq (include "stowage.leaderElection" .) "true")) -}}
{{- $own := dict "operator" $operator "engines" .Values.engines "webhook" $webhook -}}
{{- $config := deepCopy (default dict .Values.config) -}}
{{- /* What it has no right to read it does not look for. */ -}}
{{- if not .Values.rbac.argoRollouts -}}
{{- $_ := set $config "placement" (merge ($config.placement | default dict) (dict "owners" list)) -}}
{{- end -}}
{{- mergeOverwrite $config $own | toYaml -}}
{{- end -}}

{{/* Keeps off the spot nodes of every cloud whose labels are known; nodes without such a label are taken for on-demand. */}}
{{- define "stowage.notSpot" -}}
matchExpressions:
  - {key: karpenter.sh/capacity-type, operator: NotIn, values: [spot]}
  - {key: eks.amazonaws.com/capacityType, operator: NotIn, values: [SPOT]}
  - {key: cloud.google.com/gke-spot, operator: NotIn, values: ["true"]}
  - {key: cloud.google.com/gke-preemptible, operator: NotIn, values: ["true"]}
  - {key: kubernetes.azure.com/scalesetpriority, operator: NotIn, values: [spot]}
  - {key: scheduling.cast.ai/spot, operator: NotIn, values: ["true"]}
{{- end -}}

{{- define "stowage.onDemandAffinity" -}}
{{- if eq .Values.onDemandAffinity "required" -}}
requiredDuringSchedulingIgnoredDuringExecution:
  nodeSelectorTerms:
    - {{- include "stowage.notSpot" . | nindent 6 }}
{{- else if eq .Values.onDemandAffinity "preferred" -}}
preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 100
    preference:
      {{- include "stowage.notSpot" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{- define "stowage.webhookAnnotations" -}}
{{- $annotations := deepCopy (default dict .Values.webhook.annotations) -}}
{{- if eq (include "stowage.certificates" .) "cert-manager" -}}
{{- $_ := set $annotations "cert-manager.io/inject-ca-from" (printf "%s/%s-webhook" .Release.Namespace (include "stowage.fullname" .)) -}}
{{- end -}}
{{- with $annotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- define "stowage.webhookClient" -}}
service:
  name: {{ include "stowage.serviceName" .root }}
  namespace: {{ .root.Release.Namespace }}
  path: {{ .path }}
  port: {{ .root.Values.service.webhookPort }}
{{- with .root.Values.webhook.tls.caBundle }}
caBundle: {{ . }}
{{- end }}
{{- end -}}

{{/* One entry for new pods. */}}
{{- define "stowage.podWebhook" -}}
- name: {{ .name }}
  admissionReviewVersions: [v1]
  clientConfig:
    {{- include "stowage.webhookClient" (dict "root" .root "path" "/mutate") | nindent 4 }}
  rules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [pods]
      scope: Namespaced
  # An optimisation: pods must come up without it. What was missed is repaired afterwards.
  failurePolicy: {{ .failurePolicy }}
  timeoutSeconds: {{ .root.Values.webhook.timeoutSeconds }}
  # A dry run reserves no slot.
  sideEffects: NoneOnDryRun
  # A pod that carries its stamps has been decided about; asking again changes nothing.
  reinvocationPolicy: Never
  matchPolicy: Equivalent
  namespaceSelector:
    {{- with .labels }}
    matchLabels:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    matchExpressions:
      {{- toYaml .expressions | nindent 6 }}
  matchConditions:
    # Other pods belong to no workload that is managed.
    - name: has-managed-owner
      expression: >-
        has(object.metadata.ownerReferences) &&
        object.metadata.ownerReferences.exists(o,
          has(o.controller) && o.controller && o.apiVersion.startsWith('apps/') &&
          o.kind in ['{{ join "', '" .owners }}'])
{{- end -}}
