package args

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// swept is the flag that a kind of sweep changes from run to run.
func swept() map[string]string {
	return map[string]string{
		"batch_size": "batch-text", "concurrency": "concurrency", "num_dataset_entries": "prompts",
		"input_sequence_length": "input-mean", "request_rate": "request-rate",
	}
}

// mostRuns bounds a sweep: more is a slip of the keyboard.
const mostRuns = 1000

func (b *builder) analyze() (*Action, error) {
	kind := b.text("sweep-type", "concurrency")
	key := swept()[kind]
	points := b.points(kind)
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	all := b.a
	all.Command = Analyze
	for _, n := range points {
		one := *b.values
		one.used = maps.Clone(b.used)
		if load := []string{"concurrency", "request-rate"}; slices.Contains(load, key) {
			maps.DeleteFunc(one.used, func(name string, _ []value) bool { return slices.Contains(load, name) }) // as the original, the sweep wins
		}
		one.used[key] = []value{{flag: flagOf(key), as: "--sweep-type " + kind, text: []string{strconv.Itoa(n)}}}
		level := &builder{values: &one, a: &Action{Command: Profile, flags: one.flagsOf()}, analyzer: b.analyzer, sweeping: true}
		level.a.Settings.Release, level.a.Settings.Shape = all.Settings.Release, all.Settings.Shape
		level.refuse()
		level.settings()
		level.a.Settings.Sweep = b.sweep(kind, points)
		if kind != "concurrency" { // a rate of a sweep is written without a fraction
			s := &level.a.Settings
			s.Dir = filepath.Join(s.Artifacts, s.name()+"-"+kind+strconv.Itoa(n))
		}
		level.plan()
		if len(one.faults) > 0 {
			return nil, one.faults
		}
		if len(all.Levels) == 0 {
			all.Notes = append(all.Notes, level.a.Notes...)
		}
		level.a.Notes = nil
		all.Levels = append(all.Levels, level.a)
		all.DryRun, all.Strict = all.DryRun || level.a.DryRun, all.Strict || level.a.Strict
		all.Settings.Artifacts, all.Settings.Checkpoint = level.a.Settings.Artifacts, level.a.Settings.Checkpoint
	}
	return all, nil
}

// sweep is what the levels have in common: a range without a step, or all values.
func (b *builder) sweep(kind string, points []int) Sweep {
	ends := strings.Split(b.text("sweep-range", "1:1024"), ":")
	if b.given("sweep-list") || len(ends) != 2 {
		return Sweep{Kind: kind, List: points}
	}
	numbers := b.numbers("--sweep-range", ends)
	return Sweep{Kind: kind, Min: numbers[0], Max: numbers[1]}
}

func flagOf(key string) *option {
	table := flags()
	return &table[slices.IndexFunc(table, func(f option) bool { return f.key == key && f.releases&inLast != 0 })]
}

// points are the values that a sweep goes through.
func (b *builder) points(kind string) []int {
	list, hasList := b.last("sweep-list")
	if hasList && b.given("sweep-range") {
		b.fault("--sweep-list", "cannot be combined with --sweep-range", "give one of the two")
		return nil
	}
	if hasList {
		return b.numbers("--sweep-list", strings.Split(list.text[0], ","))
	}
	text := b.text("sweep-range", "")
	if text == "" {
		if kind != "concurrency" {
			b.fault("--sweep-type "+kind, "needs values", "give --sweep-range MIN:MAX or --sweep-list")
			return nil
		}
		text = "1:1024" // the original's
	}
	ends := b.numbers("--sweep-range", strings.Split(text, ":"))
	switch {
	case ends == nil:
		return nil
	case len(ends) < 2 || len(ends) > 3 || ends[0] > ends[1]:
		b.fault("--sweep-range", fmt.Sprintf("%q is not MIN:MAX or MIN:MAX:STEP", shorten(text)), "such as 1:64")
		return nil
	}
	var points []int
	for n := ends[0]; n <= ends[1] && len(points) <= mostRuns; {
		points = append(points, n)
		switch {
		case len(ends) == 3:
			n += ends[2]
		case kind == "num_dataset_entries": // the one that the original does not double
			n++
		default:
			n *= 2
		}
	}
	if len(points) > mostRuns {
		b.fault("--sweep-range", fmt.Sprintf("is more than %d runs", mostRuns), "give a larger step")
		return nil
	}
	return points
}

func (b *builder) numbers(where string, texts []string) []int {
	var list []int
	for _, text := range texts {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > 1<<30 {
			b.fault(where, fmt.Sprintf("%q is not a whole number from 1", shorten(text)), "")
			return nil
		}
		list = append(list, n)
	}
	if len(list) > mostRuns {
		b.fault(where, fmt.Sprintf("has more than %d values", mostRuns), "")
		return nil
	}
	return slices.Clip(list)
}
