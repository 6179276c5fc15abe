// Package check renders the chart with Helm itself and reads what comes out as Kubernetes
// does. It is a module of its own, which `make deploy-check` runs: Helm is larger than
// all that it checks here, and the tests of deploy do the same without it.
package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	security "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

const config = "config: {server: {base_url: 'http://model:8000'}, data: {type: mock}, load: {stages: [{rate: 1, duration: 5}]}}\n"

// render gives what Helm makes of values for inference-perf, by the name of the template.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	return renderChart(t, "inference-perf", values)
}

// renderChart gives what Helm makes of a chart.
func renderChart(t *testing.T, chart, values string) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load("../" + chart)
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
		{"config: {server: {base_url: 'http://model:8000'}, metrics: null}", "configmap job"},
		{"configFile: \"api:\\n  type: chat\\n\"", "configmap job"},
		{config + "token: {hfToken: hf_1}", "configmap job secret"},
		{config + "token: {hfSecret: {name: mine}}\napiKey: {secret: {name: mine}}", "configmap job"},
		{config + "hfToken: hf_1\ntoken: {hfSecret: {name: mine, key: k}}", "configmap job"},
		{config + "s3Path: s3://bucket/a/\ngcsPath: bucket/a", "configmap job"},
		{config + "job: {image: 'r/x:1'}\nnameOverride: load", "configmap job"},
		{upstream(t), "configmap job"},
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
		admitted(t, objects["job"].(*batchv1.Job))
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s gives %s, want %s", c.values, got, c.want)
		}
	}
}

// upstream is what the original's chart has for values.
func upstream(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/upstream-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// admitted asks Kubernetes' own check whether a namespace of the restricted level takes
// the pods of a Job.
func admitted(t *testing.T, job *batchv1.Job) {
	t.Helper()
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := security.LevelVersion{Level: security.LevelRestricted, Version: security.LatestVersion()}
	pod := &job.Spec.Template
	if r := policy.AggregateCheckResults(e.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)); !r.Allowed {
		t.Errorf("%s is not admitted: %s", job.Name, r.ForbiddenDetail())
	}
}

// A pod that must end by hand has the time that its config gives to requests in flight.
func TestHelmGrace(t *testing.T) {
	for values, want := range map[string]string{
		config: "180",
		strings.Replace(config, "load: {", "load: {stage_teardown_grace_seconds: 600.5, ", 1): "661",
		"configFile: \"load:\\n  stage_teardown_grace_seconds: 0\\n\"":                        "60",
		"configFile: \"load:\\n\"": "180",
	} {
		out, err := render(t, values)
		if err != nil {
			t.Errorf("%s: %v", values, err)
		} else if !strings.Contains(out["inference-perf/templates/job.yaml"], "terminationGracePeriodSeconds: "+want+"\n") {
			t.Errorf("%s: want %s in\n%s", values, want, out["inference-perf/templates/job.yaml"])
		}
	}
}

// The chart of workers comes out of Helm whole, and its pods are admitted.
func TestHelmWorkers(t *testing.T) {
	const plan = "plan: {target: {urls: ['http://model:8000'], model: m}, stages: [{concurrency: 8, duration: 30s}]}\n"
	example, err := os.ReadFile("../../examples/kubernetes/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for values, want := range map[string]string{
		plan:            "coordinator plan secret service workers",
		string(example): "claim coordinator plan secret service workers",
		plan + "results: {size: 5Gi}\napiKey: {secret: {name: mine}}":                                   "claim coordinator plan secret service workers",
		plan + "token: {existingSecret: mine}\nnats: {url: 'nats://nats:4222'}":                         "coordinator plan workers",
		"existingPlan: mine\nrun: 2\nttlSecondsAfterFinished: 60\nworkers: {count: 9, resources: null}": "coordinator secret service workers",
	} {
		out, err := renderChart(t, "inferometer", values)
		if err != nil {
			t.Errorf("%s: %v", values, err)
			continue
		}
		objects := map[string]any{"coordinator": &batchv1.Job{}, "workers": &batchv1.Job{}, "plan": &corev1.ConfigMap{}, "secret": &corev1.Secret{}, "service": &corev1.Service{}, "claim": &corev1.PersistentVolumeClaim{}}
		var kinds []string
		for _, kind := range []string{"claim", "coordinator", "plan", "secret", "service", "workers"} {
			text := out["inferometer/templates/"+kind+".yaml"]
			if strings.TrimSpace(text) == "" {
				continue
			}
			kinds = append(kinds, kind)
			if err := yaml.UnmarshalStrict([]byte(text), objects[kind]); err != nil {
				t.Errorf("%s: %v\n%s", values, err, text)
			}
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s gives %s, want %s", values, got, want)
		}
		admitted(t, objects["coordinator"].(*batchv1.Job))
		admitted(t, objects["workers"].(*batchv1.Job))
		if secret := objects["secret"].(*corev1.Secret); want != "coordinator plan workers" && len(secret.Data["token"]) != 32 {
			t.Errorf("%s: the token has %d characters", values, len(secret.Data["token"]))
		}
	}
	if _, err := renderChart(t, "inferometer", "{}"); err == nil || !strings.Contains(err.Error(), "nothing to run") {
		t.Error(err)
	}
}

func TestHelmRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"{config: null}":          "nothing to run",
		config + "hf_token: hf_1": "hf_token",
		config + "logLevel: LOUD": "logLevel",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", values, err, want)
		}
	}
}
