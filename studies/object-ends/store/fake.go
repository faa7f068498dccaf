package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// ServeMemory is the second store: gofakes3 in this process, its objects in memory. It serves on the
// listener until ctx ends, and then returns nil.
func ServeMemory(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           gofakes3.New(s3mem.New()).Server(),
		ReadHeaderTimeout: 10 * time.Second,
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve store: %w", err)
	}
	return nil
}
