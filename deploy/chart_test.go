package deploy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	frontend "inferometer/internal/frontend/inferenceperf"
)

const chart = "inference-perf"

// render renders the chart with values laid over its own, as helm does. Only the
// functions that the chart uses are there.
func render(values map[string]any) (string, error) {
	own, err := readYAML(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return "", err
	}
	lay(own, values)
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return "", err
	}
	if err := schema.Validate(own); err != nil {
		return "", err
	}
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := root.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"quote":      func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"fail":       func(s string) (string, error) { return "", errors.New(s) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(end, s string) string { return strings.TrimSuffix(s, end) },
		"kindIs":     func(kind string, v any) bool { return reflect.ValueOf(v).Kind().String() == kind },
		"int":        func(v any) (int, error) { return strconv.Atoi(fmt.Sprint(v)) },
	})
	if _, err := root.ParseGlob(filepath.Join(chart, "templates", "*")); err != nil {
		return "", err
	}
	data := map[string]any{"Values": own, "Release": map[string]any{"Name": "bench", "Namespace": "default"}}
	var out strings.Builder
	for _, t := range root.Templates() {
		if !strings.HasSuffix(t.Name(), ".yaml") {
			continue
		}
		out.WriteString("---\n")
		if err := t.Execute(&out, data); err != nil {
			return "", err
		}
		out.WriteString("\n")
	}
	return out.String(), nil
}

func readYAML(name string) (map[string]any, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, yaml.Unmarshal(text, &out)
}

// lay lays values over others, map by map.
func lay(under, over map[string]any) {
	for name, v := range over {
		a, isMap := under[name].(map[string]any)
		if b, ok := v.(map[string]any); ok && isMap {
			lay(a, b)
			continue
		}
		under[name] = v
	}
}

// objects checks every document of a manifest against Kubernetes' own description, with
// unknown keys refused, and gives them by kind.
func objects(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/kubernetes.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
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
		kind := doc["kind"].(string)
		if out[kind] != nil {
			t.Errorf("two objects are a %s", kind)
		}
		out[kind] = doc
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
	_, err := frontend.Parse([]string{"-c", "config.yml"}, frontend.World{Now: time.Now(), ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
	if err != nil {
		t.Errorf("%v\n%s", err, text)
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
	sound(t, all)
	ref := at(all["Job"], "spec", "template", "spec", "containers", 0, "env", 0, "valueFrom", "secretKeyRef")
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
		{"plain", someConfig, 2, first, []any{"env"}, nil},
		{"no token, no secret", someConfig + "token: {hfSecret: {key: k}}", 2, first, []any{"env"}, nil},
		{"token", someConfig + "token: {hfToken: hf_1}", 3, first, []any{"env", 0, "valueFrom", "secretKeyRef", "name"}, "bench-inference-perf-hf"},
		{"token of a secret", someConfig + "token: {hfSecret: {name: mine, key: k}}", 2, first, []any{"env", 0, "valueFrom", "secretKeyRef", "key"}, "k"},
		{"api key", someConfig + "apiKey: {secret: {name: mine}}", 2, first, []any{"args", 5}, "$(SERVER_API_KEY)"},
		{"gcs", someConfig + "gcsPath: gs://bucket/a", 2, pod, []any{"initContainers", 0, "command", 4}, "gs://bucket/a"},
		{"s3", someConfig + "s3Path: s3://bucket/a", 2, pod, []any{"initContainers", 0, "command", 0}, "aws"},
		{"gcs and s3", someConfig + "s3Path: s3://bucket/a\ngcsPath: gs://bucket/a", 2, pod, []any{"initContainers", 1, "command", 5}, "/s3Dataset/"},
		{"claim", someConfig + "results: {size: 5Gi, storageClassName: fast}", 3, pod, []any{"volumes", 0, "persistentVolumeClaim", "claimName"}, "bench-inference-perf-results"},
		{"claim that is there", someConfig + "results: {existingClaim: mine}", 2, pod, []any{"volumes", 0, "persistentVolumeClaim", "claimName"}, "mine"},
		{"place", someConfig + "job: {nodeSelector: {disk: ssd}, tolerations: [{key: gpu, operator: Exists}], affinity: {nodeAffinity: {}}, imagePullSecrets: [{name: r}], serviceAccountName: bench}", 2, pod, []any{"nodeSelector", "disk"}, "ssd"},
		{"kept an hour", someConfig + "job: {ttlSecondsAfterFinished: 0, env: [{name: A, value: b}]}", 2, first, []any{"env", 0, "value"}, "b"},
		{"config from a file", "configFile: " + strconv.Quote(string(file)), 2, pod, []any{"volumes", 1, "configMap", "name"}, "bench-inference-perf-config"},
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
			if got := at(v, c.path...); got != c.want {
				t.Errorf("%v is %v, want %v\n%s", c.path, got, c.want, text)
			}
		})
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
	if a, b := name(""), name("logLevel: DEBUG"); a == b || a != name("") || len(a) > 63 {
		t.Errorf("Jobs are called %s and %s", a, b)
	}
}

func TestChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                                                    "nothing to run",
		someConfig + "configFile: 'a: b'":                       "both given",
		someConfig + "hfToken: hf_1":                            "hfToken",
		someConfig + "s3Path: gs://bucket":                      "s3Path",
		someConfig + "job: {image: ''}":                         "image",
		someConfig + "logLevel: LOUD":                           "logLevel",
		someConfig + "results: {pvc: claim}":                    "pvc",
		someConfig + "token: {hfSecret: {name: a}, hfToken: b}": "both given",
		someConfig + "results: {existingClaim: a, size: 1Gi}":   "both given",
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
