package study

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/reader"
	"github.com/assaybench/assay/studies/object-ends/store"
)

// storeAddress is where experiments start the store.
const storeAddress = "127.0.0.1:7170"

// storesFile holds, in a session's folder, what two stores gave for the same corpus.
const storesFile = "stores.json"

// Stores are the hashes of the rows that one reader made of one corpus in two independent stores, and
// the hash that follows from the closed forms without a store.
type Stores struct {
	Tier       string `json:"tier"`
	Objects    int    `json:"objects"`
	Versitygw  string `json:"versitygw"`
	Gofakes3   string `json:"gofakes3"`
	ClosedForm string `json:"closed_form"`
}

// prepare fills the store with both tiers, and reads the small one from a second store as well.
func prepare(ctx context.Context, folder string, objects int, session string, progress io.Writer) error {
	stop, err := store.StartGateway(ctx, storeAddress, filepath.Join(folder, workFolder, "corpus"))
	if err != nil {
		return fmt.Errorf("prepare store: %w", err)
	}
	defer stop()
	endpoint := "http://" + storeAddress
	for _, tier := range []string{"small", "medium"} {
		fmt.Fprintf(progress, "seed %d objects of corpus-%s\n", objects, tier)
		if err := seed(ctx, endpoint, tier, objects); err != nil {
			return err
		}
	}
	s := Stores{Tier: "small", Objects: objects}
	if s.Versitygw, err = hashOf(ctx, endpoint, s.Tier, objects); err != nil {
		return err
	}
	if s.Gofakes3, err = inMemory(ctx, s.Tier, objects); err != nil {
		return err
	}
	c, err := corpusOf(s.Tier, objects)
	if err != nil {
		return err
	}
	s.ClosedForm = fmt.Sprint(c.Oracle(corpus.Scalar, objects))
	if s.Versitygw != s.Gofakes3 || s.Versitygw != s.ClosedForm {
		return fmt.Errorf("prepare store: the stores give %s and %s, the closed form %s", s.Versitygw, s.Gofakes3, s.ClosedForm)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("prepare store: %w", err)
	}
	if err := os.WriteFile(filepath.Join(session, storesFile), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("prepare store: %w", err)
	}
	return nil
}

func corpusOf(tier string, objects int) (corpus.Corpus, error) {
	t, err := corpus.TierNamed(tier)
	return corpus.Corpus{Seed: 42, Tier: t, Objects: objects}, err
}

func seed(ctx context.Context, endpoint, tier string, objects int) error {
	c, err := corpusOf(tier, objects)
	if err != nil {
		return err
	}
	client, err := store.NewClient(endpoint, store.StudyKeys(), 0)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = store.Seed(ctx, client, c)
	return err
}

// inMemory is the hash that the reader arrives at from the second store.
func inMemory(ctx context.Context, tier string, objects int) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("start second store: %w", err)
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- store.ServeMemory(serving, listener) }()
	defer func() { stop(); <-ended }()
	endpoint := "http://" + listener.Addr().String()
	if err := seed(ctx, endpoint, tier, objects); err != nil {
		return "", err
	}
	return hashOf(ctx, endpoint, tier, objects)
}

func hashOf(ctx context.Context, endpoint, tier string, objects int) (string, error) {
	var s reader.Setting
	s.Flags(flag.NewFlagSet("read", flag.ContinueOnError))
	s.Endpoint, s.Bucket, s.Limit = endpoint, "corpus-"+tier, objects
	var out bytes.Buffer
	if err := reader.Read(ctx, &s, &out, io.Discard); err != nil {
		return "", err
	}
	var t reader.Tally
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return "", fmt.Errorf("read tally: %w", err)
	}
	return t.SHA256, nil
}
