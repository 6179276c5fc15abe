package args

import (
	"regexp"

	"inferometer/internal/plan"
)

// flagOf is the option that a field of the plan comes from; empty: none in particular.
func flagOf(path string) string {
	for _, f := range []struct{ path, flag string }{
		{`data\.tensors\.batch`, "-b"},
		{`data\.tensors\.shapes.*`, "--shape"},
		{`data\.tensors\.string_length`, "--string-length"},
		{`data\.tensors\.string_data`, "--string-data"},
		{`data\.tensors\.sequences\.length`, "--sequence-length"},
		{`data\.tensors\.sequences\.variation`, "--sequence-length-variation"},
		{`data\.tensors\.sequences\.(ids|first_id)`, "--sequence-id-range"},
		{`data\.tensors\.sequences\.live`, "--num-of-sequences"},
		{`data(\.tensors\.files.*|\.prompts|\.file)`, "--input-data"},
		{`target\.urls.*`, "-u"},
		{`target\.model`, "-m"},
		{`target\.headers.*`, "-H"},
		{`target\.triton\.version`, "-x"},
		{`target\.triton\.composing.*`, "--bls-composing-models"},
		{`target\.triton\.parameters.*`, "--request-parameter"},
		{`(stages\[\d+\]|levels)\.concurrency`, "--concurrency-range"},
		{`(stages\[\d+\]|levels)\.rate`, "--request-rate-range"},
		{`stages\[\d+\]\.requests`, "--request-count"},
		{`stages\[\d+\]\.warmup.*`, "--warmup-request-count"},
		{`measurement\.(window|interval)`, "-p"},
		{`measurement\.(requests|count)`, "--measurement-request-count"},
		{`measurement\.trials`, "-r"},
		{`measurement\.stability`, "-s"},
		{`output\.dir`, "--out"},
	} {
		if regexp.MustCompile("^(?:" + f.path + ")$").MatchString(path) {
			return f.flag
		}
	}
	return ""
}

// Explain says an error in the words of this command line.
func Explain(err error, target *plan.Target) error {
	hint := "--ssl-https-ca-certificates-file names certificates to trust, --ssl-https-verify-peer 0 trusts any"
	if target != nil && target.Transport == plan.TransportGRPC {
		hint = "--ssl-grpc-root-certifications-file names certificates to trust"
	}
	return plan.Explain(err, target, flagOf, hint)
}
