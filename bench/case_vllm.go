//go:build linux

package main

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// vllmRows have the client on one core beside the Rust client that comes with vLLM, with the server on
// cores enough: streams of 16 events in one write, and of 512 with eight events in each.
func vllmRows() []row {
	return []row{
		vllmRow("requests/s, one core, 16 streamed events, beside vllm-bench", canned.Spec{Events: 16}, "request", 1),
		vllmRow("events/s, one core, 512 streamed events, beside vllm-bench", canned.Spec{Events: 512, Writes: 64}, "event", 512),
	}
}

// fasterThanVLLM is how many times as much as vLLM's client we take in.
const fasterThanVLLM = 2

func vllmRow(name string, spec canned.Spec, unit string, per float64) row {
	one := []int{1}
	return row{"many cores: " + name, withCanned(spec, func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		peer := vllmBench()
		if err := peer.installed(b); err != nil {
			l.Miss(peer.name, err)
			return
		}
		g, err := b.grow(ctx, s, sp, one, work{events: spec.Events, stream: true}, []competitor{ours(), peer})
		if err != nil {
			l.Miss("clients", err)
			return
		}
		g.report(l, table.NameOurs, unit, per, one)
		// What it does ahead of its load, such as making prompts, is not held against it.
		theirs := stats.MedianOf(g.runs[peer.name][1], rateOf)
		l.AddAt(coreCount(1), peer.name, table.Show(per*theirs, "/s"), "server %.0f %% busy", 100*g.busy(peer.name, 1))
		l.AtLeast(fmt.Sprintf("%ss/s ÷ vllm-bench's", unit), g.rate(table.NameOurs, 1)/theirs, fasterThanVLLM, "")
	})}
}
