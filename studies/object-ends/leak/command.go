package leak

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/assaybench/assay/studies/object-ends/link"
)

// Command is the client (serve) or one pass of it (pass).
func Command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("leak: want serve or pass")
	}
	flags := flag.NewFlagSet("leak "+args[0], flag.ContinueOnError)
	switch args[0] {
	case "serve":
		listen := flags.String("listen", "127.0.0.1:7180", "where passes are asked for")
		peer := flags.String("peer", "http://127.0.0.1:7173/one", "what is read")
		pool := flags.Int("pool", 450, "connections at most")
		kind := flags.String("client", "tidy", "tidy, or leaking: forgets the connections that its peer closed")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if *kind != "tidy" && *kind != "leaking" {
			return fmt.Errorf("leak serve: --client: got %q, want tidy or leaking", *kind)
		}
		c := NewClient(*peer, *pool, *kind == "leaking")
		defer c.Close()
		if err := link.Serve(ctx, *listen, c); err != nil {
			return fmt.Errorf("serve passes: %w", err)
		}
		return nil
	case "pass":
		client := flags.String("at", "http://127.0.0.1:7180", "the client")
		files := flags.Int("files", 300, "files")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return pass(ctx, *client, *files, out)
	}
	return fmt.Errorf("leak: got %q, want serve or pass", args[0])
}

// pass asks a client for a pass and passes on what it says. No timeout: whoever waits for progress
// decides how long.
func pass(ctx context.Context, client string, files int, out io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, client+"/?files="+strconv.Itoa(files), nil)
	if err != nil {
		return fmt.Errorf("ask for a pass: %w", err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	if err != nil {
		return fmt.Errorf("ask for a pass: %w", err)
	}
	defer resp.Body.Close()
	last := ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		last = lines.Text()
		if _, err := fmt.Fprintln(out, last); err != nil {
			return fmt.Errorf("pass on progress: %w", err)
		}
	}
	if !strings.HasPrefix(last, "{") {
		return fmt.Errorf("ask for a pass: got %q as the last line, want a tally", last)
	}
	return nil
}
