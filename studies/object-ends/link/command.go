package link

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/assaybench/assay"
)

// Command is the program that experiments start as a target: a path to the store, an entrance of the
// same path to a far end at which it is measured, and its counts. It ends with ctx.
func Command(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("link", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:7171", "where the store is reached through the link")
	upstream := flags.String("upstream", "127.0.0.1:7170", "the store")
	far := flags.String("far", "127.0.0.1:7173", "where the link is measured: /one and /bulk")
	metrics := flags.String("metrics", "127.0.0.1:7172", "counts, and 200 once the link is up")
	rtt := flags.Duration("rtt", 0, "round trip, whole milliseconds")
	bandwidth := flags.String("bandwidth", "none", "bandwidth, such as 12.5MB/s, or none")
	measure := flags.Bool("measure", false, "print what the link is measured to be, and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	perSecond, err := Rate(*bandwidth)
	if err != nil {
		return err
	}
	path, err := NewPath(*rtt, perSecond)
	if err != nil {
		return err
	}
	end, err := NewFarEnd()
	if err != nil {
		return err
	}
	defer end.Close()
	aside, err := path.Listen(*far, end.Addr())
	if err != nil {
		return err
	}
	defer aside.Close()
	if *measure {
		m, err := Measure(ctx, aside.Addr(), end.Addr())
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(m)
	}
	entrance, err := path.Listen(*listen, *upstream)
	if err != nil {
		return err
	}
	defer entrance.Close()
	if err := Serve(ctx, *metrics, Metrics(entrance)); err != nil {
		return fmt.Errorf("serve counts: %w", err)
	}
	return nil
}

// Rate reads a bandwidth in bytes per second; none is 0.
func Rate(text string) (float64, error) {
	if text == "none" {
		return 0, nil
	}
	q, err := assay.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("read bandwidth: %w", err)
	}
	if q.Unit.Dim != (assay.Dimension{Base: "B", PerSecond: true}) || q.Base() <= 0 {
		return 0, fmt.Errorf("read bandwidth %q: want bytes per second, such as 12.5MB/s, or none", text)
	}
	return q.Base(), nil
}

// Serve answers at an address until ctx ends, which is no error.
func Serve(ctx context.Context, address string, h http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
