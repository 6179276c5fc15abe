// Package probe is about what servers say of themselves: totals since their start,
// taken before and after a piece of work, and what lies between.
package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// Prober asks one server.
type Prober interface {
	// Snapshot asks for all that is known. Where a part of it was not available, the
	// rest comes with an error that says what is missing; a nil snapshot is none.
	Snapshot(ctx context.Context) (*record.Snapshot, error)
	Close() error
}

// Difference is what a server did between two snapshots: counters as differences, gauges as they
// were at the end. A model that was not there before is counted from 0. restarted names what had
// begun anew, whose time before is unknown.
func Difference(before, after *record.Snapshot) (d *record.Snapshot, restarted string) {
	d = &record.Snapshot{At: after.At, GPUs: after.GPUs}
	for i := range after.Models {
		m := &after.Models[i]
		delta, anew := subtract(find(before.Models, m.Name, m.Version), m)
		d.Models = append(d.Models, delta)
		restarted = cmp.Or(restarted, anew)
	}
	for i := range before.Models {
		m := &before.Models[i]
		if find(after.Models, m.Name, m.Version) == nil && restarted == "" {
			restarted = fmt.Sprintf("model %s is gone", title(m))
		}
	}
	for _, s := range after.Metrics {
		if s.Counter {
			if i := slices.IndexFunc(before.Metrics, func(b record.Sample) bool { return b.Name == s.Name && b.Labels == s.Labels }); i >= 0 {
				if s.Value < before.Metrics[i].Value {
					restarted = cmp.Or(restarted, fmt.Sprintf("%s went from %v back to %v", s.Name, before.Metrics[i].Value, s.Value))
				}
				s.Value = max(0, s.Value-before.Metrics[i].Value)
			}
		}
		d.Metrics = append(d.Metrics, s)
	}
	return d, restarted
}

func find(models []record.ModelStats, name, version string) *record.ModelStats {
	for i := range models {
		if models[i].Name == name && models[i].Version == version {
			return &models[i]
		}
	}
	return nil
}

func title(m *record.ModelStats) string {
	if m.Version == "" {
		return m.Name
	}
	return m.Name + " version " + m.Version
}

// subtract is what a model did since before, which is nil where it was not there.
func subtract(before, after *record.ModelStats) (d record.ModelStats, restarted string) {
	if before == nil {
		before = new(record.ModelStats)
	}
	d = record.ModelStats{Name: after.Name, Version: after.Version, AnyVersion: after.AnyVersion, Cache: after.Cache,
		Decoupled: after.Decoupled}
	sub := func(what string, b, a uint64) uint64 {
		if a < b {
			restarted = cmp.Or(restarted, fmt.Sprintf("the %s of model %s went from %d back to %d", what, title(after), b, a))
			return 0
		}
		return a - b
	}
	d.Inferences = sub("number of inferences", before.Inferences, after.Inferences)
	d.Executions = sub("number of executions", before.Executions, after.Executions)
	of, was, is := times(&d), times(before), times(after)
	for i, what := range [...]string{"successes", "failures", "queue", "compute input", "compute infer", "compute output", "cache hits", "cache misses"} {
		of[i].Count, of[i].NS = sub("count of "+what, was[i].Count, is[i].Count), sub("time of "+what, was[i].NS, is[i].NS)
	}
	d.Responses = subtractResponses(before.Responses, after.Responses, sub)
	for i := range after.Composing {
		part := &after.Composing[i]
		delta, anew := subtract(find(before.Composing, part.Name, part.Version), part)
		d.Composing = append(d.Composing, delta)
		restarted = cmp.Or(restarted, anew)
	}
	return d, restarted
}

func times(m *record.ModelStats) [8]*record.CountTime {
	return [...]*record.CountTime{&m.Success, &m.Fail, &m.Queue, &m.ComputeInput, &m.ComputeInfer, &m.ComputeOutput, &m.CacheHit, &m.CacheMiss}
}

