{{- define "inferometer.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The names of objects begin with this; a Job's adds 21 characters, its pods' hostnames the index. */ -}}
{{- define "inferometer.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $full := printf "%s-%s" .Release.Name $name -}}
{{- if contains $name .Release.Name }}{{ $full = .Release.Name }}{{ end -}}
{{ .Values.fullnameOverride | default $full | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* A run has a name of its own: a Job cannot be changed, so that other values make others. */ -}}
{{- define "inferometer.run" -}}
{{ include "inferometer.fullname" . }}-{{ toYaml .Values | sha256sum | trunc 8 }}
{{- end }}

{{- define "inferometer.selector" -}}
app.kubernetes.io/name: {{ include "inferometer.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "inferometer.labels" -}}
{{ include "inferometer.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "inferometer.plan" -}}
{{- if gt (len (compact (list .Values.planFile .Values.existingPlan (and .Values.plan "plan")))) 1 }}{{ fail "plan, planFile and existingPlan: give one of them" }}{{ end -}}
{{- if .Values.planFile }}{{ .Values.planFile }}
{{- else if .Values.plan }}{{ toYaml .Values.plan }}
{{- else if not .Values.existingPlan }}{{ fail "there is nothing to run: give plan, or --set-file planFile=plan.yaml" }}
{{- end }}
{{- end }}

{{- define "inferometer.image" -}}
{{- $image := .Values.image -}}
{{- if kindIs "string" $image }}{{ $image }}{{ else }}{{ $image.repository }}:{{ $image.tag }}{{ end }}
{{- end }}

{{- define "inferometer.tokenSecret" -}}
{{- if and .Values.token.existingSecret .Values.token.value }}{{ fail "token.existingSecret and token.value are both given: give one" }}{{ end -}}
{{ .Values.token.existingSecret | default (printf "%s-token" (include "inferometer.fullname" .)) }}
{{- end }}

{{- define "inferometer.claim" -}}
{{- if and .Values.results.existingClaim .Values.results.size }}{{ fail "results.existingClaim and results.size are both given: give one" }}{{ end -}}
{{- if .Values.results.size }}{{ include "inferometer.fullname" . }}-results{{ else }}{{ .Values.results.existingClaim }}{{ end }}
{{- end }}

{{- /* What the pods of workers and coordinator have in common. */ -}}
{{- define "inferometer.pod" -}}
restartPolicy: Never
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
automountServiceAccountToken: false
{{- if .Values.serviceAccountName }}
serviceAccountName: {{ .Values.serviceAccountName | quote }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "inferometer.place" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "inferometer.container" -}}
image: {{ include "inferometer.image" . | quote }}
imagePullPolicy: {{ .Values.imagePullPolicy }}
workingDir: /workspace
command: [inferometer]
env:
  - name: HOME
    value: /home/nonroot
  - name: INFEROMETER_TOKEN
    valueFrom:
      secretKeyRef:
        name: {{ include "inferometer.tokenSecret" . | quote }}
        key: {{ .Values.token.key | quote }}
  {{- if .Values.apiKey.secret.name }}
  - name: SERVER_API_KEY
    valueFrom:
      secretKeyRef:
        name: {{ .Values.apiKey.secret.name | quote }}
        key: {{ .Values.apiKey.secret.key | quote }}
  {{- end }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "inferometer.mounts" -}}
- name: workspace
  mountPath: /workspace
- name: cache
  mountPath: /home/nonroot/.cache/huggingface
- name: tmp
  mountPath: /tmp
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "inferometer.volumes" -}}
- name: cache
  emptyDir: {}
- name: tmp
  emptyDir: {}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
