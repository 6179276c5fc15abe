package inferenceperf

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/reader"
)

// TestImportedFailures holds the labels of failures that the original wrote against its own.
func TestImportedFailures(t *testing.T) {
	for _, c := range []struct{ exception, message, label string }{
		{"HTTP Error 400", "no", "400 - other"},
		{"HTTP Error 503", "busy", "503 - Service Unavailable"},
		{"HTTP Error 400", "maximum context length is 8", "400 - Context Window"},
		{"TimeoutError", "Request timed out", "Timeout"},
		{"SocketTimeoutError", "Timeout on reading data from socket", "Timeout"},
		{"TimeoutError", "", "timeouterror"},
		{"ServerDisconnectedError", "Server disconnected", "Connection Error"},
		{"ClientConnectorError", "Cannot connect to host h:1", "Connection Error"},
		{"ClientPayloadError", "Response payload is not completed", "clientpayloaderror"},
		{"ContentTypeError", "200, message='Attempt to decode JSON'", "contenttypeerror"},
		{"bad_body", "no JSON", "bad_body"},
	} {
		f := failureOf(c.exception, c.message)
		if got := dialect.Label(f); got != c.label {
			t.Errorf("%s, %q: label %q, want %q", c.exception, c.message, got, c.label)
		}
		if got := dialect.Said(f); !strings.HasSuffix(got, c.message) || c.message == "Request timed out" && got != c.message {
			t.Errorf("%s, %q: says %q", c.exception, c.message, got)
		}
	}
}

// TestImportedPrompt: tokens of a prompt that the server counted are the server's.
func TestImportedPrompt(t *testing.T) {
	list, err := reader.Requests([]byte(`[
		{"start_time": 1, "end_time": 2, "info": {"input_tokens": 7, "response_metrics": {"output_tokens": 1, "server_usage": {"prompt_tokens": 7}}}},
		{"start_time": 1, "end_time": 2, "info": {"input_tokens": 7, "response_metrics": {"output_tokens": 1, "server_usage": {"input_tokens": 7}}}},
		{"start_time": 1, "end_time": 2, "info": {"input_tokens": 7, "response_metrics": {"output_tokens": 1, "server_usage": null}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []record.Source{record.FromServer, record.FromServer, record.FromTokenizer} {
		list[i].Stage = new(int)
		if got := recordOf(&list[i], 0, 1).In; got.N != 7 || got.Source != want {
			t.Errorf("entry %d: %+v, want source %v", i, got, want)
		}
	}
}
