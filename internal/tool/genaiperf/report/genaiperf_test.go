package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

var update = flag.Bool("update", false, "write the golden files anew")

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// summaryOf reads the figures of a JSON report of the real tool, and the rest of it.
func summaryOf(t *testing.T, text string) (*dialect.Summary, string) {
	t.Helper()
	head, config, ok := strings.Cut(text, `"input_config": `)
	if !ok {
		t.Fatal("no input_config")
	}
	config = strings.TrimSuffix(config, "\n}")
	dec := json.NewDecoder(strings.NewReader(strings.TrimRight(head, ", \n") + "}"))
	s := &dialect.Summary{Release: dialect.Latest}
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var values map[string]any
		if err := dec.Decode(&values); err != nil {
			t.Fatal(err)
		}
		st := dialect.Stat{Name: name.(string), System: len(values) == 2}
		of := func(key string) float64 {
			v, _ := values[key].(float64)
			if isTime(st.Name) {
				return v * 1e6
			}
			return v
		}
		st.Avg, st.Min, st.Max, st.Std = of("avg"), of("min"), of("max"), of("std")
		for _, p := range dialect.Percentiles() {
			st.PercentileList = append(st.PercentileList, of(fmt.Sprintf("p%d", p)))
		}
		s.Stats = append(s.Stats, st)
	}
	return s, config
}

