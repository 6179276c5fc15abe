package deploy

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

var update = flag.Bool("update", false, "write inferometer.yaml")

const (
	workersChart = "inferometer"
	workersPlan  = "plan: {target: {urls: ['http://model:8000'], model: m}, stages: [{concurrency: 8, duration: 30s}]}\n"
)

// parts are the documents of a rendered chart, by what they are for.
func parts(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, doc := range documents(t, text) {
		name := doc["kind"].(string)
		if name == "Job" {
			name = at(doc, "metadata", "labels", "app.kubernetes.io/component").(string)
		}
		if out[name] != nil {
			t.Errorf("two objects are a %s", name)
		}
		out[name] = doc
	}
	return out
}

// together checks what no schema says: that mounts have volumes and references their objects, that workers find the
// coordinator, and that the program takes its command line.
func together(t *testing.T, all map[string]map[string]any) {
	t.Helper()
	for _, name := range []string{"coordinator", "worker"} {
		pod := at(all[name], "spec", "template", "spec")
		restricted(t, pod, at(pod, "containers").([]any))
		if at(pod, "containers", 0, "securityContext", "readOnlyRootFilesystem") != true {
			t.Errorf("%s may write to its image", name)
		}
		volumes := map[any]bool{}
		for _, v := range at(pod, "volumes").([]any) {
			volumes[at(v, "name")] = true
		}
		for _, m := range at(pod, "containers", 0, "volumeMounts").([]any) {
			if !volumes[at(m, "name")] {
				t.Errorf("%s: a mount without its volume: %v", name, m)
			}
		}
		secret := at(pod, "containers", 0, "env", 1, "valueFrom", "secretKeyRef")
		if made := all["Secret"]; made != nil && (at(made, "metadata", "name") != at(secret, "name") || at(made, "data", at(secret, "key").(string)) == nil) {
			t.Errorf("%s does not read the Secret: %v", name, secret)
		}
	}
	if s := all["Service"]; s != nil {
		join := at(all["worker"], "spec", "template", "spec", "containers", 0, "args", 2)
		if want := fmt.Sprintf("nats://%v:4222", at(s, "metadata", "name")); join != want {
			t.Errorf("workers join %v, and the Service is %s", join, want)
		}
		labels := at(all["coordinator"], "spec", "template", "metadata", "labels").(map[string]any)
		for key, want := range at(s, "spec", "selector").(map[string]any) {
			if labels[key] != want {
				t.Errorf("the Service selects %s: %v, and the coordinator has %v", key, want, labels[key])
			}
		}
	}
	plan, _ := at(all["ConfigMap"], "data", "plan.yaml").(string)
	if plan == "" {
		return // the user's
	}
	if at(all["ConfigMap"], "metadata", "name") != volume(all["coordinator"], "plan", "configMap", "name") {
		t.Error("the coordinator does not read the plan")
	}
	var line []string
	for _, word := range at(all["coordinator"], "spec", "template", "spec", "containers", 0, "args").([]any)[1:] {
		line = append(line, word.(string))
	}
	if _, err := args.Run(line, registry.Known(), func(string) ([]byte, error) { return []byte(plan), nil }); err != nil {
		t.Errorf("%v: %v\n%s", line, err, plan)
	}
}

// volume follows a path in the volume of this name.
func volume(job any, name string, path ...any) any {
	for _, v := range at(job, "spec", "template", "spec", "volumes").([]any) {
		if at(v, "name") == name {
			return at(v, path...)
		}
	}
	return nil
}

