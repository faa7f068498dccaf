package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"sync"
	"time"
)

// Keys are the credentials of a store. They guard nothing here: the stores listen on loopback only.
type Keys struct{ Access, Secret string }

// StudyKeys returns the keys that the study's own stores are started with. Eight characters are what
// some servers ask for at least.
func StudyKeys() Keys { return Keys{Access: "objectends", Secret: "objectends-secret"} }

const (
	region    = "us-east-1"
	algorithm = "AWS4-HMAC-SHA256"
	unsigned  = "UNSIGNED-PAYLOAD"
)

// A signer signs requests by AWS Signature Version 4, payload unsigned. It keeps the key of the day,
// which four of the five hashes go into. Safe for several goroutines.
type signer struct {
	keys Keys

	mu  sync.Mutex
	day string
	key []byte
}

// sign adds the headers of a signature made at now. The request's path must need no escaping.
func (s *signer) sign(request *http.Request, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	day := stamp[:8]
	scope := day + "/" + region + "/s3/aws4_request"
	const signed = "host;x-amz-content-sha256;x-amz-date"

	var canonical strings.Builder
	canonical.WriteString(request.Method + "\n" + request.URL.EscapedPath() + "\n")
	canonical.WriteString(canonicalQuery(request.URL.Query()) + "\n")
	canonical.WriteString("host:" + request.URL.Host + "\n")
	canonical.WriteString("x-amz-content-sha256:" + unsigned + "\n")
	canonical.WriteString("x-amz-date:" + stamp + "\n\n" + signed + "\n" + unsigned)
	digest := sha256.Sum256([]byte(canonical.String()))
	toSign := algorithm + "\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(digest[:])
	signature := hex.EncodeToString(mac(s.keyOf(day), toSign))

	request.Header["X-Amz-Date"] = []string{stamp}
	request.Header["X-Amz-Content-Sha256"] = []string{unsigned}
	request.Header["Authorization"] = []string{algorithm + " Credential=" + s.keys.Access + "/" + scope +
		", SignedHeaders=" + signed + ", Signature=" + signature}
}

// keyOf returns the signing key of a day.
func (s *signer) keyOf(day string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.day != day {
		key := mac([]byte("AWS4"+s.keys.Secret), day)
		s.key = mac(mac(mac(key, region), "s3"), "aws4_request")
		s.day = day
	}
	return s.key
}

func mac(key []byte, message string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(message))
	return h.Sum(nil)
}

// canonicalQuery writes a query sorted and escaped as signatures want it: %20 for a blank.
func canonicalQuery(query url.Values) string {
	pairs := make([]string, 0, len(query))
	for name, values := range query {
		for _, value := range values {
			pairs = append(pairs, escape(name)+"="+escape(value))
		}
	}
	sort.Strings(pairs)
	return strings.Join(pairs, "&")
}

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
