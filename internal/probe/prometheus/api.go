package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// api is the query API of a Prometheus server.
type api struct {
	base   string
	client *http.Client
	token  func() (string, error) // nil means none is needed

	mu     sync.Mutex
	broken int   // queries in a row that had no response, after all tries
	last   error // why
}

// mostBroken is how many queries without a response mean that the server is not there.
const mostBroken = 3

const (
	// queryTime bounds one response.
	queryTime = 10 * time.Second
	// queryTries is how often a query is sent whose response fails to come.
	queryTries = 3
	firstPause = 100 * time.Millisecond
)

// query asks for one value at a given time, or nil.
func (a *api) query(ctx context.Context, form string, at time.Time) (*float64, error) {
	u := a.base + "/api/v1/query?" + url.Values{"query": {form}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1e3, 'f', 3, 64)}}.Encode()
	a.mu.Lock()
	broken, last := a.broken, a.last
	a.mu.Unlock()
	if broken >= mostBroken {
		return nil, last
	}
	pause := firstPause
	for try := 1; ; try++ {
		v, again, err := a.once(ctx, u)
		if err == nil || !again || try == queryTries {
			a.setReachable(again, err)
			return v, err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return nil, err
		}
	}
}

// setReachable takes down whether the server answers at all.
func (a *api) setReachable(silent bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !silent {
		a.broken = 0
		return
	}
	a.broken++
	a.last = err
}

// once sends a query. again: the next try may have more luck.
func (a *api) once(ctx context.Context, u string) (v *float64, again bool, err error) {
	h := http.Header{}
	if a.token != nil {
		token, err := a.token()
		if err != nil {
			return nil, false, err
		}
		h.Set("Authorization", "Bearer "+token)
	}
	body, status, err := Get(ctx, a.client, u, h)
	if err != nil {
		return nil, ctx.Err() == nil, err
	}
	if status >= 500 || status == http.StatusTooManyRequests {
		return nil, true, fmt.Errorf("it answers with HTTP status %d", status)
	}
	v, err = value(status, body)
	return v, false, err
}

// value reads the response to a query that has at most one value.
func value(status int, body []byte) (*float64, error) {
	var answer struct {
		Status string
		Error  string
		Data   struct {
			Type   string `json:"resultType"`
			Result json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("it answers with HTTP status %d and something that is not JSON: is this the address of a Prometheus server?", status)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("it answers with HTTP status %d: %.200s", status, answer.Error)
	}
	var vector []struct{ Value [2]any }
	if err := json.Unmarshal(answer.Data.Result, &vector); err != nil || answer.Data.Type != "vector" {
		return nil, fmt.Errorf("it answers with a result of type %.20q", answer.Data.Type)
	}
	if len(vector) == 0 {
		return nil, nil
	}
	if len(vector) > 1 {
		return nil, fmt.Errorf("it answers with %d values where one was asked for", len(vector))
	}
	text, _ := vector[0].Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("it answers with the value %.40q, which is not a number", text)
	}
	if math.IsNaN(v) { // such as a quantile of nothing
		return nil, nil
	}
	return &v, nil
}
