package driver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// openStore is the S3 driver with the peer of the suite, whose answer to a get is any object.
func openStore(t *testing.T, behaviour string) bench {
	var arrived atomic.Int64
	s := serve(t, behave(behaviour, &arrived), nil, false)
	d := open(t, assay.Load{S3: &assay.S3Load{Endpoint: s.URL, Bucket: "bench", Operation: "get", Keys: key("{trial}/{operation}")}})
	return bench{driver: d, arrived: arrived.Load}
}

func key(text string) assay.Keys { return assay.Keys{Template: assay.ParseTemplate(text)} }

func literally(s string) assay.Body { return assay.Body{Text: assay.ParseTemplate(s)} }

// carryOut carries out n operations of a load and gives the error of each.
func carryOut(t *testing.T, l assay.S3Load, n int64) (errs []error) {
	t.Helper()
	d := open(t, assay.Load{S3: &l})
	for i := range n {
		errs = append(errs, d.Do(t.Context(), load.NewOperation(i, 20*time.Second)))
	}
	return errs
}

func want(t *testing.T, what string, errs []error, classes ...load.Class) {
	t.Helper()
	for i, err := range errs {
		if got := classOf(err); got != classes[i%len(classes)] || (err != nil) != (got != 0) {
			t.Errorf("%s, operation %d: got %v, want class %d", what, i, err, classes[i%len(classes)])
		}
	}
}

// A shelf is a real store with a bucket.
type shelf struct {
	at   assay.S3Load // endpoint, bucket and signing
	name string       // of the host, for the virtual style; empty: it cannot
}

// shelves are the stores that the driver is held against.
func shelves(t *testing.T) map[string]func(*testing.T) shelf {
	t.Helper()
	return map[string]func(*testing.T) shelf{"gofakes3": fakeShelf, "versitygw": gatewayShelf}
}

// fakeShelf is a store within this process that asks for no keys.
func fakeShelf(t *testing.T) shelf {
	back := s3mem.New()
	if err := back.CreateBucket("shelf"); err != nil {
		t.Fatal(err)
	}
	path := serve(t, gofakes3.New(back).Server(), nil, false)
	virtual := serve(t, gofakes3.New(back, gofakes3.WithHostBucket(true)).Server(), nil, false)
	return shelf{at: assay.S3Load{Endpoint: path.URL, Bucket: "shelf"}, name: strings.Replace(virtual.URL, "127.0.0.1", "localhost", 1)}
}

// gatewayShelf is versitygw over a folder, a process of its own that wants signed requests.
func gatewayShelf(t *testing.T) shelf {
	program := gateway(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "shelf"), 0o777); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	name := strings.Replace(address, "127.0.0.1", "localhost", 1)
	cmd := exec.Command(program, "--port", address, "--virtual-domain", name, "--quiet", "posix", dir)
	t.Setenv("SHELF_KEY", "shelf-access")
	t.Setenv("SHELF_SECRET", "shelf-secret-of-the-test")
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=shelf-access", "ROOT_SECRET_KEY=shelf-secret-of-the-test")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + address)
		if err == nil {
			answer.Body.Close()
			break
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("versitygw does not answer at %s: %v", address, err)
		}
	}
	at := assay.S3Load{Endpoint: "http://" + address, Bucket: "shelf", Sign: &assay.Signing{AccessKey: "SHELF_KEY", SecretKey: "SHELF_SECRET"}}
	return shelf{at: at, name: "http://" + name}
}

