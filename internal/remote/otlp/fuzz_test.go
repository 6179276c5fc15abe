package otlp

import (
	"strings"
	"testing"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func FuzzPairs(f *testing.F) {
	f.Add("a=b,c=d%20e")
	f.Add(",=,")
	mutate.Fuzz(f, func(t *testing.T, list string) {
		h, err := Pairs(list, "X")
		for name, value := range h {
			if err != nil || name == "" || strings.ContainsAny(name+value, "\r\n") {
				t.Errorf("%q gives %q=%q, %v", list, name, value, err)
			}
		}
	})
}

func FuzzPartial(f *testing.F) {
	answer, _ := proto.Marshal(&collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "why"}})
	f.Add(answer)
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		var want collectorpb.ExportTraceServiceResponse
		n, why := partial(b)
		// Of a message that comes twice, protobuf merges the two: only what is said once is compared.
		if proto.Unmarshal(b, &want) == nil && strings.Count(string(b), "\x0a") == 1 && (n != want.PartialSuccess.GetRejectedSpans() || why != want.PartialSuccess.GetErrorMessage()) {
			t.Errorf("%x: %d %q, want %v", b, n, why, &want)
		}
	})
}
