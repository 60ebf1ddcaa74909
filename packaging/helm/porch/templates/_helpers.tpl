{{- define "porch.name" -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "porch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "porch.labels" -}}
{{ include "porch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "porch.seconds" -}}
{{- add (trimSuffix "s" .drain) (trimSuffix "s" .linger) (trimSuffix "s" .shutdown) -}}
{{- end -}}

{{- define "porch.alone" -}}
{{- if .Values.data -}}
{{- if gt (int .Values.replicas) 1 -}}
{{- fail "data: what is there belongs to one replica; with several, leave it empty" -}}
{{- end -}}
yes
{{- end -}}
{{- end -}}

{{- define "porch.shared" -}}
{{- $given := merge (dict) .Values.environment .Values.secrets.files -}}
{{- range $service := list "DATABASE" "CACHE" "VECTORS" -}}
{{- $name := printf "PORCH_SERVICES__%s" $service -}}
{{- if not (or (hasKey $given $name) (hasKey $given (printf "%s_FILE" $name))) -}}
{{- fail (printf "environment: replicas share PostgreSQL, Redis and vectors (database, or Qdrant); %s says where, or %s_FILE under secrets.files" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
