package storage

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/inferometer/inferometer/internal/plan"
)

// variable names the directory into which scripts/s3.sh has put the server. Where it is
// set, a server that is missing is a failure.
const variable = "INFEROMETER_S3"

// unchecked is how many requests the server takes without looking at their signatures:
// those that make its user.
const unchecked = "3"

// startS3 starts a real S3 server that checks signatures, and gives its address.
func startS3(t *testing.T) (address string) {
	t.Helper()
	dir, ok := os.LookupEnv(variable)
	if !ok {
		t.Skip("needs a real S3 server, which scripts/s3.sh installs and make test brings along")
	}
	name := filepath.Join(dir, "s3server")
	if _, err := os.Stat(name); err != nil {
		t.Fatalf("%s says that an S3 server is in %s, and it is not: %v; scripts/s3.sh puts it there", variable, dir, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_ = l.Close() // the server listens there
	_, port, _ := net.SplitHostPort(address)
	var log bytes.Buffer
	cmd := exec.Command(name, "-H", "127.0.0.1", "-p", port)
	cmd.Env = append(os.Environ(), "INITIAL_NO_AUTH_ACTION_COUNT="+unchecked)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return address
		}
		select {
		case <-done:
			t.Fatalf("the S3 server ended: %s", &log)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("the S3 server does not listen")
		}
	}
}

// user makes a user who may do everything, and gives his key.
func user(t *testing.T, address string) (id, secret string) {
	t.Helper()
	call := func(form url.Values) []byte {
		body := form.Encode()
		req, err := http.NewRequest(http.MethodPost, "http://"+address+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDFIRST/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v %s", form.Get("Action"), resp.Status, err, text)
		}
		return text
	}
	const version = "2010-05-08"
	call(url.Values{"Action": {"CreateUser"}, "UserName": {"u"}, "Version": {version}})
	call(url.Values{"Action": {"PutUserPolicy"}, "UserName": {"u"}, "PolicyName": {"all"}, "Version": {version},
		"PolicyDocument": {`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`}})
	var made struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	if err := xml.Unmarshal(call(url.Values{"Action": {"CreateAccessKey"}, "UserName": {"u"}, "Version": {version}}), &made); err != nil || made.Secret == "" {
		t.Fatal(made, err)
	}
	return made.ID, made.Secret
}