func TestWorkersChart(t *testing.T) {
	const worker, coordinator = "worker", "coordinator"
	container := func(path ...any) []any { return append([]any{"spec", "template", "spec", "containers", 0}, path...) }
	pod := func(path ...any) []any { return append([]any{"spec", "template", "spec"}, path...) }
	for _, c := range []struct {
		name, values, kinds string
		from                string
		path                []any
		want                any
	}{
		{"plain", "", "ConfigMap Secret Service coordinator worker", worker, []any{"spec", "completions"}, 2},
		{"as many as asked for", "workers: {count: 50}", "ConfigMap Secret Service coordinator worker", worker, []any{"spec", "parallelism"}, 50},
		{"the run waits for as many", "workers: {count: 50}", "ConfigMap Secret Service coordinator worker", coordinator, container("args", 3), "50"},
		{"a lost one is not replaced", "", "ConfigMap Secret Service coordinator worker", worker, []any{"spec", "backoffLimitPerIndex"}, 0},
		{"the run is not repeated", "", "ConfigMap Secret Service coordinator worker", coordinator, []any{"spec", "backoffLimit"}, 0},
		{"a name of its own", "", "ConfigMap Secret Service coordinator worker", worker, container("args", 4), "pod-$(JOB_COMPLETION_INDEX)"},
		{"spread", "workers: {spread: DoNotSchedule}", "ConfigMap Secret Service coordinator worker", worker, pod("topologySpreadConstraints", 0, "whenUnsatisfiable"), "DoNotSchedule"},
		{"plan from a file", "plan: null\nplanFile: \"target: {urls: ['http://model:8000'], model: m}\\nstages: [{concurrency: 8, duration: 30s}]\\n\"", "ConfigMap Secret Service coordinator worker", coordinator, container("args", 1), "/etc/inferometer/plan.yaml"},
		{"plan that is there", "plan: null\nexistingPlan: mine", "Secret Service coordinator worker", coordinator, pod("volumes", 4, "configMap", "name"), "mine"},
		{"token", "token: {value: abc}", "ConfigMap Secret Service coordinator worker", "Secret", []any{"data", "token"}, "YWJj"},
		{"token of a secret", "token: {existingSecret: mine, key: k}", "ConfigMap Service coordinator worker", worker, container("env", 1, "valueFrom", "secretKeyRef", "name"), "mine"},
		{"api key", "apiKey: {secret: {name: mine}}", "ConfigMap Secret Service coordinator worker", worker, container("env", 2, "name"), "SERVER_API_KEY"},
		{"api key of the run", "apiKey: {secret: {name: mine}}", "ConfigMap Secret Service coordinator worker", coordinator, container("args", 7), "SERVER_API_KEY"},
		{"nats", "nats: {url: 'tls://nats:4222'}", "ConfigMap Secret coordinator worker", worker, container("args", 2), "tls://nats:4222"},
		{"nats of the run", "nats: {url: 'tls://nats:4222'}", "ConfigMap Secret coordinator worker", coordinator, container("args", 5), "tls://nats:4222"},
		{"claim", "results: {size: 5Gi, storageClassName: fast}", "ConfigMap PersistentVolumeClaim Secret Service coordinator worker", coordinator, pod("volumes", 3, "persistentVolumeClaim", "claimName"), "bench-inferometer-results"},
		{"further flags", "args: [--all]", "ConfigMap Secret Service coordinator worker", coordinator, container("args", 8), "--all"},
		{"workspace", "workers: {workspace: {hostPath: {path: /data}}}", "ConfigMap Secret Service coordinator worker", worker, pod("volumes", 2, "hostPath", "path"), "/data"},
		{"files", "volumes: [{name: data, emptyDir: {}}]\nvolumeMounts: [{name: data, mountPath: /data}]\nenv: [{name: HF_TOKEN, value: x}]", "ConfigMap Secret Service coordinator worker", worker, container("volumeMounts", 3, "mountPath"), "/data"},
		{"place", "workers: {nodeSelector: {pool: load}, tolerations: [{operator: Exists}]}\nimagePullSecrets: [{name: r}]\nserviceAccountName: me\nttlSecondsAfterFinished: 60", "ConfigMap Secret Service coordinator worker", worker, pod("nodeSelector", "pool"), "load"},
		{"image", "image: r/x:2", "ConfigMap Secret Service coordinator worker", coordinator, container("image"), "r/x:2"},
		{"grace", "terminationGracePeriodSeconds: 300", "ConfigMap Secret Service coordinator worker", worker, pod("terminationGracePeriodSeconds"), 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := renderChart(workersChart, over(t, workersPlan, c.values))
			if err != nil {
				t.Fatal(err)
			}
			all := parts(t, text)
			together(t, all)
			var kinds []string
			for _, kind := range []string{"ConfigMap", "PersistentVolumeClaim", "Secret", "Service", coordinator, worker} {
				if all[kind] != nil {
					kinds = append(kinds, kind)
				}
			}
			if got := strings.Join(kinds, " "); got != c.kinds {
				t.Errorf("%s, want %s", got, c.kinds)
			}
			if got := at(all[c.from], c.path...); got != c.want {
				t.Errorf("%v is %v, want %v\n%s", c.path, got, c.want, text)
			}
		})
	}
}

