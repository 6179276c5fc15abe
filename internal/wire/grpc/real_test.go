package grpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/record"
	tritontest "github.com/inferometer/inferometer/internal/testkit/triton"
)

// sortTriton says whose a response of Triton's is.
func sortTriton(m []byte) (id []byte, last, failed bool) {
	var r kservetest.StreamResponse
	if err := kserve.Response(kserve.ModelStreamInferMethod).Decode(m, &r); err != nil {
		return nil, false, true
	}
	in := &r.InferResponse
	return []byte(in.ID), in.Parameters[kserve.ParameterFinal].True(), r.ErrorMessage != ""
}

// toldText is a tensor of one text.
func toldText(text string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// generation asks a language model for text.
func generation(t testing.TB, model, id, knobs string) []byte {
	t.Helper()
	return kservetest.Encode(t, kserve.Request(kserve.ModelInferMethod), kservetest.Request{
		ModelName: model, ID: id,
		Parameters: map[string]kservetest.Parameter{kserve.ParameterEmptyFinal: kservetest.Bool(true)},
		Inputs: []kservetest.Tensor{
			{Name: "text_input", Datatype: "BYTES", Shape: []int64{1}},
			{Name: "stream", Datatype: "BOOL", Shape: []int64{1}},
			{Name: "sampling_parameters", Datatype: "BYTES", Shape: []int64{1}},
		},
		RawInputContents: [][]byte{toldText("hello"), {1}, toldText(knobs)},
	})
}

// TestReal speaks with a real Triton, whose gRPC is neither ours nor Go's.
func TestReal(t *testing.T) {
	triton := tritontest.Start(t, "vllm_model")
	s := &server{addr: triton.GRPC}
	generate := func(ctx context.Context, c *Client, slot int, id, model, knobs string) *record.Exchange {
		rec := &record.Exchange{Record: record.Record{Slot: slot, Streamed: true}}
		m, err := c.Prepare(generation(t, model, id, knobs))
		if err != nil {
			t.Fatal(err)
		}
		c.Stream(ctx, kserve.ModelStreamInferMethod, id, m, rec, sortTriton)
		return rec
	}
	for _, compression := range []string{"", "gzip", "deflate"} {
		t.Run("streams "+compression, func(t *testing.T) {
			c := s.client(t, Options{Compression: compression, Streams: 3, KeepAlive: time.Minute})
			if _, err := c.Call(t.Context(), kserve.ServerLiveMethod, nil); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for slot := range 12 {
				wg.Go(func() {
					for k := range 4 {
						id := fmt.Sprintf("%d-%d", slot, k)
						knobs := `{"max_tokens": 6, "ttft_ms": 1, "itl_ms": 2}`
						if fails := slot%4 == 3; fails {
							knobs = `{"max_tokens": 6, "ttft_ms": 1, "fail_after": 2}`
						}
						rec := generate(t.Context(), c, slot, id, "vllm_model", knobs)
						all := texts(t, rec)
						if slot%4 == 3 {
							wantFailure(t, rec, record.StreamError, 200, "")
							if len(all) != 3 || !strings.Contains(all[2], "asked to fail after 2 tokens") {
								t.Errorf("%s: %q", id, all)
							}
							continue
						}
						if rec.Failure != nil || len(all) != 7 {
							t.Errorf("%s: %d messages, failure %+v", id, len(all), rec.Failure)
							continue
						}
						checkTimes(t, rec)
					}
				})
			}
			wg.Wait()
		})
	}
	t.Run("unary", func(t *testing.T) {
		c := s.client(t, Options{Compression: "gzip"})
		_, err := c.Call(t.Context(), kserve.ModelInferMethod, generation(t, "nobody", "a", ""))
		var status *StatusError
		if !errors.As(err, &status) || status.Code == OK || !strings.Contains(status.Message, "nobody") {
			t.Errorf("%v", err)
		}
		rec := &record.Exchange{}
		c.Unary(t.Context(), "/inference.GRPCInferenceService/Nothing", message(t, c, ""), rec)
		wantFailure(t, rec, record.GRPCStatus, Unimplemented, "UNIMPLEMENTED")
	})
	t.Run("errors", func(t *testing.T) {
		c := s.client(t, Options{Streams: 1})
		rec := generate(t.Context(), c, 0, "a", "nobody", "")
		wantFailure(t, rec, record.StreamError, 200, "")
		if all := texts(t, rec); len(all) != 1 || !strings.Contains(all[0], "nobody") {
			t.Errorf("%q", all)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		wantFailure(t, generate(ctx, c, 0, "b", "vllm_model", `{"ttft_ms": 20000}`), record.Cancelled, 200, "")
		rec = generate(t.Context(), c, 0, "c", "vllm_model", `{"max_tokens": 2}`)
		if rec.Failure != nil || len(texts(t, rec)) != 3 {
			t.Errorf("after one that was cancelled: %+v", rec.Failure)
		}
	})
}
