package args

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// paths are where the endpoint types are on a server.
func paths() map[string]string {
	return map[string]string{
		"chat": "v1/chat/completions", "completions": "v1/completions", "embeddings": "v1/embeddings",
		"multimodal": "v1/chat/completions", "vision": "v1/chat/completions", "rankings": "v1/ranking", "nvclip": "v1/embeddings",
		"image_retrieval": "v1/infer", "huggingface_generate": ".",
	}
}

// endpoint settles what is asked of the server.
func (b *builder) endpoint() {
	s := &b.a.Settings
	s.Endpoint = strings.TrimLeft(b.text("endpoint", ""), " /")
	s.EndpointType = b.text("endpoint-type", "")
	s.Backend = "tensorrtllm"
	if b.text("backend", "") == "vllm" {
		s.Backend = "vllm"
	}
	s.ServiceKind = b.text("service-kind", "")
	b.outputFormat()
	if s.ServiceKind == "" {
		s.ServiceKind = "triton"
		if s.EndpointType != "" && s.EndpointType != "kserve" {
			s.ServiceKind = "openai"
		}
	}
	s.GRPCMethod = b.text("grpc-method", "")
	if b.given("grpc-method") { // dynamic_grpc, which reads it, is refused
		b.warn("%s has no effect: it is for dynamic_grpc alone", b.as("grpc-method"))
	}
	switch s.ServiceKind {
	case "triton":
		b.triton()
	case "openai":
		b.openAI()
	default:
		b.unsupported("service-kind", s.ServiceKind, "--service-kind triton")
	}
}

// unsupported refuses a kind of service, and reports whether it did.
func (b *builder) unsupported(flag, kind, instead string) bool {
	switch kind {
	case "tensorrtllm_engine":
		b.fault(b.as(flag), kind+" is not supported: it needs Triton's in-process C API", "serve the model with Triton and use "+instead+" --backend tensorrtllm")
	case "dynamic_grpc":
		b.fault(b.as(flag), kind+" is not supported: only Triton is measured over gRPC", "use "+instead+", or NVIDIA's own perf_analyzer")
	default:
		return false
	}
	return true
}

// outputFormat reads the flag of 24.03 that says shape, service and backend in one.
func (b *builder) outputFormat() {
	s := &b.a.Settings
	format, ok := b.last("output-format")
	if !ok {
		return
	}
	want := "openai"
	switch format.text[0] {
	case "vllm":
		s.Backend, want = "vllm", "triton"
	case "trtllm":
		s.Backend, want = "tensorrtllm", "triton"
	case "openai_chat_completions":
		s.EndpointType = "chat"
	case "openai_completions":
		s.EndpointType = "completions"
	}
	s.ServiceKind = cmp.Or(s.ServiceKind, "triton") // the default, also of this release
	b.faultIf(s.ServiceKind != want, "--output-format", fmt.Sprintf("%s is a format of --service-kind %s, not of %s", format.text[0], want, s.ServiceKind), "change one of the two")
}

func (b *builder) triton() {
	s := &b.a.Settings
	b.faultIf(s.EndpointType != "" && s.EndpointType != "kserve", b.as("endpoint-type"), s.EndpointType+" is an endpoint of --service-kind openai", "leave one of the two out")
	s.EndpointType, s.Endpoint = "kserve", ""
}

// served are the endpoint types of OpenAI-like servers.
func served() []string {
	return []string{"chat", "completions", "embeddings", "multimodal", "vision", "rankings", "nvclip", "image_retrieval", "huggingface_generate", "generate", "template"}
}

// Plain reports whether answers have no text to count.
func (s *Settings) Plain() bool {
	return slices.Contains([]string{"embeddings", "rankings", "nvclip", "image_retrieval", "template"}, s.EndpointType)
}

// Media reports whether requests are chats that may hold images and sound; vision is an older name.
func (s *Settings) Media() bool { return s.EndpointType == "multimodal" || s.EndpointType == "vision" }

// Pictures reports whether requests may hold images.
func (s *Settings) Pictures() bool {
	return s.Media() || slices.Contains([]string{"nvclip", "image_retrieval", "huggingface_generate"}, s.EndpointType)
}

// generateAt is the model and the version that a path of Triton's generate is of.
func generateAt(path string) (model, version string, ok bool) {
	rest, ok := strings.CutPrefix(path, "v2/models/")
	rest, whole := strings.CutSuffix(rest, "/generate")
	if !whole {
		rest, whole = strings.CutSuffix(rest, "/generate_stream")
	}
	model, version, _ = strings.Cut(rest, "/versions/")
	return model, version, ok && whole && model != "" && !strings.Contains(model+version, "/")
}

