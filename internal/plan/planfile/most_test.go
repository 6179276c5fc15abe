package planfile

import (
	"fmt"
	"strings"
	"testing"
)

// As many stages and levels as the bound says are taken, and not one more.
func TestMostStages(t *testing.T) {
	list := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+", ", n), ", ") }
	stage := "stages: [{concurrency: 1}]\nmeasurement: {mode: windows, window: 1s}\n"
	for _, c := range []struct {
		name string
		plan func(n int) string
		want string
	}{
		{"stages", func(n int) string { return "stages: [" + list("{concurrency: 1, requests: 1}", n) + "]\n" }, "more than 10000"},
		{"a list of levels", func(n int) string { return stage + "levels: {list: [" + list("1", n) + "]}\n" }, "more than 10000"},
		{"levels by steps", func(n int) string { return stage + fmt.Sprintf("levels: {start: 1, end: %d, step: 1}\n", n) }, "more than 10000 levels"},
	} {
		for n, fits := range map[int]bool{mostStages: true, mostStages + 1: false} {
			_, err := load("p.yaml", []byte("target: {urls: http://localhost:1}\n"+c.plan(n)))
			if fits == (err != nil && strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %d: %.200v", c.name, n, err)
			}
		}
	}
}
