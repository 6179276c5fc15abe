package genaiperf

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// summaryFile is the table of all runs of a sweep.
const summaryFile = "analyze_export_genai_perf.csv"

// Analyze carries out a sweep, one run after the other. Each is told of when it has
// ended, and one that an earlier sweep measured as it is in its files; an error of one ends the sweep, and what was measured is kept.
func Analyze(ctx context.Context, a *args.Action, env *tool.Session, each func(level *args.Action, out *Outcome)) error {
	var rows, gpus [][]string
	state, err := openCheckpoint(a.Settings.Checkpoint)
	if err != nil {
		return tool.WrapPrepareError(err)
	}
	for i, level := range a.Levels {
		var id string
		var out *Outcome
		if id, err = key(level); err != nil {
			break
		}
		if before, ok := state.find(id); ok && a.Settings.Checkpoint != "" {
			fmt.Fprintf(env.Log, "%s was measured before: taken from the checkpoint.\n", before.Dir)
			rows, gpus = append(rows, before.Row), append(gpus, before.GPUs...)
			if out, err = Report(ctx, before.Dir, level.Settings, env); err != nil {
				break
			}
			each(level, out)
			continue
		}
		var d done
		if out, err = Profile(ctx, level, env); out != nil {
			each(level, out)
			d = doneOf(i, level, out)
			rows, gpus = append(rows, d.Row), append(gpus, d.GPUs...)
		}
		if err != nil || ctx.Err() != nil || out.Result.Interrupted {
			break
		}
		if err = state.keep(id, d); err != nil {
			break
		}
	}
	if len(rows) == 0 {
		return err
	}
	if said := answeredMost(rows, a.Levels[0].Settings.Rate > 0); said != "" {
		fmt.Fprintln(env.Log, said)
	}
	return errors.Join(err, writeSweep(filepath.Join(a.Settings.Artifacts, summaryFile), a.Levels[0].Settings.Rate > 0, rows, gpus))
}

// levelRow is the line of one run.
func levelRow(i int, s *args.Settings, sum *dialect.Summary) []string {
	figure := func(name string, of func(*dialect.Stat) float64) string {
		st, ok := sum.Stat(name)
		if !ok {
			return "N/A"
		}
		return fmt.Sprintf("%.2f", of(st))
	}
	p99 := func(st *dialect.Stat) float64 { return st.Percentile(99) }
	ms := func(st *dialect.Stat) float64 { return p99(st) * (1 / 1e6) }
	average := func(st *dialect.Stat) float64 { return st.Avg }
	load := strconv.Itoa(s.Concurrency)
	if s.Rate > 0 {
		load = strconv.FormatFloat(s.Rate, 'f', -1, 64)
	}
	isl := "0"
	if st, ok := sum.Stat(dialect.InputSequenceLength); ok {
		isl = strconv.Itoa(int(st.Percentile(99)))
	}
	return []string{
		fmt.Sprintf("%s_run_config_%d", s.Models[0], i), load, isl, strconv.Itoa(s.Prompts),
		figure(dialect.TimeToFirstToken, ms), figure(dialect.InterTokenLatency, ms), figure(dialect.RequestLatency, ms),
		figure(dialect.OutputSequenceLength, p99), figure(dialect.OutputThroughput, average), figure(dialect.RequestThroughput, average),
	}
}

// Columns of a line.
const (
	loadColumn     = 1
	answeredColumn = 9
)

// answeredMost says at which of several loads most requests were answered, and whether that tells
// what the server can do; empty where the runs differ in something else.
func answeredMost(rows [][]string, rated bool) string {
	unit := "in flight"
	if rated {
		unit = "requests/s sent"
	}
	loads := map[string]bool{}
	var best, highest []string
	of := func(row []string, column int) float64 {
		v, err := strconv.ParseFloat(row[column], 64)
		if err != nil {
			return -1
		}
		return v
	}
	for _, row := range rows {
		loads[row[loadColumn]] = true
		if best == nil || of(row, answeredColumn) > of(best, answeredColumn) {
			best = row
		}
		if highest == nil || of(row, loadColumn) > of(highest, loadColumn) {
			highest = row
		}
	}
	if len(rows) < 2 || len(loads) < len(rows) || of(best, answeredColumn) <= 0 {
		return ""
	}
	said := fmt.Sprintf("Of %d loads, most requests were answered with %s %s: %s per second. ", len(rows), best[loadColumn], unit, best[answeredColumn])
	if of(best, loadColumn) == of(highest, loadColumn) {
		return said + "That is the highest load of the sweep: what the server can do at most was not found."
	}
	return said + "No higher load of the sweep was answered faster."
}

// gpuRows are the lines of the GPUs in one run.
func gpuRows(i int, s *args.Settings, t dialect.Telemetry) [][]string {
	power := t.Find("gpu_power_usage")
	if power == nil {
		return nil
	}
	var rows [][]string
	for _, g := range power.GPUs {
		row := []string{fmt.Sprintf("%s_run_config_%d", s.Models[0], i), g.ID}
		for _, name := range []string{"gpu_power_usage", "energy_consumption", "gpu_utilization", "gpu_memory_used", "gpu_power_limit", "total_gpu_memory"} {
			row = append(row, gpuCell(t.Find(name), g.ID))
		}
		rows = append(rows, row)
	}
	return rows
}

// gpuCell is a metric of one GPU: its average where it does not change, else the 99th
// percentile.
func gpuCell(m *dialect.GPUMetric, id string) string {
	if m == nil {
		return "N/A"
	}
	i := slices.IndexFunc(m.GPUs, func(g dialect.GPU) bool { return g.ID == id })
	switch {
	case i < 0:
		return "N/A"
	case m.Constant:
		return fmt.Sprintf("%.2f", m.GPUs[i].Stat.Avg)
	}
	return fmt.Sprintf("%.2f", m.GPUs[i].Stat.Percentile(99))
}

// writeSweep writes the table of a sweep, and that of the GPUs below it. rated: its runs
// have a rate.
func writeSweep(path string, rated bool, rows, gpus [][]string) error {
	load := "Concurrency"
	if rated {
		load = "Request Rate"
	}
	header := []string{
		"Config Name", load, "ISL", "Num Dataset Entries", "p99 Time To First Token (ms)", "p99 Inter Token Latency (ms)", "p99 Request Latency (ms)",
		"p99 Output Sequence Length (tokens)", "Avg. Output Token Throughput (tokens/sec)", "Request Throughput (requests/sec)",
	}
	gpu := []string{
		"Config Name", "GPU", "p99 GPU Power Usage (W)", "p99 GPU Energy Consumption (MJ)", "p99 GPU Utilization (%)", "p99 GPU Memory Used (GB)",
		"Avg. GPU Power Limit (W)", "Avg. GPU Total Memory (GB)",
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.UseCRLF = true
		err := errors.Join(out.Write(header), out.WriteAll(rows))
		_, blank := io.WriteString(w, "\r\n")
		return errors.Join(err, blank, out.Write(gpu), out.WriteAll(gpus))
	})
	if err != nil {
		return fmt.Errorf("writing the table of the sweep: %w", err)
	}
	return nil
}