// gateway is versitygw's program: where the environment says, or where studies keep what they built.
func gateway(t *testing.T) string {
	if path := os.Getenv("ASSAY_TEST_VERSITYGW"); path != "" {
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("versitygw: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "assay-studies", "versitygw*", "versitygw"))
	if err != nil || len(found) == 0 {
		t.Skipf("versitygw is not in %s/assay-studies; ASSAY_TEST_VERSITYGW names it elsewhere", cache)
	}
	return found[len(found)-1]
}

// freeAddress is one that nobody listens on at the moment.
func freeAddress(t *testing.T) string {
	s := serve(t, http.NotFoundHandler(), nil, false)
	s.Close()
	return s.Listener.Addr().String()
}

// Every operation does what it says, on every store, and what it reads is held against the truth.
func TestStoreOperations(t *testing.T) {
	for name, build := range shelves(t) {
		t.Run(name, func(t *testing.T) {
			s := build(t)
			styles := map[string]assay.S3Load{"path": s.at}
			if s.name != "" {
				virtual := s.at
				virtual.Endpoint, virtual.Virtual = s.name, true
				styles["virtual"] = virtual
			}
			for style, at := range styles {
				t.Run(style, func(t *testing.T) { storeOperations(t, at, style) })
			}
		})
	}
}

func storeOperations(t *testing.T, at assay.S3Load, style string) {
	content := strings.Repeat("object 0123456789\n", 5000)
	l := func(operation string) assay.S3Load {
		l := at
		l.Operation, l.Keys = operation, key(style+"/a b+ü/{operation}")
		return l
	}
	put := l("put")
	put.Body = literally(content)
	want(t, "put", carryOut(t, put, 3), 0)

	get := l("get")
	sum := sha256.Sum256([]byte(content))
	get.Expect = assay.S3Expect{SHA256: hex.EncodeToString(sum[:]), Bytes: len(content)}
	want(t, "get, with one that is not there", carryOut(t, get, 4), 0, 0, 0, load.Status)
	get.Expect = assay.S3Expect{SHA256: strings.Repeat("0", 64)}
	want(t, "get of another content", carryOut(t, get, 1), load.Wrong)
	get.Expect = assay.S3Expect{Bytes: len(content) + 1}
	want(t, "get of another size", carryOut(t, get, 1), load.Wrong)

	for span, part := range map[string]string{"0-99": content[:100], "100-": content[100:], "-64": content[len(content)-64:], "89990-99999": content[89990:]} {
		ranged := l("get")
		ranged.Range = assay.ByteRange(span)
		sum := sha256.Sum256([]byte(part))
		ranged.Expect = assay.S3Expect{SHA256: hex.EncodeToString(sum[:]), Bytes: len(part)}
		want(t, "get of "+span, carryOut(t, ranged, 2), 0)
	}
	beyond := l("get")
	beyond.Range = "999999-1000000"
	want(t, "get of a part that is not there", carryOut(t, beyond, 1), load.Status)

	want(t, "head", carryOut(t, l("head"), 4), 0, 0, 0, load.Status)
	list := at
	list.Operation, list.Prefix, list.Most = "list", assay.ParseTemplate(style+"/"), 2
	want(t, "list", carryOut(t, list, 2), 0)
	list.Bucket = "no-such-bucket"
	want(t, "list of a bucket that is not there", carryOut(t, list, 1), load.Status)
	want(t, "delete", carryOut(t, l("delete"), 3), 0)
	want(t, "head of what was deleted", carryOut(t, l("head"), 1), load.Status)
}

// A store that says SlowDown sheds load. The driver asks once, whatever its library would do: with
// the library's own retries switched on, it is held back and says how often.
func TestStoreThatShedsIsAskedOnce(t *testing.T) {
	var arrived atomic.Int64
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
	}), nil, false)
	for name, c := range map[string]struct {
		retries aws.Retryer
		want    string
	}{
		"never": {aws.NopRetryer{}, "shed: status 503 SlowDown: Please reduce your request rate."},
		"four times": {retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = 5, time.Nanosecond
		}), "not repeated, though the library would have, 4 times"},
	} {
		t.Run(name, func(t *testing.T) {
			arrived.Store(0)
			d, err := newStore(assay.S3Load{Endpoint: s.URL, Bucket: "b", Operation: "get", Keys: key("k")}, nil, 1, c.retries)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			err = d.Do(t.Context(), load.NewOperation(0, time.Minute))
			if classOf(err) != load.Shed || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want class shed and %q", err, c.want)
			}
			if n := arrived.Load(); n != 1 {
				t.Errorf("%d requests arrived, want 1", n)
			}
		})
	}
}

