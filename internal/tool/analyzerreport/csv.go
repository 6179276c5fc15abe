package analyzerreport

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// CSVOptions say which columns there are.
type CSVOptions struct {
	Verbose   bool // --verbose-csv
	Decoupled bool
	GPUs      bool
	// Percentile: a percentile of latency stands instead of the average, which has no
	// column then.
	Percentile bool
}

// CSV writes the levels, the slowest first.
func CSV(w io.Writer, levels []LevelReport, o CSVOptions) error {
	if len(levels) == 0 {
		return nil
	}
	p := new(printer)
	levels = byThroughput(levels)
	server, cache := columns(levels)
	p.head(&levels[0], o, server, cache)
	for i := range levels {
		p.row(&levels[i], o, server, cache)
	}
	return p.flush(w)
}

func byThroughput(levels []LevelReport) []LevelReport {
	levels = slices.Clone(levels)
	slices.SortStableFunc(levels, func(a, b LevelReport) int { return cmp.Compare(a.Client.Throughput, b.Client.Throughput) })
	return levels
}

func columns(levels []LevelReport) (server, cache bool) {
	for i := range levels {
		if m := levels[i].Server; m != nil {
			server = true
			cache = cache || cachingOf(m).some
		}
	}
	return server, cache
}

// serverColumns are those between the client's two.
func serverColumns(cache bool) []string {
	list := []string{"Network+Server Send/Recv", "Server Queue", "Server Compute Input", "Server Compute Infer", "Server Compute Output"}
	if cache {
		list = append(list, "Server Cache Hit", "Server Cache Miss")
	}
	return list
}

func (p *printer) head(first *LevelReport, o CSVOptions, server, cache bool) {
	cells := []string{first.Load.kind(), "Inferences/Second"}
	if o.Decoupled {
		cells = append(cells, "Response Throughput")
	}
	cells = append(cells, "Client Send")
	if server {
		cells = append(cells, serverColumns(cache)...)
	}
	cells = append(cells, "Client Recv")
	for _, q := range first.Client.Latency.Percentiles {
		cells = append(cells, "p"+strconv.Itoa(q.P)+" latency")
	}
	if o.Verbose {
		if !o.Percentile {
			cells = append(cells, "Avg latency")
		}
		cells = append(cells, "request/response", "response wait")
		if o.GPUs {
			for _, part := range gpuParts() {
				cells = append(cells, part.name)
			}
		}
	}
	p.cells(cells)
}

func (p *printer) cells(cells []string) { p.line("%s", strings.Join(cells, ",")) }

func us(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }

func (p *printer) row(l *LevelReport, o CSVOptions, server, cache bool) {
	c := &l.Client
	cells := []string{number(l.Load.Value), number(c.Throughput)}
	if o.Decoupled {
		cells = append(cells, number(c.Streamed))
	}
	cells = append(cells, us(c.Send))
	if server {
		times, _ := parts(cmp.Or(l.Server, &record.ModelStats{}), cache)
		cells = append(append(cells, us(network(l))), times...)
	}
	cells = append(cells, us(c.Receive))
	for _, q := range c.Latency.Percentiles {
		cells = append(cells, us(q.Value))
	}
	if o.Verbose {
		if !o.Percentile {
			cells = append(cells, us(c.Latency.Avg))
		}
		whole, coding := c.Request.Microseconds(), c.Send.Microseconds()+c.Receive.Microseconds()
		cells = append(cells, strconv.FormatInt(coding, 10), strconv.FormatInt(max(whole-coding, 0), 10))
		if o.GPUs {
			for _, part := range gpuParts() {
				cells = append(cells, gpuCell(l.GPUs, part))
			}
		}
	}
	p.cells(cells)
}

// gpuCell is one figure of all GPUs: uuid:value;uuid:value;
func gpuCell(list []record.GPU, part gpuPart) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(list[i].UUID + ":" + part.show(part.value(&list[i])) + ";")
	}
	return b.String()
}

// parts are the average times of a request's parts inside a model, as cells, and together.
func parts(m *record.ModelStats, cache bool) (cells []string, inside time.Duration) {
	list := []record.CountTime{m.Queue, m.ComputeInput, m.ComputeInfer, m.ComputeOutput}
	if cache {
		list = append(list, m.CacheHit, m.CacheMiss)
	}
	for _, c := range list {
		d := time.Duration(average(c))
		cells, inside = append(cells, us(d)), inside+d
	}
	return cells, inside
}

// network is what a request takes beside what the client and the server account for.
func network(l *LevelReport) time.Duration {
	c := &l.Client
	_, inside := parts(cmp.Or(l.Server, &record.ModelStats{}), true)
	return max(c.Latency.Avg-c.Send-c.Receive-inside, 0)
}

// outside is what a request to a model takes beside what the server accounts for.
func outside(m *record.ModelStats) time.Duration {
	_, inside := parts(m, true)
	return max(time.Duration(average(m.Success))-inside, 0)
}

// Unaccounted is how many rows, of the levels and of the models that these are made of, have
// nothing left beside what is accounted for: averages that are over different requests.
func Unaccounted(levels []LevelReport) (n int) {
	for i := range levels {
		m := levels[i].Server
		if m == nil {
			continue
		}
		if network(&levels[i]) == 0 {
			n++
		}
		for k := range m.Composing {
			if outside(&m.Composing[k]) == 0 {
				n++
			}
		}
	}
	return n
}

// ComposingName is the file of a composing model beside the file of the levels.
func ComposingName(file string, m *record.ModelStats) string {
	return filepath.Join(filepath.Dir(file), m.Name+"_v"+m.Version+"."+filepath.Base(file))
}

// Composing are the models that the levels' model is made of, each once, and not their parts.
func Composing(levels []LevelReport) []record.ModelStats {
	var out []record.ModelStats
	for i := range levels {
		for _, m := range cmp.Or(levels[i].Server, &record.ModelStats{}).Composing {
			if find(out, m.Name, m.Version) == nil {
				out = append(out, m)
			}
		}
	}
	return out
}

// find is a model of a list; nil means it is not in it.
func find(list []record.ModelStats, name, version string) *record.ModelStats {
	if i := slices.IndexFunc(list, func(m record.ModelStats) bool { return m.Name == name && m.Version == version }); i >= 0 {
		return &list[i]
	}
	return nil
}

// ComposingCSV writes the levels of one composing model. Its inferences per second are
// those of the whole, as many times as it was called for each.
func ComposingCSV(w io.Writer, levels []LevelReport, name, version string) error {
	p := new(printer)
	levels = byThroughput(levels)
	_, cache := columns(levels)
	headed := false
	for i := range levels {
		l := &levels[i]
		m := find(cmp.Or(l.Server, &record.ModelStats{}).Composing, name, version)
		if m == nil {
			continue
		}
		if !headed {
			p.cells(slices.Concat([]string{l.Load.kind(), "Inferences/Second", "Client Send"}, serverColumns(cache), []string{"Client Recv"}))
			headed = true
		}
		ratio := float64(m.Success.Count) / float64(max(l.Server.Success.Count, 1))
		times, _ := parts(m, cache)
		p.cells(slices.Concat([]string{number(l.Load.Value), number(l.Client.Throughput * ratio), "0", us(outside(m))}, times, []string{"0"}))
	}
	return p.flush(w)
}