// over are values laid over others.
func over(t *testing.T, under, values string) map[string]any {
	t.Helper()
	all := parse(t, under)
	lay(all, parse(t, values))
	return all
}

// Another run has other names, so that its workers cannot meet those of the one before.
func TestWorkersChartNames(t *testing.T) {
	names := func(values string) map[string]bool {
		text, err := renderChart(workersChart, over(t, workersPlan, values))
		if err != nil {
			t.Fatal(err)
		}
		all, out := parts(t, text), map[string]bool{}
		for _, part := range []string{"Service", "coordinator", "worker", "ConfigMap"} {
			name := at(all[part], "metadata", "name").(string)
			if len(name) > 63 || strings.Contains(name, "--") {
				t.Errorf("%s is called %s", part, name)
			}
			out[name] = true
		}
		return out
	}
	first := names("")
	for name := range names("run: again") {
		if first[name] {
			t.Errorf("two runs have a %s", name)
		}
	}
	names("nameOverride: " + strings.Repeat("long-", 30))
}

func TestWorkersChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"plan: null":                             "nothing to run",
		"planFile: 'a: b'":                       "give one of them",
		"existingPlan: a":                        "give one of them",
		"workers: {count: 0}":                    "count",
		"workers: {number: 2}":                   "number",
		"workers: {spread: maybe}":               "spread",
		"nats: {url: 'http://nats:4222'}":        "url",
		"token: {existingSecret: a, value: b}":   "both given",
		"results: {existingClaim: a, size: 1Gi}": "both given",
		"terminationGracePeriodSeconds: 0":       "terminationGracePeriodSeconds",
		"image: {repository: a, tag: ''}":        "tag",
		"apiKey: {secret: {name: a, key: ''}}":   "key",
		"volumeMounts: [{name: a}]":              "mountPath",
	} {
		if _, err := renderChart(workersChart, over(t, workersPlan, values)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", values, err, want)
		}
	}
}

// manifestHead is what the manifests begin with.
const manifestHead = `# A run that several workers send, as Jobs: the Helm chart's objects without Helm. The plan and the token are yours:
#
#   kubectl create configmap inferometer-plan --from-file=plan.yaml
#   kubectl create secret generic inferometer-token --from-literal=token=$(openssl rand -hex 16)
#
# Made by go test ./deploy -update.
`

// The manifests are what the chart makes, with names that do not change.
func TestWorkersManifests(t *testing.T) {
	text, err := renderChart(workersChart, parse(t, "{fullnameOverride: inferometer, existingPlan: inferometer-plan, token: {existingSecret: inferometer-token}, workers: {count: 4}}"))
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`inferometer-[0-9a-f]{8}\b`).ReplaceAllString(text, "inferometer")
	text = regexp.MustCompile(`(?m)^ *(helm\.sh/chart|app\.kubernetes\.io/(managed-by|instance)): .*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^\s*\n`).ReplaceAllString(text, "")
	text = manifestHead + strings.Trim(regexp.MustCompile(`(---\n)+`).ReplaceAllString(text, "---\n"), "-\n") + "\n"
	together(t, parts(t, text))
	const name = "inferometer.yaml"
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(name); err != nil || !bytes.Equal(old, []byte(text)) {
		t.Errorf("%s is not what the chart makes: run go test ./deploy -update (%v)", name, err)
	}
}

// What Helm prints after an installation names the Job whose log has the report.
func TestWorkersNotes(t *testing.T) {
	text, err := renderChart(workersChart, parse(t, workersPlan))
	if err != nil {
		t.Fatal(err)
	}
	notes, err := renderNotes(workersChart, parse(t, workersPlan))
	if err != nil {
		t.Fatal(err)
	}
	if job := at(parts(t, text)["coordinator"], "metadata", "name").(string); !strings.Contains(notes, "logs -f job/"+job+"\n") {
		t.Errorf("no %s in: %s", job, notes)
	}
}
