package deploy

import (
	"os"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// The examples of examples/kubernetes are what the cluster and the program take: the values render,
// objects fit together, and plans are plans.
func TestExamples(t *testing.T) {
	values, err := os.ReadFile("../examples/kubernetes/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := renderChart(workersChart, parse(t, string(values)))
	if err != nil {
		t.Fatal(err)
	}
	all := parts(t, text)
	together(t, all)
	isPlan(t, at(all["ConfigMap"], "data", "plan.yaml"))

	job, err := os.ReadFile("../examples/kubernetes/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	own := objects(t, string(job))
	pod := at(own["Job"], "spec", "template", "spec")
	restricted(t, pod, at(pod, "containers").([]any))
	volumes := map[any]bool{}
	for _, v := range at(pod, "volumes").([]any) {
		volumes[at(v, "name")] = true
	}
	for _, m := range at(pod, "containers", 0, "volumeMounts").([]any) {
		if !volumes[at(m, "name")] {
			t.Errorf("a mount without its volume: %v", m)
		}
	}
	if at(pod, "volumes", 0, "configMap", "name") != at(own["ConfigMap"], "metadata", "name") {
		t.Error("the Job does not read the plan")
	}
	isPlan(t, at(own["ConfigMap"], "data", "plan.yaml"))
}

func isPlan(t *testing.T, text any) {
	t.Helper()
	given, _ := text.(string)
	p, err := planfile.Decode("plan.yaml", []byte(given))
	if err == nil {
		err = planfile.Validate(p)
	}
	if err != nil {
		t.Errorf("%v: %s", err, given)
	}
}
