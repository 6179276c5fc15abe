package mock

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"testing"

	h2 "golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// grpcFixture is a server that speaks gRPC too, and a client that is not ours.
type grpcFixture struct {
	*fixture
	grpc   string // address
	client *http.Client
}

func startGRPC(t *testing.T, change func(*config.Server)) *grpcFixture {
	t.Helper()
	f := &grpcFixture{fixture: start(t, change)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.grpc = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- f.s.ServeGRPC(l) }()
	transport := &h2.Transport{AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, addr string, _ *tls.Config) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}}
	f.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = f.s.Close()
		if err := <-served; err != nil {
			t.Errorf("serve gRPC: %v", err)
		}
	})
	return f
}

// answer is what came back of a call.
type answer struct {
	messages [][]byte
	status   int
	message  string
}

// call sends the messages, ends the request, and reads the answer to its end.
func (f *grpcFixture) call(method string, messages ...any) (answer, error) {
	f.t.Helper()
	var body []byte
	for _, m := range messages {
		body = appendMessage(body, kservetest.Encode(f.t, kserve.Request(method), m))
	}
	return f.callRaw(method, bytes.NewReader(body))
}

func (f *grpcFixture) callRaw(method string, body io.Reader, header ...string) (answer, error) {
	f.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+f.grpc+method, body)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	var a answer
	for {
		var prefix [5]byte
		if _, err := io.ReadFull(resp.Body, prefix[:]); err == io.EOF {
			break
		} else if err != nil {
			return a, err
		}
		m := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
		if _, err := io.ReadFull(resp.Body, m); err != nil {
			return a, err
		}
		a.messages = append(a.messages, m)
	}
	trailer := resp.Trailer
	if trailer.Get("Grpc-Status") == "" {
		trailer = resp.Header
	}
	if a.status, err = strconv.Atoi(trailer.Get("Grpc-Status")); err != nil {
		return a, fmt.Errorf("no status in %v", resp)
	}
	a.message = trailer.Get("Grpc-Message")
	return a, nil
}

// stream sends requests on one stream and returns the responses.
func (f *grpcFixture) stream(requests ...*kservetest.Request) []*kservetest.StreamResponse {
	f.t.Helper()
	var all []any
	for _, r := range requests {
		all = append(all, r)
	}
	a, err := f.call(kserve.ModelStreamInferMethod, all...)
	if err != nil || a.status != 0 {
		f.t.Fatalf("stream: %v, status %d %s", err, a.status, a.message)
	}
	var out []*kservetest.StreamResponse
	for _, m := range a.messages {
		var r kservetest.StreamResponse
		if err := kserve.Response(kserve.ModelStreamInferMethod).Decode(m, &r); err != nil {
			f.t.Fatal(err)
		}
		out = append(out, &r)
	}
	return out
}

// unary calls a method with one answer.
func unary[T any](f *grpcFixture, method string, request any) *T {
	f.t.Helper()
	a, err := f.call(method, request)
	if err != nil || a.status != 0 || len(a.messages) != 1 {
		f.t.Fatalf("%s: %v, status %d %s, %d messages", method, err, a.status, a.message, len(a.messages))
	}
	to := new(T)
	if err := kserve.Response(method).Decode(a.messages[0], to); err != nil {
		f.t.Fatal(err)
	}
	return to
}

// tensor makes an input: a string, a flag, an int32 or floats.
func tensor(name string, v any, shape ...int64) (kservetest.Tensor, []byte) {
	in := kservetest.Tensor{Name: name, Shape: shape}
	switch v := v.(type) {
	case string:
		in.Datatype = "BYTES"
		return in, repository.AppendBytes(nil, v)
	case bool:
		in.Datatype = "BOOL"
		if v {
			return in, []byte{1}
		}
		return in, []byte{0}
	case int:
		in.Datatype = "INT32"
		return in, binary.LittleEndian.AppendUint32(nil, uint32(v))
	case []float32:
		in.Datatype = "FP32"
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return in, b
	}
	panic(fmt.Sprintf("no tensor of %T", v))
}

// request makes a request of pairs of names and values. Shapes are [1], with a batch [1,1].
func inferring(model, id string, batch bool, pairs ...any) *kservetest.Request {
	r := &kservetest.Request{ModelName: model, ID: id, Parameters: map[string]kservetest.Parameter{}}
	for i := 0; i < len(pairs); i += 2 {
		shape := []int64{1}
		if v, ok := pairs[i+1].([]float32); ok {
			shape = []int64{int64(len(v))}
		}
		if batch {
			shape = append([]int64{1}, shape...)
		}
		in, raw := tensor(pairs[i].(string), pairs[i+1], shape...)
		r.Inputs = append(r.Inputs, in)
		r.RawInputContents = append(r.RawInputContents, raw)
	}
	return r
}

// withFinal asks for the mark of the end.
func withFinal(r *kservetest.Request) *kservetest.Request {
	r.Parameters["triton_enable_empty_final_response"] = kservetest.Bool(true)
	return r
}
