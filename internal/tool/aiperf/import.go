package aiperf

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// importRun makes an output directory of files with single requests: a stage for each measured
// phase.
func importRun(env tool.Env, from tool.From, dir string) (*tool.Imported, error) {
	sources, err := find(from.Path)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	for _, s := range sources {
		if s.records == "" {
			return nil, nil
		}
	}
	read := &tool.Imported{By: by, Notes: notes()}
	var s survey
	configs, sums := make([]config, len(sources)), make([]*importer.Summary, len(sources))
	for i, src := range sources {
		if err := s.read(i, src); err != nil {
			return nil, err
		}
		if sums[i], err = src.read(); err != nil {
			return nil, err
		}
		if sums[i] != nil {
			configs[i], read.By = readConfig(sums[i].Config), version(sums[i])
		}
	}
	if len(s.parts) == 0 {
		return nil, fmt.Errorf("%s: it has no requests but those of a warm-up", sources[0].records)
	}
	stages, known := s.stages(configs)
	p := importer.Plan(dir, configs[0].model(), configs[0].url(), s.stream, stages)
	importer.Endpoint(p, configs[0].Endpoint.Type)
	p.Target.Streaming = s.stream
	read.Notes = append(read.Notes, s.notes(known, sums)...)
	header := record.Header{Version: env.Version, Decoder: p.Target.Protocol, Start: time.Unix(0, s.base)}
	return read, saved.Create(p, header, func(add func(*record.Record) error) error { return s.add(sources, configs, p, add) })
}

func (s *survey) add(sources []source, configs []config, p *plan.Plan, add func(*record.Record) error) error {
	ranks := importer.Ranks(s.starts)
	n := 0
	for i, src := range sources {
		err := each(src.records, func(l *line) error {
			if n == len(ranks) {
				return errors.New("the file has grown while it was read")
			}
			r := l.request(s.base, src.raw, configs[i].Endpoint.Server)
			r.Seq, r.Stage = ranks[n], s.stageOf(i, l)
			n++
			if credit := l.Metadata.Credit; credit > 0 && p.Stages[max(r.Stage, 0)].Rate > 0 {
				r.Due = max(min(time.Duration(credit-s.base), r.Sent), 0)
			}
			if r.Stage < 0 { // a warm-up that nothing follows
				return nil
			}
			return add(r.Record())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// notes say what is particular about these requests.
func (s *survey) notes(known bool, sums []*importer.Summary) []string {
	var list []string
	if !known {
		list = append(list, "The load is what the requests show it to have been: the summary, which says what it was to be, is not beside them or gives no rate and no concurrency.")
	}
	if s.chunks {
		list = append(list, "Of some responses there are no inter chunk latencies: they have no gaps between tokens.")
	}
	if s.raw {
		list = append(list, "Tokens are those of the server's usage: the raw export has no other count.")
	}
	for i, sum := range sums {
		if sum == nil {
			continue
		}
		begin, end := int64(0), int64(0)
		for _, p := range s.parts {
			if p.file == i {
				begin, end = p.begin[0], p.end[len(p.end)-1]
			}
		}
		list = importer.Noted(list, i, len(sums), importer.Window(by, window(sum), time.Duration(end-begin).Seconds()))
	}
	return list
}

func version(s *importer.Summary) string {
	if v := s.Texts["aiperf_version"]; v != "" && len(v) < 40 {
		return by + " " + v
	}
	return by
}

// window is by what the rates of a summary are divided, in seconds.
func window(s *importer.Summary) float64 {
	if n, rate := s.Value("request_count"), s.Value("request_throughput"); rate > 0 {
		return n / rate
	}
	return 0
}

func (s *source) read() (*importer.Summary, error) {
	name, reader := s.summary, importer.ReadSummary
	if name == "" {
		name, reader = s.table, importer.ReadSummaryCSV
	}
	if name == "" {
		return nil, nil
	}
	return importer.ReadFile(name, by, tool.Inputs(), reader)
}

// figures reads summaries: a load for each run.
func figures(_ tool.Env, from tool.From) (*tool.Figures, error) {
	sources, err := find(from.Path)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	f := &tool.Figures{Imported: tool.Imported{By: by, Notes: notes()}}
	var stages []plan.Stage
	var first config
	known := true
	for i := range sources {
		sum, err := sources[i].read()
		if err != nil {
			return nil, err
		}
		if sum == nil || len(sum.Metrics) == 0 {
			return nil, nil
		}
		load := tool.LoadFigures{OK: int64(sum.Value("request_count")), Seconds: window(sum), Metrics: sum.Figures()}
		load.Failed = max(int64(sum.Value("error_request_count")), failed(sum.Errors))
		c := readConfig(sum.Config)
		if i == 0 {
			first, f.By, f.Started = c, version(sum), started(sum)
		}
		st, ok := c.stage("profiling", load.OK+load.Failed, 0, time.Duration(load.Seconds*float64(time.Second)))
		known = known && ok
		stages, f.Loads = append(stages, st), append(f.Loads, load)
	}
	f.Plan = importer.Plan("", first.model(), first.url(), first.Endpoint.Streaming, stages)
	importer.Endpoint(f.Plan, first.Endpoint.Type)
	f.Notes = append(f.Notes, "AIPerf divides its rates by the time from the start of the phase to the end of its last request, which is a little longer than from its first request on.")
	if !known {
		f.Notes = append(f.Notes, "The file does not say under which load this was measured.")
	}
	return f, nil
}

// failed is how many requests the list of errors counts.
func failed(text json.RawMessage) int64 {
	var list []struct {
		Count int64 `json:"count"`
	}
	if json.Unmarshal(text, &list) != nil {
		return 0
	}
	var n int64
	for _, e := range list {
		n += max(e.Count, 0)
	}
	return n
}

// started is when a run began, by a clock whose zone the file does not say.
func started(s *importer.Summary) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05.999999", s.Texts["start_time"])
	if err != nil {
		return time.Time{}
	}
	return t
}
