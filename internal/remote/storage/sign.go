package storage

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// awsKey signs requests.
type awsKey struct{ id, secret, token string }

// escape encodes a path as signatures want it: everything but letters, digits and
// -._~/ as %XX.
func escape(path string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// sign puts a signature of version 4 on a request, over its query and all headers that it
// has by then. sum is the hash of its body, in hexadecimal form.
func (k awsKey) sign(req *http.Request, region, service, sum string, now time.Time) {
	const form = "20060102T150405Z"
	stamp := now.UTC().Format(form)
	day := stamp[:8]
	req.Header.Set("X-Amz-Date", stamp)
	req.Header.Set("X-Amz-Content-Sha256", sum)
	if k.token != "" {
		req.Header.Set("X-Amz-Security-Token", k.token)
	}
	names := []string{"host"}
	for name := range req.Header {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	var headers strings.Builder
	for _, n := range names {
		v := req.Header.Get(n)
		if n == "host" {
			v = req.URL.Host
		}
		headers.WriteString(n + ":" + strings.TrimSpace(v) + "\n")
	}
	signed := strings.Join(names, ";")
	query := strings.ReplaceAll(req.URL.Query().Encode(), "+", "%20")
	canonical := strings.Join([]string{req.Method, escape(req.URL.Path), query, headers.String(), signed, sum}, "\n")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	hash := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(hash[:])
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{day, region, service, "aws4_request"} {
		key = mac(key, part)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.id+"/"+scope+", SignedHeaders="+signed+", Signature="+hex.EncodeToString(mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