// The table, the CSV and the JSON of the real tool, made again from its figures. Those of
// older releases are what genai-perf 0.0.9, 0.0.12 and 0.0.14 make of figures that are
// made up.
func TestAsTheRealToolPrintsIt(t *testing.T) {
	for _, tt := range []struct {
		name     string
		endpoint string
		width    int
		release  dialect.Release
	}{
		{"openai", "chat", 80, dialect.Latest}, {"triton", "kserve", 140, dialect.Latest},
		{"2412", "chat", 80, dialect.Release2412}, {"2503", "chat", 100, dialect.Release2503}, {"2505", "chat", 120, dialect.Release2505},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, config := summaryOf(t, read(t, tt.name+".json"))
			s.Release = tt.release
			o := Options{Width: tt.width, Endpoint: tt.endpoint, Streaming: true, Goodput: tt.release != dialect.Latest}
			var b bytes.Buffer
			if err := Console(&b, s, o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read(t, tt.name+".txt"), b.String()); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
			b.Reset()
			if err := CSV(&b, s, o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read(t, tt.name+".csv"), b.String()); diff != "" {
				t.Errorf("CSV (-want +got):\n%s", diff)
			}
			b.Reset()
			if err := JSON(&b, s, config, nil, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rounded(read(t, tt.name+".json")), rounded(b.String())); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

// Goodput stands below the table of an early release, as in the first that had it.
func TestEarlyGoodput(t *testing.T) {
	s := &dialect.Summary{Release: dialect.Release2404, Stats: []dialect.Stat{
		{Name: dialect.OutputThroughput, System: true, Avg: 1205.256}, {Name: dialect.RequestThroughput, System: true, Avg: 10.82},
		{Name: dialect.RequestGoodput, System: true, Avg: 7.21},
	}}
	var b bytes.Buffer
	if err := Console(&b, s, Options{Width: 140, Goodput: true}); err != nil || !strings.HasSuffix(b.String(), "Output token throughput (per sec): 1205.26\nRequest goodput (per sec): 7.21\nRequest throughput (per sec): 10.82\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := CSV(&b, s, Options{}); err != nil || !strings.Contains(b.String(), "Request Goodput (per sec),7.21\r\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// rounded takes away the digits that going to nanoseconds and back changes.
func rounded(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		name, value, ok := strings.Cut(strings.TrimRight(line, ",\n"), ": ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil && strings.Contains(value, ".") {
			lines[i] = fmt.Sprintf("%s: %.12g\n", name, v)
		}
	}
	return strings.Join(lines, "")
}

// The tables that the README of 24.03 and the tutorial show, from their figures.
// differs: genai-early-tables
func TestTablesOfTheSeeds(t *testing.T) {
	seen := 0
	for part := range strings.SplitSeq(read(t, "seeds.txt"), "\n\n") {
		part = strings.TrimRight(part, "\n") + "\n"
		s := seedSummary(t, part)
		var b bytes.Buffer
		if err := Console(&b, s, Options{Width: 140, Streaming: true}); err != nil {
			t.Fatal(err)
		}
		// The title of the page has lost the spaces behind it.
		title, rest, _ := strings.Cut(b.String(), "\n")
		if diff := cmp.Diff(part, strings.TrimRight(title, " ")+"\n"+rest); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		seen++
	}
	if seen != 8 {
		t.Errorf("%d tables, want 8", seen)
	}
}

// seedSummary reads the figures out of a table.
func seedSummary(t *testing.T, text string) *dialect.Summary {
	t.Helper()
	s := &dialect.Summary{Release: dialect.Release2404}
	if strings.Contains(text, "PA LLM Metrics") {
		s.Release = dialect.Release2403
	}
	ids := map[string]string{
		"Time to first token (ns)": dialect.TimeToFirstToken, "Inter token latency (ns)": dialect.InterTokenLatency,
		"Request latency (ns)": dialect.RequestLatency, "Num output token": dialect.OutputSequenceLength,
		"Num input token":                   dialect.InputSequenceLength,
		"Output token throughput (per sec)": dialect.OutputThroughput, "Request throughput (per sec)": dialect.RequestThroughput,
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, "): "); ok {
			s.Stats = append(s.Stats, dialect.Stat{Name: ids[name+")"], System: true, Avg: number(value)})
		}
		cells := strings.Split(strings.Trim(line, "│\n"), "│")
		if len(cells) != 7 {
			continue
		}
		st := dialect.Stat{Name: ids[strings.TrimSpace(cells[0])], PercentileList: make([]float64, 9)}
		st.Avg, st.Min, st.Max = number(cells[1]), number(cells[2]), number(cells[3])
		st.PercentileList[8], st.PercentileList[6], st.PercentileList[5] = number(cells[4]), number(cells[5]), number(cells[6])
		s.Stats = append(s.Stats, st)
	}
	return s
}

func goldenWidths() []int { return []int{80, 100, 140} }

// Tables of each release at the widths of terminals.
func TestWidths(t *testing.T) {
	latest, _ := summaryOf(t, read(t, "openai.json"))
	first, _, _ := strings.Cut(read(t, "seeds.txt"), "\n\n")
	parts := strings.Split(read(t, "seeds.txt"), "\n\n")
	failed := *latest
	failed.Requests, failed.Failed, failed.Empty = 20000, 12, 3
	failed.Failures = []record.FailureCount{{Class: record.HTTPStatus, Count: 11, Example: "busy\nvery"}, {Class: record.Reset, Count: 1}}
	of := func(release dialect.Release) *dialect.Summary {
		s := *latest
		s.Release = release
		return &s
	}
	for name, c := range map[string]struct {
		s *dialect.Summary
		o Options
	}{
		"2406":       {of(dialect.Release2406), Options{Endpoint: "chat", Streaming: true}},
		"2408":       {of(dialect.Release2408), Options{Endpoint: "chat", Streaming: true}},
		"2408whole":  {of(dialect.Release2408), Options{Endpoint: "rankings"}},
		"2412":       {of(dialect.Release2412), Options{Endpoint: "multimodal"}},
		"2503":       {of(dialect.Release2503), Options{Endpoint: "embeddings"}},
		"2403":       {seedSummary(t, first), Options{Streaming: true}},
		"2403whole":  {seedSummary(t, first), Options{}},
		"2404":       {seedSummary(t, parts[4]), Options{Streaming: true}},
		"latest":     {latest, Options{Endpoint: "chat", Streaming: true}},
		"whole":      {latest, Options{Endpoint: "completions"}},
		"embeddings": {latest, Options{Endpoint: "embeddings", Goodput: true}},
		"failures":   {&failed, Options{Endpoint: "chat", Streaming: true}},
		"nothing":    {&dialect.Summary{Release: dialect.Release2403, Failed: 2}, Options{}},
	} {
		var b strings.Builder
		for _, w := range goldenWidths() {
			c.o.Width = w
			var one strings.Builder
			if err := Console(&one, c.s, c.o); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(one.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); strings.ContainsAny(line, "│┃━─") && n > w {
					t.Errorf("%s: a line of %d columns on a terminal of %d", name, n, w)
				}
			}
			fmt.Fprintf(&b, "%d columns\n%s\n", w, one.String())
		}
		path := filepath.Join("testdata", "golden", name+".txt")
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(read(t, filepath.Join("golden", name+".txt")), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The CSV files can be read by whoever reads CSV strictly.
func TestCSVIsStrict(t *testing.T) {
	latest, _ := summaryOf(t, read(t, "openai.json"))
	early := seedSummary(t, strings.Split(read(t, "seeds.txt"), "\n\n")[4])
	for _, tt := range []struct {
		s *dialect.Summary
		o Options
	}{{latest, Options{Endpoint: "chat", Streaming: true}}, {early, Options{Streaming: true}}, {&dialect.Summary{Release: dialect.Release2403}, Options{}}} {
		var b bytes.Buffer
		if err := CSV(&b, tt.s, tt.o); err != nil {
			t.Fatal(err)
		}
		for block := range strings.SplitSeq(b.String(), "\r\n\r\n") {
			r := csv.NewReader(strings.NewReader(block))
			if tt.s.Release == dialect.Release2403 {
				r.FieldsPerRecord = -1 // the two throughputs stand below with one value
			}
			if _, err := r.ReadAll(); err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("%v\n%s", err, block)
			}
		}
	}
}

// The CSV files of early releases: 24.03 has names as in a program, and one block.
func TestEarlyCSV(t *testing.T) {
	for _, tt := range []struct {
		release    dialect.Release
		head, tail string
	}{
		{dialect.Release2403, "Statistic,avg,min,max,p99,p95,p90,p75,p50,p25\r\ntime_to_first_token(ns),13266974,11818732,18351779,16513479,0,13741986,13544376,0,0\r\n",
			"num_output_token,104,100,129,128,0,109,105,0,0\r\noutput_token_throughput(per sec),460.42\r\nrequest_throughput(per sec),4.44\r\n"},
		{dialect.Release2404, "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\r\nTime To First Token (ns),13266974,11818732,18351779,16513479,0,13741986,13544376,0,0\r\n",
			"Num Input Token,199,199,199,199,0,199,199,0,0\r\n\r\nMetric,Value\r\nOutput Token Throughput (per sec),460.42\r\nRequest Throughput (per sec),4.44\r\n"},
		{dialect.Release2406, "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\r\nTime To First Token (ns),13266974,", "Request Throughput (per sec),4.44\r\n"},
		{dialect.Release2408, "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\r\nTime To First Token (ms),13.27,11.82,18.35,16.51,0.00,13.74,13.54,0.00,0.00\r\nInter Token Latency (ms),2.07,",
			"\r\n\r\nMetric,Value\r\nOutput Token Throughput (per sec),460.42\r\nRequest Throughput (per sec),4.44\r\n"},
	} {
		s := seedSummary(t, strings.Split(read(t, "seeds.txt"), "\n\n")[4])
		s.Release = tt.release
		var b bytes.Buffer
		if err := CSV(&b, s, Options{Endpoint: "chat", Streaming: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), tt.head) || !strings.HasSuffix(b.String(), tt.tail) {
			t.Errorf("%s: got\n%s", tt.release, b.String())
		}
	}
}

func TestNumbersAsPythonWritesThem(t *testing.T) {
	for v, want := range map[float64]string{
		16: "16.0", 0.5: "0.5", 0: "0.0", 1e-5: "1e-05", 0.0001: "0.0001", 1e16: "1e+16", 123456789012345680: "1.2345678901234568e+17", 1e15: "1000000000000000.0", -2.5: "-2.5",
	} {
		if got := number.PythonJSON(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("Time To First Token (ms)", "1,234.00", 80)
	f.Add("a", "b", 1)
	f.Add("x y\nz", "é漢字", 30)
	mutate.Fuzz(f, func(t *testing.T, name, cell string, width int) {
		if width < 0 || width > 1000 || len(name)+len(cell) > 1000 {
			return
		}
		tab := &table{title: name, header: []string{name, "avg", "min"}, rows: [][]string{{name, cell, cell}}}
		var b strings.Builder
		tab.write(&b, width)
		tab.firm = true
		tab.write(&b, width)
	})
}
