package args

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// data says what requests are made of: once, in the original's form, to be used again and again.
func (b *builder) data(p *plan.Plan) {
	s, d := &b.a.Settings, &p.Data
	*d = plan.Data{
		Source: plan.SourceSynthetic, Prompts: s.Prompts, Pool: true, MinTokens: s.Deterministic, InWords: s.InWords,
		Input: length(s.InputMean, s.InputStddev), Output: b.output(),
	}
	b.models(d)
	b.batches(d)
	switch {
	case s.PayloadFile != "":
		alone := s.SessionConcurrency == 0 // a schedule has a time for every line
		d.Source, d.File, d.Prompts, d.InWords, d.Pool = plan.SourcePayload, s.PayloadFile, 0, 0, alone
		d.Payload = plan.Payload{Alone: alone, DelayRatio: ratio(s.DelayRatio)}
	case s.Sessions > 0 && (s.SessionConcurrency > 0 || s.InputFile == ""):
		d.Source, d.Prompts, d.InWords, d.Pool = plan.SourceSessions, 0, 0, false
		d.Sessions = plan.Sessions{
			Count: s.Sessions, Turns: spread(s.TurnsMean, s.TurnsStddev), Delay: spread(s.TurnDelayMean, s.TurnDelayStddev),
			DelayRatio: ratio(s.DelayRatio),
		}
	case s.Dataset != "":
		d.Source, d.Input = plan.SourceDataset, plan.Length{}
		d.Dataset = plan.Dataset{Kind: s.Dataset, Free: true}
		if s.Dataset == plan.DatasetCNN {
			d.Dataset.Hub.Split = "test"
		}
	case filepath.Ext(s.InputFile) == ".parquet":
		d.Source, d.Input = plan.SourceDataset, plan.Length{}
		d.Dataset = plan.Dataset{Kind: plan.DatasetAuto, Path: s.InputFile, Free: true}
	case s.InputFile != "":
		d.Source, d.File, d.Input, d.Prompts = plan.SourceFile, s.InputFile, plan.Length{}, 0
		if s.EndpointType == "rankings" {
			d.File = filepath.Join(s.InputFile, "queries.jsonl")
		}
	}
	if made := d.Source == plan.SourceSynthetic || d.Source == plan.SourceSessions; s.Prefixes > 0 && made {
		d.Prefixes = plan.Prefixes{Count: s.Prefixes, Length: length(s.PrefixLength, 0)}
	} else if s.Prefixes > 0 {
		b.warn("--num-prefix-prompts has no effect on prompts of a file")
	}
	d.Media = mediaOf(s)
	d.TextOnly = s.InputFile != "" && !s.Pictures()
}

// output is the length of answers that is asked for.
func (b *builder) output() plan.Length {
	s := &b.a.Settings
	if s.Plain() {
		return plan.Length{}
	}
	for _, x := range s.Extra {
		if n, ok := x.Value.(int64); ok && n > 0 && x.Name == "max_tokens" {
			return length(int(n), 0)
		}
	}
	if s.OutputMean == 0 && s.ServiceKind == "triton" && s.Backend == "tensorrtllm" {
		return length(usualOutput, 0) // such a model must be told
	}
	return length(s.OutputMean, s.OutputStddev)
}

// models says how a prompt gets one of several models.
func (b *builder) models(d *plan.Data) {
	s := &b.a.Settings
	if len(s.Models) < 2 {
		return
	}
	d.ModelOrder = plan.OrderRoundRobin
	if s.PickRandom {
		d.ModelOrder = plan.OrderShares
	}
	for _, name := range s.Models {
		d.Adapters = append(d.Adapters, plan.Adapter{Name: name, Share: 1 / float64(len(s.Models))})
	}
}

// batches says how many texts a request holds, and what queries are ranked against.
func (b *builder) batches(d *plan.Data) {
	s := &b.a.Settings
	if s.Batch > 1 {
		d.Batch = s.Batch
	}
	switch {
	case s.EndpointType != "rankings":
		d.Prompts *= s.Batch
	case s.InputFile != "":
		d.Passages.File = filepath.Join(s.InputFile, "passages.jsonl")
	default:
		d.Passages.Count = s.Prompts * s.Batch
	}
}

// mediaOf are the images and the audio of requests that are made up, which stand behind the
// text. Those of a file have their own.
func mediaOf(s *Settings) plan.Media {
	var m plan.Media
	if s.fromFile() {
		return m
	}
	behind := plan.Spot{Dist: plan.DistFixed, Mean: 1}
	if s.Drawn() && s.Pictures() {
		m.Image = plan.Images{
			Count: length(s.BatchImage, 0), At: behind, Format: s.ImageFormat, Noise: true,
			Width: length(s.ImageWidthMean, s.ImageWidthStddev), Height: length(s.ImageHeightMean, s.ImageHeightStddev),
		}
	}
	if s.AudioLengthMean > 0 && s.Media() {
		m.Audio = plan.Sounds{
			Count: length(s.BatchAudio, 0), At: behind, Noise: true, Depths: s.AudioDepths, Channels: s.AudioChannels,
			Clips: []plan.Sound{{Length: seconds(s.AudioLengthMean), Stddev: seconds(s.AudioLengthStddev)}},
		}
		if s.AudioFormat == "mp3" {
			m.Audio.Format = plan.AudioMP3
		}
		for _, r := range s.AudioRates {
			m.Audio.Rates = append(m.Audio.Rates, int(math.Round(r*1000)))
		}
	}
	return m
}

func seconds(v float64) plan.Duration { return plan.Duration(v * float64(time.Second)) }

// ratio is a factor as a plan has it, where 0 is 1.
func ratio(v float64) float64 {
	if v == 1 {
		return 0
	}
	return v
}

func length(mean, stddev int) plan.Length { return spread(float64(mean), float64(stddev)) }

func spread(mean, stddev float64) plan.Length {
	switch {
	case mean == 0:
		return plan.Length{}
	case stddev == 0:
		return plan.Length{Dist: plan.DistFixed, Mean: math.Round(mean)}
	default:
		return plan.Length{Dist: plan.DistNormal, Mean: mean, Stddev: stddev}
	}
}

// goodputOf are the objectives as a plan has them: times. A user's throughput is an inter-token
// latency; that of images a request latency, if their number is known.
func goodputOf(s *Settings) []plan.SLO {
	var list []plan.SLO
	add := func(metric string, ms float64) {
		most := plan.Duration(ms * float64(time.Millisecond))
		if i := slices.IndexFunc(list, func(s plan.SLO) bool { return s.Metric == metric }); i >= 0 {
			list[i].Max = min(list[i].Max, most)
		} else if most > 0 {
			list = append(list, plan.SLO{Metric: metric, Max: most})
		}
	}
	images := 0.0
	if s.Drawn() {
		images = float64(s.BatchImage)
	}
	for _, g := range s.Goodput {
		switch {
		case g.Metric == "output_token_throughput_per_user" && g.Value > 0:
			add("inter_token_latency", 1000/g.Value)
		case g.Metric == "image_throughput" && g.Value > 0:
			add("request_latency", 1000*images/g.Value)
		case g.Metric == "image_latency":
			add("request_latency", images*g.Value)
		case !strings.Contains(g.Metric, "throughput"):
			add(g.Metric, g.Value)
		}
	}
	return list
}