func (b *builder) openAI() {
	s := &b.a.Settings
	b.faultIf(b.given("backend"), "--backend", "only for --service-kind triton", "leave it out")
	if s.EndpointType == "" && s.Endpoint != "" { // the path says it
		if i := slices.IndexFunc(served(), func(kind string) bool { return s.Endpoint == paths()[kind] }); i >= 0 {
			s.EndpointType = served()[i]
		}
	}
	switch {
	case s.Endpoint == "" && (s.EndpointType == "" || s.Release == Release2403 && !b.given("endpoint-type")):
		b.fault("--service-kind openai", "needs --endpoint", "such as --endpoint v1/chat/completions or --endpoint v1/completions")
		return
	case s.EndpointType == "":
		b.fault("--endpoint", fmt.Sprintf("the type of endpoint %q is unknown", shorten(s.Endpoint)), "name it with --endpoint-type chat or completions")
		return
	case b.unsupported("endpoint-type", s.EndpointType, "--endpoint-type kserve"):
	case !slices.Contains(served(), s.EndpointType):
		b.fault(b.as("endpoint-type"), s.EndpointType+" is not supported", "one of "+strings.Join(append(served(), "kserve"), ", "))
	}
	switch {
	case s.Endpoint != "":
	case s.EndpointType == "generate":
		if len(s.Models) > 0 {
			s.Endpoint = "v2/models/" + s.Models[0] + "/generate"
		}
		if s.Streaming {
			s.Endpoint += "_stream"
		}
	case s.EndpointType == "template":
		b.fault("--endpoint-type template", "needs --endpoint, to post the bodies to", "for the tensors of a Triton model, use inferometer perf_analyzer --input-data")
	default:
		s.Endpoint = paths()[s.EndpointType]
	}
	b.faultIf(s.Streaming && s.Plain(), "--streaming", s.EndpointType+" responses are never streamed", "leave it out")
}

// media settles the images and the audio of requests.
func (b *builder) media() {
	s := &b.a.Settings
	s.ImageWidthMean, s.ImageWidthStddev = b.integer("image-width-mean", 0), b.integer("image-width-stddev", 0)
	s.ImageHeightMean, s.ImageHeightStddev = b.integer("image-height-mean", 0), b.integer("image-height-stddev", 0)
	s.ImageFormat = b.text("image-format", "png")
	s.BatchImage, s.BatchAudio = b.integer("batch-image", 1), b.integer("batch-audio", 1)
	s.AudioLengthMean, s.AudioLengthStddev = b.number("audio-length-mean", 0), b.number("audio-length-stddev", 0)
	s.AudioChannels = b.integer("audio-num-channels", 1)
	s.AudioDepths, s.AudioRates = []int{16}, []float64{16}
	if u, ok := b.last("audio-depths"); ok {
		s.AudioDepths = nil
		for _, text := range u.text {
			n, err := strconv.Atoi(text)
			b.faultIf(b.heard() && (err != nil || !slices.Contains([]int{8, 16, 24, 32}, n)), u.as, fmt.Sprintf("%q is not a bit depth", shorten(text)), "8, 16, 24 or 32")
			s.AudioDepths = append(s.AudioDepths, n)
		}
	}
	if u, ok := b.last("audio-sample-rates"); ok {
		s.AudioRates, s.AudioRatesGiven = nil, true
		for _, text := range u.text {
			v, err := strconv.ParseFloat(text, 64)
			b.faultIf(b.heard() && (err != nil || !(v >= 1 && v <= 1000)), u.as, fmt.Sprintf("%q is not a sample rate in kHz", shorten(text)), "such as 16 or 44.1")
			s.AudioRates = append(s.AudioRates, v)
		}
	}
	s.AudioFormat = b.text("audio-format", "wav")
	if s.AudioFormat == "mp3" && b.heard() {
		for _, r := range s.AudioRates {
			b.faultIf(!slices.Contains(plan.MP3Rates(), int(math.Round(r*1000))), "--audio-sample-rates", fmt.Sprintf("an MP3 cannot have %v kHz", r), "8, 11.025, 12, 16, 22.05, 24, 32, 44.1 or 48; or use --audio-format wav")
		}
	}
	if (s.ImageWidthMean > 0) != (s.ImageHeightMean > 0) {
		b.warn("no images are made, which need both --image-width-mean and --image-height-mean")
	}
}

// idleMedia tells of media that no request has: the endpoint takes none, or a file has its own.
func (b *builder) idleMedia() {
	s := &b.a.Settings
	for _, key := range []string{"image-width-mean", "image-height-mean", "audio-length-mean"} {
		if b.given(key) && (!s.Pictures() || key == "audio-length-mean" && !s.Media()) {
			b.warn("%s has no effect with --endpoint-type %s: use --endpoint-type multimodal", b.as(key), s.EndpointType)
		} else if b.given(key) && s.fromFile() {
			b.warn("%s has no effect on an input file", b.as(key))
		}
	}
}

// heard reports whether requests have audio that is made up.
func (b *builder) heard() bool {
	s := &b.a.Settings
	return s.AudioLengthMean > 0 && s.Media() && !b.given("input-file")
}

// fromFile reports whether requests come from a file, with the media that it has.
func (s *Settings) fromFile() bool { return s.InputFile != "" || s.PayloadFile != "" }

// Drawn reports whether images are made up.
func (s *Settings) Drawn() bool { return s.ImageWidthMean > 0 && s.ImageHeightMean > 0 }
