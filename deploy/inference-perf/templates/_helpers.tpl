{{- define "inference-perf.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The names of objects begin with this; a Job's adds 13 characters, and may have 63. */ -}}
{{- define "inference-perf.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $full := printf "%s-%s" .Release.Name $name -}}
{{- if contains $name .Release.Name }}{{ $full = .Release.Name }}{{ end -}}
{{ .Values.fullnameOverride | default $full | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "inference-perf.selector" -}}
app: inference-perf
app.kubernetes.io/name: {{ include "inference-perf.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "inference-perf.labels" -}}
{{ include "inference-perf.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "inference-perf.config" -}}
{{- if .Values.configFile }}{{ .Values.configFile }}
{{- else if get .Values "config" }}{{ toYaml .Values.config }}
{{- else }}{{ fail "there is nothing to run: give config, or --set-file configFile=config.yml" }}
{{- end }}
{{- end }}

{{- /* How long a pod has to end: what requests in flight are given, and a minute for the reports. */ -}}
{{- define "inference-perf.grace" -}}
{{- $load := get (include "inference-perf.config" . | fromYaml) "load" | default dict -}}
{{- $teardown := 120 -}}
{{- if hasKey $load "stage_teardown_grace_seconds" }}{{ $teardown = $load.stage_teardown_grace_seconds }}{{ end -}}
{{ add (ceil $teardown) 60 }}
{{- end }}

{{- define "inference-perf.image" -}}
{{- $image := .Values.job.image -}}
{{- if kindIs "string" $image }}{{ $image }}{{ else }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "inference-perf.hfToken" -}}
{{ .Values.token.hfToken | default .Values.hfToken }}
{{- end }}

{{- define "inference-perf.ownSecret" -}}
{{ include "inference-perf.fullname" . }}-hf-secret
{{- end }}

{{- /* Where the token is: a Secret that is there comes first, unless it lacks its key and the token itself is given. */ -}}
{{- define "inference-perf.tokenSecret" -}}
{{- $token := include "inference-perf.hfToken" . -}}
{{- if and .Values.token.hfSecret.name (or .Values.token.hfSecret.key (not $token)) }}{{ .Values.token.hfSecret.name }}
{{- else if $token }}{{ include "inference-perf.ownSecret" . }}
{{- end }}
{{- end }}

{{- define "inference-perf.tokenKey" -}}
{{ .Values.token.hfSecret.key | default "hf_api_token" }}
{{- end }}

{{- define "inference-perf.claim" -}}
{{- if and .Values.results.existingClaim .Values.results.size }}{{ fail "results.existingClaim and results.size are both given: give one" }}{{ end -}}
{{- if .Values.results.size }}{{ include "inference-perf.fullname" . }}-results{{ else }}{{ .Values.results.existingClaim }}{{ end }}
{{- end }}

{{- /* Both fetch as the run's own user: the images' programs need a home to write to. */ -}}
{{- define "inference-perf.fetching" -}}
env:
  - name: HOME
    value: /tmp
  {{- with .Values.job.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
securityContext:
  {{- include "inference-perf.restricted" . | nindent 2 }}
{{- end }}

{{- define "inference-perf.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
