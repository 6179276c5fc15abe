// Package check renders the chart with Helm itself and reads what comes out as Kubernetes
// does. It is a module of its own, which `make deploy-check` runs: Helm is larger than
// all that it checks here, and the tests of deploy do the same without it.
package check

import (
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const config = "config: {server: {base_url: 'http://model:8000'}, data: {type: mock}, load: {stages: [{rate: 1, duration: 5}]}}\n"

// render gives what Helm makes of values, by the name of the template.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load("../inference-perf")
	if err != nil {
		t.Fatal(err)
	}
	v, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "bench", Namespace: "default"}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

func TestHelm(t *testing.T) {
	for _, c := range []struct {
		values string
		want   string // kinds that come out
	}{
		{config, "configmap job"},
		{"configFile: \"api:\\n  type: chat\\n\"", "configmap job"},
		{config + "token: {hfToken: hf_1}", "configmap job secret"},
		{config + "token: {hfSecret: {name: mine}}\napiKey: {secret: {name: mine}}", "configmap job"},
		{config + "s3Path: s3://bucket/a\ngcsPath: gs://bucket/a", "configmap job"},
		{config + "results: {size: 5Gi, storageClassName: fast}", "claim configmap job"},
		{config + "job: {ttlSecondsAfterFinished: 3600, env: [{name: A, value: b}], nodeSelector: {disk: ssd}, tolerations: [{key: gpu, operator: Exists}], imagePullSecrets: [{name: r}], serviceAccountName: bench}", "configmap job"},
	} {
		out, err := render(t, c.values)
		if err != nil {
			t.Errorf("%s: %v", c.values, err)
			continue
		}
		objects := map[string]any{"job": &batchv1.Job{}, "configmap": &corev1.ConfigMap{}, "secret": &corev1.Secret{}, "claim": &corev1.PersistentVolumeClaim{}}
		var kinds []string
		for _, kind := range []string{"claim", "configmap", "job", "secret"} {
			text := out[filepath.ToSlash(filepath.Join("inference-perf", "templates", kind+".yaml"))]
			if strings.TrimSpace(text) == "" {
				continue
			}
			kinds = append(kinds, kind)
			if err := yaml.UnmarshalStrict([]byte(text), objects[kind]); err != nil {
				t.Errorf("%s: %v\n%s", c.values, err, text)
			}
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s gives %s, want %s", c.values, got, c.want)
		}
	}
}

func TestHelmRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                          "nothing to run",
		config + "hfToken: hf_1":      "hfToken",
		config + "logLevel: LOUD":     "logLevel",
		config + "configFile: 'a: b'": "both given",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", values, err, want)
		}
	}
}
