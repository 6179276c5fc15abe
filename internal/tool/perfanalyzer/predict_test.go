package perfanalyzer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// A stand-in that follows TensorFlow Serving's documented REST API.
func TestTensorFlowServing(t *testing.T) {
	var wrong atomic.Pointer[string]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/v1/models/half/versions/2/metadata":
			io.WriteString(w, `{"model_spec":{"name":"half"},"metadata":{"signature_def":{"signature_def":{"other":{"inputs":{"x":{"dtype":"DT_FLOAT",
				"tensor_shape":{"dim":[{"size":"-1"},{"size":"2"}],"unknown_rank":false}}},"outputs":{"y":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1"},{"size":"2"}]}}}}}}}}`)
		case r.Method == http.MethodPost && r.URL.Path == "/v1/models/half/versions/2:predict":
			var body struct {
				Signature string `json:"signature_name"`
				Inputs    map[string][][]float64
			}
			err := json.NewDecoder(r.Body).Decode(&body)
			if x := body.Inputs["x"]; err != nil || body.Signature != "other" || len(x) != 2 || len(x[0]) != 2 || x[1][1] != 4 {
				text := fmt.Sprintf("%v, %+v", err, body)
				wrong.Store(&text)
				http.Error(w, `{"error":"bad input"}`, http.StatusBadRequest)
				return
			}
			io.WriteString(w, `{"outputs":[[0.5,1],[1.5,2]]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	data := write(t, "in.json", `{"data":[{"x":[1.0,2.0]},{"x":[3.0,4.0]}]}`)
	got := command(t, "-m half -x 2 --service-kind tfserving --model-signature-name other -b 2 --request-count 12 --concurrency-range 2 --input-data "+data+" -u "+strings.TrimPrefix(s.URL, "http://"), nil)
	if text := wrong.Load(); text != nil {
		t.Fatal(*text)
	}
	if got.err != nil || got.Code != args.ExitOK || !strings.Contains(got.out, "  Service Kind: TFSERVING\n") || !strings.Contains(got.out, "    Request count: 12\n") {
		t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
	}
}

// A stand-in that follows TorchServe's documented inference API.
func TestTorchServe(t *testing.T) {
	picture := write(t, "kitten.jpg", "a picture")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/predictions/resnet" || string(body) != "a picture" {
			http.Error(w, `{"code":404,"type":"ModelNotFoundException","message":"Model not found"}`, http.StatusNotFound)
			return
		}
		io.WriteString(w, `{"tiger_cat": 0.46, "tabby": 0.4}`)
	}))
	defer s.Close()
	data := write(t, "in.json", `{"data":[{"TORCHSERVE_INPUT":["`+picture+`"]}]}`)
	got := command(t, "-m resnet --service-kind torchserve --request-count 10 --concurrency-range 2 --input-data "+data+" -u "+strings.TrimPrefix(s.URL, "http://"), nil)
	if got.err != nil || got.Code != args.ExitOK || !strings.Contains(got.out, "    Request count: 10\n") || got.Result.Stages[0].Counts.Failed != 0 {
		t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
	}
}