// As declared the library has nothing to repeat; the courier need not hold it back.
func TestStoreRetriesAreOff(t *testing.T) {
	b := openStore(t, "shed")
	err := b.driver.Do(t.Context(), load.NewOperation(0, time.Minute))
	if classOf(err) != load.Shed || strings.Contains(err.Error(), "repeated") {
		t.Errorf("got %v, want class shed and nothing about repeating", err)
	}
}

// The courier does not go elsewhere, and not on nobody's behalf.
func TestCourierRefusesOtherHosts(t *testing.T) {
	var arrived atomic.Int64
	elsewhere := serve(t, behave("ok", &arrived), nil, false)
	s, err := newStore(assay.S3Load{Endpoint: "http://localhost:1", Bucket: "b", Operation: "get", Keys: key("k")}, nil, 1, aws.NopRetryer{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.dial.port = elsewhere.URL[strings.LastIndexByte(elsewhere.URL, ':')+1:] // it would be answered
	for _, ctx := range []context.Context{t.Context(), context.WithValue(t.Context(), errandKey{}, &errand{op: load.NewOperation(0, time.Minute)})} {
		r, err := http.NewRequestWithContext(ctx, "GET", elsewhere.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.courier.Do(r); err == nil {
			t.Error("it carried a request for another host, or for no operation")
		}
	}
	if n := arrived.Load(); n != 0 {
		t.Errorf("%d requests arrived, want none", n)
	}
}

// A store that answers with something else than was asked for is wrong, however fine its status.
func TestStoreThatAnswersSomethingElse(t *testing.T) {
	for name, c := range map[string]struct {
		operation string
		span      assay.ByteRange
		answer    func(http.ResponseWriter)
		class     load.Class
	}{
		"the whole for a part": {"get", "0-3", func(w http.ResponseWriter) { io.WriteString(w, "0123456789") }, load.Wrong},
		"another part": {"get", "0-3", func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", "bytes 4-7/10")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "4567")
		}, load.Wrong},
		"less than the part it names": {"get", "-4", func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", "bytes 6-9/10")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "678")
		}, load.Wrong},
		"a redirect": {"get", "", func(w http.ResponseWriter) {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, load.Status},
		"no list":      {"list", "", func(w http.ResponseWriter) { io.WriteString(w, "<ListBucketResult><Contents>") }, load.Protocol},
		"a broken off": {"get", "", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "10"); io.WriteString(w, "012") }, load.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			var arrived atomic.Int64
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				arrived.Add(1)
				c.answer(w)
			}), nil, false)
			l := assay.S3Load{Endpoint: s.URL, Bucket: "b", Operation: c.operation, Range: c.span}
			if c.operation != "list" {
				l.Keys = key("k")
			}
			want(t, name, carryOut(t, l, 1), c.class)
			if n := arrived.Load(); n != 1 {
				t.Errorf("%d requests arrived, want 1", n)
			}
		})
	}
}

