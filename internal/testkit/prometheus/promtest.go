// Package prometheus starts a real Prometheus server for tests.
package prometheus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Variable names the directory into which scripts/prometheus.sh has put the server. Where
// it is set, a server that is missing is a failure.
const Variable = "INFEROMETER_PROMETHEUS"

// Server is a running Prometheus server.
type Server struct {
	URL string

	process *exec.Cmd
	done    chan error
}

// startTime is how long a start may take on a busy machine.
const startTime = time.Minute

// Start starts a server that scrapes the targets, which are host:port, every so often, and
// takes series by remote-write. It comes back when it has scraped each of them. The server
// ends with the test.
func Start(t testing.TB, every time.Duration, targets ...string) *Server {
	t.Helper()
	program, dir := program(t), t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: %dms, scrape_timeout: %dms}\nscrape_configs: [{job_name: servers, static_configs: [{targets: ['%s']}]}]\n",
		every.Milliseconds(), every.Milliseconds(), strings.Join(targets, "', '"))
	if len(targets) == 0 {
		config = ""
	}
	name := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(name, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	// Somebody else may take the port between our choice and the server's start.
	var err error
	for range 3 {
		s := new(Server)
		if err = s.start(program, dir, name, freeAddress(t)); err == nil {
			t.Cleanup(s.Stop)
			if len(targets) > 0 {
				s.await(t, len(targets))
			}
			return s
		}
	}
	t.Fatalf("starting Prometheus: %v", err)
	return nil
}

func (s *Server) start(program, dir, config, address string) error {
	var log bytes.Buffer
	s.URL = "http://" + address
	s.process = exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address,
		"--log.level=warn", "--enable-feature=native-histograms", "--web.enable-remote-write-receiver")
	s.process.Stdout, s.process.Stderr = &log, &log
	if err := s.process.Start(); err != nil {
		return err
	}
	s.done = make(chan error, 1)
	go func() { s.done <- s.process.Wait() }()
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-s.done:
			s.done <- err
			return fmt.Errorf("it ended: %v\n%s", err, &log)
		default:
		}
		if body, err := s.get("/-/ready"); err == nil && strings.Contains(body, "Ready") {
			return nil
		}
	}
	s.Stop()
	return errors.New("it did not get ready")
}

func (s *Server) await(t testing.TB, targets int) {
	t.Helper()
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if body, err := s.get("/api/v1/query?query=count(up==1)"); err == nil && strings.Contains(body, fmt.Sprintf("%q", fmt.Sprint(targets))) {
			return
		}
	}
	t.Fatalf("Prometheus did not scrape %d targets", targets)
}

// Value is the one value that a query gives.
func (s *Server) Value(t testing.TB, query string) float64 {
	t.Helper()
	body, err := s.get("/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any // when, and a number as text
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Data.Result) != 1 {
		t.Fatalf("%s: %v in %s", query, err, body)
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: %v in %s", query, err, body)
	}
	return v
}

// Series is how many series a query finds; an error: it is none.
func (s *Server) Series(query string) (int, error) {
	body, err := s.get("/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, err
	}
	var answer struct {
		Error string
		Data  struct{ Result []any }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return 0, errors.New(answer.Error)
	}
	return len(answer.Data.Result), nil
}

// Names are those of all metrics that it has.
func (s *Server) Names(t testing.TB) []string {
	t.Helper()
	body, err := s.get("/api/v1/label/__name__/values")
	var answer struct{ Data []string }
	if err == nil {
		err = json.Unmarshal([]byte(body), &answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer.Data
}

func (s *Server) get(path string) (string, error) {
	resp, err := http.Get(s.URL + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// Stop ends the server. It may be called twice.
func (s *Server) Stop() {
	_ = s.process.Process.Kill()
	s.done <- <-s.done
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// program finds the server, or skips the test where none is configured.
func program(t testing.TB) string {
	t.Helper()
	dir, ok := os.LookupEnv(Variable)
	if !ok {
		t.Skip("needs a real Prometheus server, which scripts/prometheus.sh fetches and make test brings along")
	}
	name := filepath.Join(dir, "prometheus")
	if _, err := os.Stat(name); err != nil {
		t.Fatalf("%s says that Prometheus is in %s, and it is not: %v; scripts/prometheus.sh puts it there", Variable, dir, err)
	}
	return name
}