func subtractResponses(before, after []record.ResponseStats, sub func(what string, b, a uint64) uint64) []record.ResponseStats {
	var out []record.ResponseStats
	for _, a := range after {
		var b record.ResponseStats
		if i := slices.IndexFunc(before, func(r record.ResponseStats) bool { return r.Index == a.Index }); i >= 0 {
			b = before[i]
		}
		pair := func(b, a record.CountTime) record.CountTime {
			return record.CountTime{Count: sub("count of responses", b.Count, a.Count), NS: sub("time of responses", b.NS, a.NS)}
		}
		d := record.ResponseStats{
			Index: a.Index, ComputeInfer: pair(b.ComputeInfer, a.ComputeInfer), ComputeOutput: pair(b.ComputeOutput, a.ComputeOutput),
			Success: pair(b.Success, a.Success), Fail: pair(b.Fail, a.Fail), Empty: pair(b.Empty, a.Empty), Cancel: pair(b.Cancel, a.Cancel),
		}
		if d != (record.ResponseStats{Index: a.Index}) {
			out = append(out, d)
		}
	}
	return out
}

// Sum adds what several servers did: models' counters by name and version. GPUs and metrics stand
// apart.
func Sum(all []*record.Snapshot) *record.Snapshot {
	sum := new(record.Snapshot)
	for _, s := range all {
		sum.At = max(sum.At, s.At)
		sum.Models = addModels(sum.Models, s.Models)
		sum.GPUs = append(sum.GPUs, s.GPUs...)
		sum.Metrics = append(sum.Metrics, s.Metrics...)
	}
	return sum
}

func addModels(sum, more []record.ModelStats) []record.ModelStats {
	for i := range more {
		m := more[i]
		s := find(sum, m.Name, m.Version)
		if s == nil {
			m.Composing = addModels(nil, m.Composing)
			m.Responses = slices.Clone(m.Responses)
			sum = append(sum, m)
			continue
		}
		s.Inferences += m.Inferences
		s.Executions += m.Executions
		sums, parts := times(s), times(&m)
		for k := range sums {
			add(sums[k], *parts[k])
		}
		s.Responses = addResponses(s.Responses, m.Responses)
		s.Composing = addModels(s.Composing, m.Composing)
	}
	return sum
}

func addResponses(sum, more []record.ResponseStats) []record.ResponseStats {
	for _, m := range more {
		i, found := slices.BinarySearchFunc(sum, m.Index, func(r record.ResponseStats, index int) int { return r.Index - index })
		if !found {
			sum = slices.Insert(sum, i, m)
			continue
		}
		s := &sum[i]
		add(&s.ComputeInfer, m.ComputeInfer)
		add(&s.ComputeOutput, m.ComputeOutput)
		add(&s.Success, m.Success)
		add(&s.Fail, m.Fail)
		add(&s.Empty, m.Empty)
		add(&s.Cancel, m.Cancel)
	}
	return sum
}

func add(sum *record.CountTime, more record.CountTime) {
	sum.Count += more.Count
	sum.NS += more.NS
}

// Average is the mean time of something in nanoseconds; 0 where it never happened.
func Average(c record.CountTime) float64 {
	if c.Count == 0 {
		return 0
	}
	return float64(c.NS) / float64(c.Count)
}

// Overhead is how much of a successful request's time in the server, in nanoseconds on
// average, went neither to waiting in the queue nor to computing nor to the cache. It
// can come out below 0 where the server's own sums do not fit together.
func Overhead(m *record.ModelStats) float64 {
	if m.Success.Count == 0 {
		return 0
	}
	spent := m.Queue.NS + m.ComputeInput.NS + m.ComputeInfer.NS + m.ComputeOutput.NS + m.CacheHit.NS + m.CacheMiss.NS
	return (float64(m.Success.NS) - float64(spent)) / float64(m.Success.Count)
}