// What goes over the wire: where the bucket stands, which key each operation has, and who signs.
func TestStoreRequests(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("TEST_KEY", "AKEY")
	t.Setenv("TEST_SECRET", "very secret")
	t.Setenv("TEST_TOKEN", "a-token")
	arrived := make(chan string, 3)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signed, _, _ := strings.Cut(r.Header.Get("Authorization"), ",")
		host, _, _ := strings.Cut(r.Host, ":")
		arrived <- fmt.Sprintf("%s %s%s %q %s%s", r.Method, host, r.URL.Path, body, signed, r.Header.Get("X-Amz-Security-Token"))
	}), nil, false)
	local := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	today := time.Now().UTC().Format("20060102")
	for name, c := range map[string]struct {
		load assay.S3Load
		want []string
	}{
		"path, turns":        {assay.S3Load{Keys: assay.Keys{List: file("keys", "a\nb/c\n")}, Operation: "head"}, []string{`HEAD localhost/bench/a "" `, `HEAD localhost/bench/b/c "" `, `HEAD localhost/bench/a "" `}},
		"virtual, operation": {assay.S3Load{Keys: key("{trial}/{operation}"), Virtual: true, Operation: "delete"}, []string{`DELETE bench.localhost/7/0 "" `, `DELETE bench.localhost/7/1 "" `, `DELETE bench.localhost/7/2 "" `}},
		"weighted":           {assay.S3Load{Keys: assay.Keys{Weighted: file("weights.csv", "key,weight\nrare,1\noften,99\n")}, Operation: "head"}, []string{`HEAD localhost/bench/often "" `, `HEAD localhost/bench/often "" `, `HEAD localhost/bench/often "" `}},
		"bodies":             {assay.S3Load{Keys: key("k"), Body: literally("body {operation}"), Operation: "put"}, []string{`PUT localhost/bench/k "body 0" `, `PUT localhost/bench/k "body 1" `, `PUT localhost/bench/k "body 2" `}},
		"signed": {assay.S3Load{Keys: key("k"), Operation: "head", Region: "here", Sign: &assay.Signing{AccessKey: "TEST_KEY", SecretKey: "TEST_SECRET", SessionToken: "TEST_TOKEN"}},
			slices.Repeat([]string{`HEAD localhost/bench/k "" AWS4-HMAC-SHA256 Credential=AKEY/` + today + `/here/s3/aws4_requesta-token`}, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.load
			l.Endpoint, l.Bucket = local, "bench"
			want(t, name, carryOut(t, l, 3), 0)
			seen := []string{<-arrived, <-arrived, <-arrived}
			if !slices.Equal(seen, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A load that cannot be carried out as it is declared is refused before anything is sent.
func TestStoreRefusals(t *testing.T) {
	good := assay.S3Load{Endpoint: "http://localhost:1", Bucket: "bench", Operation: "get", Keys: key("k")}
	for text, change := range map[string]func(*assay.S3Load){
		"not this machine and not allowed":                 func(l *assay.S3Load) { l.Endpoint = "http://s3.example.com" },
		"want http:// or https:// and a host":              func(l *assay.S3Load) { l.Endpoint = "localhost" },
		"want a scheme, a host and a port only":            func(l *assay.S3Load) { l.Endpoint += "/path" },
		"cannot stand behind a bucket's name":              func(l *assay.S3Load) { l.Endpoint, l.Virtual = "http://127.0.0.1:1", true },
		"want 3 to 63 of a-z":                              func(l *assay.S3Load) { l.Bucket, l.Virtual = "Bench_1", true },
		"want its bucket":                                  func(l *assay.S3Load) { l.Bucket = "" },
		"want get, head, put, list or delete":              func(l *assay.S3Load) { l.Operation = "copy" },
		"want the key of an object":                        func(l *assay.S3Load) { l.Keys = assay.Keys{} },
		"environment variable ASSAY_TEST_UNSET is not set": func(l *assay.S3Load) { l.Sign = &assay.Signing{AccessKey: "HOME", SecretKey: "ASSAY_TEST_UNSET"} },
		"expand {nobody}":                                  func(l *assay.S3Load) { l.Keys = key("{nobody}") },
		"no such file":                                     func(l *assay.S3Load) { l.Keys = assay.Keys{List: "/proc/nowhere/keys"} },
	} {
		l := good
		change(&l)
		d, err := New(assay.Load{S3: &l}, nil, 1)
		if err == nil {
			d.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "driver s3: ") || !strings.Contains(err.Error(), text) {
			t.Errorf("New = %v, want %q", err, text)
		}
	}
	bad := good
	bad.Bucket = "arn:aws:s3:us-east-1:123456789012:accesspoint/elsewhere" // the library would ask another host
	want(t, "a bucket elsewhere", carryOut(t, bad, 1), load.Wrong)
}

// Connections are bounded, used again, and counted.
func TestStoreConnections(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("x"), 100_000)) }), nil, false)
	d := open(t, assay.Load{S3: &assay.S3Load{Endpoint: s.URL, Bucket: "b", Operation: "get", Keys: key("k"), Connections: 2}})
	done := make(chan error)
	for i := range int64(20) {
		go func() { done <- d.Do(t.Context(), load.NewOperation(i, time.Minute)) }()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if c := d.Connections(); c.Opened != 2 || c.Peak != 2 {
		t.Errorf("got %+v, want 2 connections", c)
	}
}
