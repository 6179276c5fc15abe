package args

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (b *builder) input() {
	s := &b.a.Settings
	s.InputMean, s.InputStddev = b.integer("input-mean", 550), b.integer("input-stddev", 0)
	s.OutputMean, s.OutputStddev = b.integer("output-mean", 0), b.integer("output-stddev", 0)
	s.Deterministic = b.given("deterministic")
	s.Prompts = b.integer("prompts", 100)
	s.Seed = b.integer("seed", 0)
	s.Prefixes, s.PrefixLength = b.integer("prefix-prompts", 0), b.integer("prefix-length", 100)
	b.faultIf(s.Prefixes > 0 && s.PrefixLength == 0, "--prefix-prompt-length", "must be more than 0", "")
	b.media()
	b.batch()
	b.faultIf(s.OutputStddev > 0 && s.OutputMean == 0, "--output-tokens-stddev", "needs --output-tokens-mean", "give both")
	if s.Release == Release2403 || b.given("expected-output") {
		s.InWords = b.integer("expected-output", 150)
		if !b.given("output-mean") {
			s.OutputMean = s.InWords
		}
	}
	if b.given("requested-output") {
		s.OutputMean, s.Deterministic = b.integer("requested-output", 0), true
		if !b.given("expected-output") {
			s.InWords = s.OutputMean
		}
	}
	if s.Plain() {
		s.InWords = 0
	}
	if s.Deterministic && s.ServiceKind == "openai" {
		s.Deterministic = false
		if b.given("deterministic") {
			b.warn("--output-tokens-mean-deterministic has no effect: the OpenAI API has no minimum number of tokens")
		}
	}
	b.source()
	b.idleMedia()
	b.fitting()
}

// batched are the endpoint types whose requests may hold several texts.
func batched() []string {
	return []string{"embeddings", "rankings", "nvclip", "completions", "generate", "huggingface_generate"}
}

// batch settles how many texts a request holds.
func (b *builder) batch() {
	s := &b.a.Settings
	s.Batch = b.integer("batch-text", 1)
	switch {
	case s.Batch == 1 || slices.Contains(batched(), s.EndpointType):
	case s.EndpointType == "image_retrieval" && !b.given("batch-image"):
		s.BatchImage, s.Batch = s.Batch, 1
		b.warn("%s is taken for --batch-size-image, which releases before 24.11 did not have", b.as("batch-text"))
	default:
		b.fault(b.as("batch-text"), "only for --endpoint-type "+strings.Join(batched(), ", "), "leave it out")
	}
}

// mostTokens bounds what all synthetic prompts together are: they are made ahead and kept.
const mostTokens = 500_000_000

// fitting checks what some endpoints need of the data, and how much of it there is.
func (b *builder) fitting() {
	s := &b.a.Settings
	made := s.InputFile == "" && s.PayloadFile == "" && s.Dataset == ""
	n := float64(s.Prompts) * float64(s.Batch)
	b.faultIf(made && n*float64(s.InputMean) > mostTokens, "--num-prompts", fmt.Sprintf("%.0f prompts of %d tokens are too many to keep in memory", n, s.InputMean), "use fewer or shorter ones")
	b.faultIf(s.EndpointType == "image_retrieval" && !s.Drawn() && s.InputFile == "", "--endpoint-type image_retrieval", "there are no images", "give --image-width-mean and --image-height-mean, or --input-file")
	b.faultIf(s.InputFile != "" && s.BatchImage > 1 && !s.Drawn() && s.Pictures(), "--batch-size-image", "has no effect on an input file, whose lines name their images", `list several in a line: {"image": ["a.png", "b.png"]}`)
	if s.EndpointType != "template" {
		return
	}
	for _, x := range b.used["extra"] {
		name, file, _ := strings.Cut(x.text[0], ":")
		if name != "payload_template" {
			b.fault(x.as, "the only field for a template is payload_template", "put others into the template")
			continue
		}
		s.Template = file
	}
	b.faultIf(s.Template == "", "--endpoint-type template", "the template is missing", "give --extra-inputs payload_template:FILE")
}

// syntheticFiles checks the names of generated files, of which only rankings' mean anything.
func (b *builder) syntheticFiles() {
	s := &b.a.Settings
	names := slices.Sorted(slices.Values(s.SyntheticFiles))
	switch {
	case s.EndpointType == "rankings" && !slices.Equal(names, []string{"passages", "queries"}):
		b.fault(b.as("input-file"), "rankings need queries and passages", "give synthetic:queries,passages")
	case s.EndpointType != "rankings" && len(names) > 1:
		b.fault(b.as("input-file"), "several synthetic files are only for --endpoint-type rankings: synthetic:queries,passages", "leave it out for synthetic prompts")
	}
}

// source settles where prompts come from.
func (b *builder) source() {
	s := &b.a.Settings
	file := b.text("input-file", "")
	if file == "" && b.given("input-file") {
		file = "." // as the original's paths
	}
	data := b.text("dataset", "")
	switch source := b.text("source", ""); source {
	case "url", "dataset":
		s.Dataset = cmp.Or(data, choicesOf("dataset")[0])
		b.faultIf(file != "", b.as("input-file"), fmt.Sprintf("cannot be combined with %s %s", b.as("source"), source), "give one of the two")
	case "file":
		s.InputFile = cmp.Or(file, "llm_inputs.json") // the original's default
		b.faultIf(data != "", b.as("dataset"), fmt.Sprintf("cannot be combined with %s file", b.as("source")), "give one of the two")
	case "synthetic":
		for _, key := range []string{"dataset", "input-file"} {
			if b.text(key, "") != "" {
				b.warn("%s has no effect with %s synthetic", b.as(key), b.as("source"))
			}
		}
	default:
		s.Dataset, s.InputFile = data, file
		b.faultIf(data != "" && file != "", b.as("input-file"), "cannot be combined with "+b.as("dataset"), "give one of the two")
	}
	switch scheme, file, _ := strings.Cut(s.InputFile, ":"); scheme {
	case "payload":
		s.PayloadFile, s.InputFile = file, ""
	case "synthetic": // what is made up where there is no file
		s.InputFile, s.SyntheticFiles = "", strings.Split(file, ",")
		b.syntheticFiles()
	}
	b.faultIf(s.EndpointType == "rankings" && s.PayloadFile != "", b.as("input-file"), "rankings take no payload files", "give a directory with queries.jsonl and passages.jsonl")
	if s.Dataset != "" || s.InputFile != "" {
		s.InWords = 0 // prompts of others are sent as they are
	}
}
