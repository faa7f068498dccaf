package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// shelf is a program of the scripts: "shelf PORT" is an object store with a hundred objects of 64 KiB,
// 0 to 99 in the bucket shelf. It wants requests signed with the key ends-access, and takes its time for all but the
// end of an object.
func shelf() {
	back := s3mem.New()
	if err := back.CreateBucket("shelf"); err != nil {
		fail(err)
	}
	for i := range 100 {
		content := strings.Repeat("0123456789abcdef", 4<<10)
		if _, err := back.PutObject("shelf", fmt.Sprint(i), nil, strings.NewReader(content), int64(len(content)), nil); err != nil {
			fail(err)
		}
	}
	objects := gofakes3.New(back).Server()
	fail(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.Contains(r.Header.Get("Authorization"), "Credential=ends-access/"):
			http.Error(w, "who asks?", http.StatusForbidden)
			return
		case !strings.HasPrefix(r.Header.Get("Range"), "bytes=-"):
			time.Sleep(20 * time.Millisecond)
		}
		objects.ServeHTTP(w, r)
	})))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "shelf:", err)
	os.Exit(1)
}

// freePort is one that nobody listens on at the moment.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	l.Close()
	return port, err
}