// TestRealS3 copies to a server that checks signatures.
func TestRealS3(t *testing.T) {
	address := startS3(t)
	id, secret := user(t, address)
	getenv := environment(t, "AWS_ACCESS_KEY_ID", id, "AWS_SECRET_ACCESS_KEY", secret)
	do := func(method, path string) (int, string) {
		req, err := http.NewRequest(method, "http://"+address+s3utils.EncodePath(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		resp, err := http.DefaultClient.Do(signer.SignV4(*req, id, secret, "", "us-east-1"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	out := plan.Output{S3: plan.S3{Bucket: "reports", Path: "runs/1", Prefix: "x-", Endpoint: "http://" + address}}
	dir := tree(t)
	err := Copy(t.Context(), &out, files(t, dir), Options{Getenv: getenv})
	if err == nil || !strings.Contains(err.Error(), "NoSuchBucket") || !strings.Contains(err.Error(), "create the bucket first") {
		t.Errorf("without a bucket: %v", err)
	}
	if err := Check(t.Context(), &out, Options{Getenv: getenv}); err == nil || !strings.Contains(err.Error(), "create the bucket first") {
		t.Errorf("checked without a bucket: %v", err)
	}
	if status, text := do(http.MethodPut, "/reports"); status != http.StatusOK {
		t.Fatalf("making a bucket: %d %s", status, text)
	}
	if err := Check(t.Context(), &out, Options{Getenv: getenv}); err != nil {
		t.Error(err)
	}
	if _, text := do(http.MethodGet, "/reports"); strings.Contains(text, "write-check") {
		t.Errorf("the check left %s", text)
	}
	if err := Copy(t.Context(), &out, files(t, dir), Options{Getenv: getenv}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"x-summary.json": "{}", "x-empty.txt": "", "x-records/requests.jsonl.zst": "zz", "x-odd name+ü.json": "[]"} {
		if status, text := do(http.MethodGet, "/reports/runs/1/"+key); status != http.StatusOK || text != want {
			t.Errorf("%s holds %d %q, want %q", key, status, text, want)
		}
	}
	// The same names again, with another content: the first stay.
	if err := os.WriteFile(filepath.Join(dir, "p-summary.json"), []byte("[1]"), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := Copy(t.Context(), &out, files(t, dir), Options{Getenv: getenv, Log: &log}); err != nil || strings.Count(log.String(), "left alone") != 4 {
		t.Errorf("%v, log %s", err, &log)
	}
	if _, text := do(http.MethodGet, "/reports/runs/1/x-summary.json"); text != "{}" {
		t.Errorf("it was overwritten with %q", text)
	}
	virtualHost(t, address, getenv, files(t, dir))
	if _, text := do(http.MethodGet, "/reports/virtual/summary.json"); text != "[1]" {
		t.Errorf("by the host's name came %q", text)
	}
	// A store below another's root: the server takes the first part of the path for the
	// bucket, and checks the signature over the whole.
	under := plan.Output{S3: plan.S3{Bucket: "inner", Path: "odd ü", Endpoint: "http://" + address + "/reports/"}}
	if err := Copy(t.Context(), &under, files(t, dir), Options{Getenv: getenv}); err != nil {
		t.Error(err)
	}
	if _, text := do(http.MethodGet, "/reports/inner/odd ü/summary.json"); text != "[1]" {
		t.Errorf("below the root is %q", text)
	}
	parts(t, out.S3, getenv, do)
	wrong := environment(t, "AWS_ACCESS_KEY_ID", id, "AWS_SECRET_ACCESS_KEY", "wr0ng")
	out.S3.Path = "runs/2"
	if err := Check(t.Context(), &out, Options{Getenv: wrong}); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("checked with a wrong key: %v", err)
	}
	if err := Copy(t.Context(), &out, files(t, dir), Options{Getenv: wrong}); err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("with a wrong key: %v", err)
	}
}

// parts copies a file in parts.
func parts(t *testing.T, p plan.S3, getenv func(string) string, do func(method, path string) (int, string)) {
	t.Helper()
	s, err := NewS3(t.Context(), p, Options{Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	s.part = 5 << 20 // the least that there is
	text := strings.Repeat("0123456789abcdef", 6<<20/16) + "."
	name := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if existed, err := s.Put(t.Context(), "large", name); existed || err != nil {
		t.Fatal(existed, err)
	}
	if _, got := do(http.MethodGet, "/reports/large"); got != text {
		t.Errorf("%d bytes came of %d", len(got), len(text))
	}
	info, err := s.core.StatObject(t.Context(), "reports", "large", minio.StatObjectOptions{})
	if err != nil || !strings.HasSuffix(info.ETag, "-2") {
		t.Errorf("%+v, %v: want two parts", info, err)
	}
}

// virtualHost copies to the server under Amazon's names of hosts.
func virtualHost(t *testing.T, address string, getenv func(string) string, all []File) {
	t.Helper()
	var hosts []string
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		hosts = append(hosts, to)
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	defer client.CloseIdleConnections()
	out := plan.Output{S3: plan.S3{Bucket: "reports", Path: "virtual", Endpoint: "http://s3.us-east-1.amazonaws.com"}}
	if err := Copy(t.Context(), &out, all, Options{Getenv: getenv, Client: client}); err != nil {
		t.Error(errors.Join(errors.New("by the host's name"), err))
	}
	if len(hosts) == 0 || hosts[0] != "reports.s3.us-east-1.amazonaws.com:80" {
		t.Errorf("hosts %v", hosts)
	}
}
