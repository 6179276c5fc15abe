package args

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// Help is the text of --help.
func Help() string {
	var b strings.Builder
	b.WriteString("Measure a server as Perf Analyzer does: each load level in windows, until they are stable.\n\nUsage: perf_analyzer -m NAME [options]\n")
	group := ""
	for _, o := range new(settings).options() {
		if o.group != group {
			group = o.group
			b.WriteString("\n" + group + ":\n")
		}
		name := o.name()
		if o.long != "" && o.short != 0 {
			name = "-" + string(o.short) + ", " + name
		}
		if o.arg != "" {
			name += " " + o.arg
		}
		fmt.Fprintf(&b, "  %s\n        %s\n", name, o.help)
	}
	return b.String()
}

// Manual describes the command, for man pages and completion.
func Manual() clidoc.Command {
	c := clidoc.Command{
		Name:  "perf_analyzer",
		About: "Measure a server as Perf Analyzer does: each load level in windows, until they are stable.",
		Usage: []clidoc.Usage{{Line: "perf_analyzer -m NAME [options]"}},
		Page:  "perf_analyzer",
	}
	for _, o := range new(settings).options() {
		if n := len(c.Groups); n == 0 || c.Groups[n-1].Title != o.group {
			c.Groups = append(c.Groups, clidoc.Group{Title: o.group})
		}
		f := clidoc.Flag{Name: o.long, Arg: o.arg, Help: o.help}
		switch {
		case o.long == "":
			f.Name, f.Single = string(o.short), true
		case o.short != 0:
			f.Short = string(o.short)
		}
		g := &c.Groups[len(c.Groups)-1]
		g.Flags = append(g.Flags, f)
	}
	return c
}

// Names are those of this command line.
func Names(p *plan.Plan) message.Names {
	secure := [][2]string{
		{"target.tls.ca", "--ssl-https-ca-certificates-file"}, {"target.tls.insecure", "--ssl-https-verify-peer 0"},
		{"target.tls.cert", "--ssl-https-client-certificate-file"}, {"target.tls.key", "--ssl-https-private-key-file"},
	}
	if p.Target.Transport == plan.TransportGRPC {
		secure = [][2]string{
			{"target.tls.ca", "--ssl-grpc-root-certifications-file"}, {"target.tls.insecure", ""},
			{"target.tls.cert", "--ssl-grpc-certificate-chain-file"}, {"target.tls.key", "--ssl-grpc-private-key-file"},
		}
	}
	return message.Names{Of: message.Table(append(secure, names()...))}
}

// names are what parts of a plan are called; an empty name: there is no such option.
func names() [][2]string {
	return [][2]string{
		{"target.urls", "-u"}, {"target.model", "-m"}, {"target.headers", "-H"}, {"target.api_key", "-H"}, {"target.path", "--endpoint"},
		{"target.endpoint", "--endpoint"}, {"target.protocol", "--service-kind"}, {"target.streaming", "--streaming"},
		{"target.triton.version", "-x"}, {"target.triton.composing", "--bls-composing-models"}, {"target.triton.parameters", "--request-parameter"},
		{"target.triton.shared_memory", "--shared-memory"}, {"target.body.signature_name", "--model-signature-name"}, {"target", ""},
		{"data.tensors.batch", "-b"}, {"data.tensors.shapes", "--shape"}, {"data.tensors.string_length", "--string-length"},
		{"data.tensors.string_data", "--string-data"}, {"data.tensors.sequences.length", "--sequence-length"},
		{"data.tensors.sequences.variation", "--sequence-length-variation"}, {"data.tensors.sequences.ids", "--sequence-id-range"},
		{"data.tensors.sequences.first_id", "--sequence-id-range"}, {"data.tensors.sequences.live", "--num-of-sequences"},
		{"data.tensors.files", "--input-data"}, {"data.prompts", "--input-data"}, {"data.file", "--input-data"}, {"data.payload", "--input-data"}, {"data", ""},
		{"stages.concurrency", "--concurrency-range"}, {"levels.concurrency", "--concurrency-range"}, {"stages.rate", "--request-rate-range"},
		{"levels.rate", "--request-rate-range"}, {"stages.requests", "--request-count"}, {"stages.max_in_flight", "--max-threads"},
		{"stages.warmup.auto", ""}, {"stages.warmup", "--warmup-request-count"}, {"levels", ""},
		{"measurement.window", "-p"}, {"measurement.interval", "-p"}, {"measurement.requests", "--measurement-request-count"},
		{"measurement.count", "--measurement-request-count"}, {"measurement.trials", "-r"}, {"measurement.stability", "-s"},
		{"measurement.latency_threshold", "-l"}, {"output.dir", "--out"},
		{"tokenizer", ""}, {"seed", ""}, {"drain", ""}, {"max_errors", ""}, {"limits", ""}, {"probes", ""},
		{"remedy.triton_grpc", "add -i grpc"}, {"remedy.triton", "leave --service-kind out"},
		{"remedy.stream", "--streaming"}, {"remedy.generate", "-i grpc --streaming"}, {"remedy", ""},
	}
}
