{{- define "inference-perf.name" -}}
{{ printf "%s-inference-perf" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "inference-perf.labels" -}}
app.kubernetes.io/name: inference-perf
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "inference-perf.config" -}}
{{- if and .Values.config .Values.configFile }}{{ fail "config and configFile are both given: give one" }}{{ end -}}
{{- if .Values.configFile }}{{ .Values.configFile }}
{{- else if .Values.config }}{{ toYaml .Values.config }}
{{- else }}{{ fail "there is nothing to run: give config, or --set-file configFile=config.yml" }}
{{- end }}
{{- end }}

{{- define "inference-perf.tokenSecret" -}}
{{- if and .Values.token.hfSecret.name .Values.token.hfToken }}{{ fail "token.hfSecret.name and token.hfToken are both given: give one" }}{{ end -}}
{{- if .Values.token.hfToken }}{{ include "inference-perf.name" . }}-hf{{ else }}{{ .Values.token.hfSecret.name }}{{ end }}
{{- end }}

{{- define "inference-perf.claim" -}}
{{- if and .Values.results.existingClaim .Values.results.size }}{{ fail "results.existingClaim and results.size are both given: give one" }}{{ end -}}
{{- if .Values.results.size }}{{ include "inference-perf.name" . }}-results{{ else }}{{ .Values.results.existingClaim }}{{ end }}
{{- end }}
