package deploy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

// objects are the documents of a manifest by kind, of which each has one.
func objects(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, doc := range documents(t, text) {
		kind := doc["kind"].(string)
		if out[kind] != nil {
			t.Errorf("two objects are a %s", kind)
		}
		out[kind] = doc
	}
	return out
}

// documents checks every document of a manifest against Kubernetes' own description, with
// unknown keys refused.
func documents(t *testing.T, text string) (out []map[string]any) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/kubernetes.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var doc map[string]any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return out
		} else if err != nil { // a key that comes twice is an error here too
			t.Fatalf("%v\n%s", err, text)
		}
		if doc == nil {
			continue
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		out = append(out, doc)
	}
}

// at follows a path of names and places.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// sound checks what no schema says: that every mount has its volume and every reference
// its object, and that the config is one that inference-perf takes.
func sound(t *testing.T, all map[string]map[string]any) {
	t.Helper()
	pod, _ := at(all["Job"], "spec", "template", "spec").(map[string]any)
	if pod == nil {
		t.Fatal("no Job")
	}
	volumes := map[any]bool{}
	for _, v := range pod["volumes"].([]any) {
		name := at(v, "name")
		if volumes[name] {
			t.Errorf("two volumes are called %v", name)
		}
		volumes[name] = true
		if m := at(v, "configMap", "name"); m != nil && m != at(all["ConfigMap"], "metadata", "name") {
			t.Errorf("there is no ConfigMap %v", m)
		}
	}
	containers := pod["containers"].([]any)
	if first, ok := pod["initContainers"].([]any); ok {
		containers = append(containers[:1:1], first...)
	}
	restricted(t, pod, containers)
	for _, c := range containers {
		seen := map[any]bool{}
		for _, m := range at(c, "volumeMounts").([]any) {
			if place := at(m, "mountPath"); seen[place] || !volumes[at(m, "name")] {
				t.Errorf("%v: a mount twice or without its volume: %v", at(c, "name"), m)
			}
			seen[at(m, "mountPath")] = true
		}
	}
	text, _ := at(all["ConfigMap"], "data", "config.yml").(string)
	_, err := args.Parse([]string{"-c", "config.yml"}, args.World{Now: time.Now(), ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// restricted checks what a namespace of the restricted Pod Security level lets in.
func restricted(t *testing.T, pod any, containers []any) {
	t.Helper()
	if at(pod, "securityContext", "runAsNonRoot") != true || at(pod, "securityContext", "seccompProfile", "type") != "RuntimeDefault" {
		t.Errorf("the pod may be root, or call what it likes: %v", at(pod, "securityContext"))
	}
	for _, c := range containers {
		context := at(c, "securityContext")
		if at(context, "allowPrivilegeEscalation") != false || at(context, "capabilities", "drop", 0) != "ALL" {
			t.Errorf("%v may become more than it is: %v", at(c, "name"), context)
		}
	}
}

func TestManifests(t *testing.T) {
	text, err := os.ReadFile("manifests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile("secret.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, string(text)+"\n---\n"+string(secret))
	if all["ConfigMap"] != nil {
		t.Error("applying the manifests would overwrite the user's config")
	}
	config, err := os.ReadFile("../config.yml")
	if err != nil {
		t.Fatal(err)
	}
	all["ConfigMap"] = map[string]any{"metadata": map[string]any{"name": "inference-perf-config"}, "data": map[string]any{"config.yml": string(config)}}
	sound(t, all)
	ref := at(all["Job"], "spec", "template", "spec", "containers", 0, "env", 1, "valueFrom", "secretKeyRef")
	if at(ref, "name") != at(all["Secret"], "metadata", "name") || at(all["Secret"], "stringData", at(ref, "key").(string)) == nil {
		t.Errorf("the Job does not read the Secret: %v", ref)
	}
}

// parse reads values as a user writes them.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const someConfig = "config: {server: {base_url: 'http://model:8000'}, data: {type: mock}, load: {stages: [{rate: 1, duration: 5}]}}\n"

func TestChart(t *testing.T) {
	const pod, first = "pod", "container"
	file, err := os.ReadFile("../config.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, values string
		kinds        int
		from         string // pod or container
		path         []any
		want         any
	}{
		{"plain", someConfig, 2, first, []any{"env", 1}, nil},
		{"no token, no secret", someConfig + "token: {hfSecret: {key: k}}", 2, first, []any{"env", 1}, nil},
		{"token", someConfig + "token: {hfToken: hf_1}", 3, first, []any{"env", 1, "valueFrom", "secretKeyRef", "name"}, "bench-inference-perf-hf-secret"},
		{"token at the top", someConfig + "hfToken: hf_1", 3, first, []any{"env", 1, "valueFrom", "secretKeyRef", "key"}, "hf_api_token"},
		{"token of a secret", someConfig + "token: {hfSecret: {name: mine, key: '1'}}", 2, first, []any{"env", 1, "valueFrom", "secretKeyRef", "key"}, "1"},
		{"token of a secret, its key unsaid", someConfig + "token: {hfSecret: {name: mine}}", 2, first, []any{"env", 1, "valueFrom", "secretKeyRef", "key"}, "hf_api_token"},
		{"both tokens", someConfig + "token: {hfSecret: {name: mine, key: k}, hfToken: b}", 2, first, []any{"env", 1, "valueFrom", "secretKeyRef", "name"}, "mine"},
		{"a token and a secret without a key", someConfig + "token: {hfSecret: {name: mine}, hfToken: b}", 3, first, []any{"env", 1, "valueFrom", "secretKeyRef", "name"}, "bench-inference-perf-hf-secret"},
		{"a secret of the user's that has our name", someConfig + "token: {hfSecret: {name: bench-inference-perf-hf-secret}}", 2, first, []any{"env", 1, "valueFrom", "secretKeyRef", "name"}, "bench-inference-perf-hf-secret"},
		{"api key", someConfig + "apiKey: {secret: {name: mine}}", 2, first, []any{"args", 5}, "$(SERVER_API_KEY)"},
		{"image", someConfig + "job: {image: {repository: r/x, tag: 1.5}}", 2, first, []any{"image"}, "r/x:1.5"},
		{"image as text", someConfig + "job: {image: 'r/x:2'}", 2, first, []any{"image"}, "r/x:2"},
		{"image without a tag", someConfig + "job: {image: {repository: r/x, tag: ''}}", 2, first, []any{"image"}, "r/x:v0.7.0"},
		{"gcs", someConfig + "gcsPath: gs://bucket/a", 2, pod, []any{"initContainers", 0, "command"}, "gcloud storage cp gs://bucket/a /gcsDataset/gcs-dataset.json"},
		{"gcs, as the original has it", someConfig + "gcsPath: bucket/a/b.json", 2, pod, []any{"initContainers", 0, "command"}, "gcloud storage cp gs://bucket/a/b.json /gcsDataset/gcs-dataset.json"},
		{"gcs, a folder", someConfig + "gcsPath: bucket/a/", 2, pod, []any{"initContainers", 0, "command"}, "gcloud storage rsync --recursive gs://bucket/a/ /gcsDataset"},
		{"s3", someConfig + "s3Path: bucket/a.json", 2, pod, []any{"initContainers", 0, "command"}, "aws s3 cp s3://bucket/a.json /s3Dataset/s3-dataset.json"},
		{"s3, a folder", someConfig + "s3Path: s3://bucket/a/", 2, pod, []any{"initContainers", 0, "command"}, "aws s3 cp --recursive s3://bucket/a/ /s3Dataset/"},
		{"what fetches has the environment too", someConfig + "s3Path: bucket/a\njob: {env: [{name: AWS_REGION, value: b}]}", 2, pod, []any{"initContainers", 0, "env", 1, "value"}, "b"},
		{"gcs and s3", someConfig + "s3Path: s3://bucket/a\ngcsPath: gs://bucket/a", 2, pod, []any{"initContainers", 1, "name"}, "fetch-s3-dataset"},
		{"claim", someConfig + "results: {size: 5Gi, storageClassName: fast}", 3, pod, []any{"volumes", 0, "persistentVolumeClaim", "claimName"}, "bench-inference-perf-results"},
		{"claim that is there", someConfig + "results: {existingClaim: mine}", 2, pod, []any{"volumes", 0, "persistentVolumeClaim", "claimName"}, "mine"},
		{"place", someConfig + "job: {nodeSelector: {disk: ssd}, tolerations: [{key: gpu, operator: Exists}], affinity: {nodeAffinity: {}}, imagePullSecrets: [{name: r}], serviceAccountName: bench}", 2, pod, []any{"nodeSelector", "disk"}, "ssd"},
		{"kept an hour", someConfig + "job: {ttlSecondsAfterFinished: 0, env: [{name: A, value: b}]}", 2, first, []any{"env", 1, "value"}, "b"},
		{"config from a file", "configFile: " + strconv.Quote(string(file)), 2, pod, []any{"volumes", 1, "configMap", "name"}, "bench-inference-perf-config"},
		{"another name", someConfig + "nameOverride: load", 2, pod, []any{"volumes", 1, "configMap", "name"}, "bench-load-config"},
		{"the release has the name", someConfig + "nameOverride: nch", 2, pod, []any{"volumes", 1, "configMap", "name"}, "bench-config"},
		{"a whole name", someConfig + "fullnameOverride: mine", 2, pod, []any{"volumes", 1, "configMap", "name"}, "mine-config"},
		{"grace", someConfig, 2, pod, []any{"terminationGracePeriodSeconds"}, 180},
		{"longer grace", strings.Replace(someConfig, "stages", "stage_teardown_grace_seconds: 600.5, stages", 1), 2, pod, []any{"terminationGracePeriodSeconds"}, 661},
		{"no grace, from a file", "configFile: \"server: {base_url: 'http://model:8000'}\\nload: {stage_teardown_grace_seconds: 0, stages: [{rate: 1, duration: 5}]}\"", 2, pod, []any{"terminationGracePeriodSeconds"}, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := render(parse(t, c.values))
			if err != nil {
				t.Fatal(err)
			}
			all := objects(t, text)
			sound(t, all)
			if len(all) != c.kinds {
				t.Errorf("%d objects, want %d\n%s", len(all), c.kinds, text)
			}
			v := at(all["Job"], "spec", "template", "spec")
			if c.from == first {
				v = at(v, "containers", 0)
			}
			got := at(v, c.path...)
			if words, ok := got.([]any); ok {
				got = strings.Trim(fmt.Sprint(words), "[]")
			}
			if got != c.want {
				t.Errorf("%v is %v, want %v\n%s", c.path, got, c.want, text)
			}
		})
	}
}

// The original's values, as they come, make what they make there.
func TestChartUpstream(t *testing.T) {
	values, err := readYAML("testdata/upstream-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, text)
	sound(t, all)
	pod := at(all["Job"], "spec", "template")
	for _, c := range []struct {
		path []any
		want any
	}{
		{[]any{"metadata", "labels", "app"}, "inference-perf"},
		{[]any{"spec", "containers", 0, "name"}, "inference-perf-container"},
		{[]any{"spec", "containers", 0, "image"}, "quay.io/inference-perf/inference-perf:v0.7.0"},
		{[]any{"spec", "containers", 0, "command", 0}, "inference-perf"},
		{[]any{"spec", "containers", 0, "args", 1}, "/cfg/config.yml"},
		{[]any{"spec", "volumes", 1, "configMap", "name"}, "bench-inference-perf-config"},
	} {
		if got := at(pod, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
}

// Values that say a part of the config are laid over the original's defaults, as in its chart.
func TestChartPartial(t *testing.T) {
	config := func(values string) any {
		text, err := render(parse(t, values))
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, at(objects(t, text)["ConfigMap"], "data", "config.yml").(string))
	}
	upstream, err := readYAML("testdata/upstream-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(upstream["config"], config("{}")); diff != "" {
		t.Errorf("other defaults than the original's: %s", diff)
	}
	got := config("config: {server: {base_url: 'http://model:8000'}, load: {stages: [{rate: 9, duration: 5}]}, metrics: null}")
	for _, c := range []struct {
		path []any
		want any
	}{
		{[]any{"server", "base_url"}, "http://model:8000"}, {[]any{"server", "ignore_eos"}, true}, {[]any{"data", "type"}, "shareGPT"},
		{[]any{"load", "type"}, "constant"}, {[]any{"load", "stages", 0, "rate"}, 9}, {[]any{"metrics"}, nil},
	} {
		if v := at(got, c.path...); v != c.want {
			t.Errorf("%v is %v, want %v", c.path, v, c.want)
		}
	}
	if got := config("configFile: 'api: {type: chat}'"); at(got, "server") != nil || at(got, "api", "type") != "chat" {
		t.Errorf("a whole config is mixed with others: %v", got)
	}
}

// differs: ip-helm
func TestChartSecret(t *testing.T) {
	text, err := render(parse(t, someConfig+`token: {hfToken: "hf_\"1: #", hfSecret: {key: k}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := at(objects(t, text)["Secret"], "stringData", "k"); got != `hf_"1: #` {
		t.Errorf("the Secret holds %q", got)
	}
}

// A Job cannot be changed, so that other values must make another.
func TestChartNames(t *testing.T) {
	name := func(values string) string {
		text, err := render(parse(t, someConfig+values))
		if err != nil {
			t.Fatal(err)
		}
		return at(objects(t, text)["Job"], "metadata", "name").(string)
	}
	if a, b := name(""), name("logLevel: DEBUG"); a == b || a != name("") {
		t.Errorf("Jobs are called %s and %s", a, b)
	}
	if long := name("nameOverride: " + strings.Repeat("long-", 30)); len(long) > 63 || strings.Contains(long, "--") {
		t.Errorf("a Job is called %s", long)
	}
}

func TestChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"{config: null}":                                      "nothing to run",
		someConfig + "hf_token: hf_1":                         "hf_token",
		someConfig + "s3Path: gs://bucket":                    "s3Path",
		someConfig + "job: {image: ''}":                       "image",
		someConfig + "logLevel: LOUD":                         "logLevel",
		someConfig + "results: {pvc: claim}":                  "pvc",
		someConfig + "gcsPath: s3://bucket/a":                 "gcsPath",
		someConfig + "gcsPath: bucket":                        "gcsPath",
		someConfig + "job: {image: {repository: a, name: b}}": "image",
		someConfig + "results: {existingClaim: a, size: 1Gi}": "both given",
	} {
		if _, err := render(parse(t, values)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", values, err, want)
		}
	}
}

// The schema must be able to refuse.
func TestSchemaRefuses(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/kubernetes.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"{apiVersion: v1, kind: Job, metadata: {name: a}}",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, img: b}]}}}}",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {backoffLimit: '0', template: {}}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: a}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: 1}}",
	} {
		if err := schema.Validate(any(parse(t, bad))); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
