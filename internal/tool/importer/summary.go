package importer

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/pyjson"
)

// Summary is a file of figures as GenAI-Perf and AIPerf write it: one object, or a row, for
// each metric, with its unit and statistics.
type Summary struct {
	Metrics map[string]map[string]float64 // by tag and statistic, in the unit that Unit gives
	Units   map[string]string
	Texts   map[string]string // what else stands there as text
	Config  json.RawMessage   // input_config, or nil
	Errors  json.RawMessage   // error_summary
}

// ReadSummary reads the JSON form.
func ReadSummary(r io.Reader) (*Summary, error) {
	s := &Summary{Metrics: map[string]map[string]float64{}, Units: map[string]string{}, Texts: map[string]string{}}
	d := pyjson.NewDecoder(r)
	err := d.Object(func(key string) error {
		if len(s.Metrics)+len(s.Texts) > mostTexts {
			return errors.New("it has too many keys")
		}
		switch key {
		case "input_config":
			return d.Value(&s.Config)
		case "error_summary":
			return d.Value(&s.Errors)
		}
		var v any
		if err := d.Value(&v); err != nil {
			return err
		}
		switch v := v.(type) {
		case string:
			s.Texts[key] = v
		case map[string]any:
			s.metric(key, v)
		}
		return nil
	})
	return s, err
}

// metric keeps an object that has a unit.
func (s *Summary) metric(tag string, of map[string]any) {
	unit, ok := of["unit"].(string)
	if !ok {
		return
	}
	s.Units[tag], s.Metrics[tag] = unit, map[string]float64{}
	for name, v := range of {
		if n, ok := v.(float64); ok && Statistic(name) != "" {
			s.Metrics[tag][Statistic(name)] = n
		}
	}
}

// ReadSummaryCSV reads the CSV form: tables with a row for each metric, whose names have
// their unit behind them. Tags are the names in small letters with _ between the words.
func ReadSummaryCSV(r io.Reader) (*Summary, error) {
	s := &Summary{Metrics: map[string]map[string]float64{}, Units: map[string]string{}, Texts: map[string]string{}}
	c := csv.NewReader(r)
	c.FieldsPerRecord, c.LazyQuotes = -1, true
	var columns []string
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the table: %w", err)
		}
		if len(row) < 2 || len(s.Metrics) > mostTexts {
			continue
		}
		if row[0] == "Metric" {
			columns = row
			continue
		}
		name, unit, _ := strings.Cut(row[0], " (")
		tag := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
		for i := 1; i < len(row) && i < len(columns); i++ {
			v, err := strconv.ParseFloat(strings.ReplaceAll(row[i], ",", ""), 64)
			statistic := Statistic(strings.ToLower(columns[i]))
			if err != nil || statistic == "" {
				continue
			}
			if s.Metrics[tag] == nil {
				s.Metrics[tag], s.Units[tag] = map[string]float64{}, strings.TrimSuffix(unit, ")")
			}
			s.Metrics[tag][statistic] = v
		}
	}
}

// ours are the metrics that we have too, by their tags.
var ours = map[string]string{
	"time_to_first_token": "time_to_first_token", "time_to_second_token": "time_to_second_token", "time_to_first_output_token": "time_to_first_output_token",
	"inter_token_latency": "time_per_output_token", "inter_chunk_latency": "inter_event_latency", "request_latency": "request_latency",
	"output_sequence_length": "output_sequence_length", "input_sequence_length": "input_sequence_length", "output_token_throughput_per_user": "output_token_throughput_per_user",
	"request_throughput": "request_throughput", "output_token_throughput": "output_token_throughput", "input_token_throughput": "input_token_throughput",
	"total_token_throughput": "total_token_throughput", "goodput": "request_goodput", "request_goodput": "request_goodput", "good_request_fraction": "slo_attainment",
	"request_error_rate": "error_rate", "request_count": "request_count",
}

// Figures are those of the metrics that we have too.
func (s *Summary) Figures() Figures {
	f := Figures{}
	for tag, id := range ours {
		by := scale(s.Units[tag])
		for name, v := range s.Metrics[tag] {
			f.Set(id, name, v*by)
		}
	}
	return f
}

// Value is the average of a metric; 0: there is none.
func (s *Summary) Value(tag string) float64 { return s.Metrics[tag]["avg"] }

// scale is what figures of this unit are multiplied by: times are in ms, shares not in percent.
func scale(unit string) float64 {
	switch unit {
	case "ns":
		return 1e-6
	case "us", "µs":
		return 1e-3
	case "s", "sec", "seconds":
		return 1e3
	case "%":
		return 0.01
	}
	return 1
}
